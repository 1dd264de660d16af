// SPDX-License-Identifier: Apache-2.0
#include "proxy/transfers.h"

#include <new>
#include <utility>
#include <vector>

namespace tf::proxy {

hipError_t transfer_error(const Status& status) {
  if (status.is_ok()) return hipSuccess;
  if (std::uint32_t reason = abort_reason(status); reason != 0) return static_cast<hipError_t>(reason);
  return hipErrorDeinitialized;  // as session.h says of lost workers
}

std::size_t Transfers::packed_bytes() const {
  std::size_t bytes = 0;
  for (const auto& transfer : running_) bytes += transfer->packed_bytes;
  return bytes;
}

std::shared_ptr<Transfer> Transfers::add(int device, std::uint64_t stream) {
  return add(device, stream, nullptr, 0);
}

std::shared_ptr<Transfer> Transfers::add_packed(int device, std::uint64_t stream, std::uint64_t bytes) {
  if (bytes > kTransferBytesMax) return nullptr;
  std::unique_ptr<std::byte[]> packed(new (std::nothrow) std::byte[bytes]);
  return packed ? add(device, stream, std::move(packed), bytes) : nullptr;
}

std::shared_ptr<Transfer> Transfers::add(int device, std::uint64_t stream,
                                         std::unique_ptr<std::byte[]> packed, std::size_t packed_bytes) {
  for (;;) {
    {
      std::lock_guard lock(mutex_);
      const bool fits = packed_bytes == 0 || this->packed_bytes() + packed_bytes <= kTransferBytesMax;
      if (fits && running_.size() < kTransfersMax) {
        auto transfer = std::make_shared<Transfer>();
        transfer->packed = std::move(packed);
        transfer->packed_bytes = packed_bytes;
        transfer->device = device;
        transfer->stream = stream;
        transfer->sequence = sequence_.load(std::memory_order_relaxed) + 1;
        sequence_.store(transfer->sequence, std::memory_order_release);  // pairs with last_sequence()
        running_.push_back(transfer);
        count();
        return transfer;
      }
    }
    await_oldest();
  }
}

void Transfers::drop(const std::shared_ptr<Transfer>& transfer) {
  std::lock_guard lock(mutex_);
  running_.remove(transfer);
  count();
}

// Once for each, and over for every thread that has waited for it when this returns.
void Transfers::finished(Transfer& transfer) {
  std::call_once(transfer.ended, [&] {
    const hipError_t error = transfer_error(transfer.completion.status());
    if (error != hipSuccess) return faults_.note(transfer.device, transfer.stream, error);
    if (transfer.unpack) transfer.unpack();
  });
}

template <typename Wanted>
void Transfers::await_if(const Wanted& wanted) {
  if (none_running()) return;
  std::vector<std::shared_ptr<Transfer>> meant;
  {
    std::lock_guard lock(mutex_);
    if (running_.empty()) return;
    for (const auto& transfer : running_) {
      if (wanted(*transfer)) meant.push_back(transfer);
    }
  }
  for (const auto& transfer : meant) {
    // Lives as long as the session: a lost worker completes every transfer.
    (void)queue_.await(transfer->completion, Deadline::never());
    finished(*transfer);
  }
  std::lock_guard lock(mutex_);
  running_.remove_if([this](const auto& transfer) {
    if (!transfer->completion.done()) return false;
    finished(*transfer);
    return true;
  });
  count();
}

void Transfers::await_stream(int device, std::uint64_t stream, std::uint64_t through) {
  await_if([&](const Transfer& transfer) {
    return transfer.stream == stream && (stream > 2 || transfer.device == device) &&
           transfer.sequence <= through;
  });
}

void Transfers::await_device(int device) {
  await_if([&](const Transfer& transfer) { return transfer.device == device; });
}

void Transfers::await_through(std::uint64_t through) {
  await_if([&](const Transfer& transfer) { return transfer.sequence <= through; });
}

void Transfers::await_oldest() {
  std::uint64_t oldest = 0;
  {
    std::lock_guard lock(mutex_);
    if (running_.empty()) return;
    oldest = running_.front()->sequence;
  }
  await_through(oldest);
}

bool Transfers::sweep() {
  std::lock_guard lock(mutex_);
  running_.remove_if([this](const auto& transfer) {
    if (!transfer->completion.done()) return false;
    finished(*transfer);
    return true;
  });
  count();
  return !running_.empty();
}

}  // namespace tf::proxy
