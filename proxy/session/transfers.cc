// SPDX-License-Identifier: Apache-2.0
// Tracks transfers that outlive their call.
#include "proxy/session/transfers.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "proxy/session/pending_work.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

hipError_t transfer_error(const Status& status) {
  if (status.is_ok()) return hipSuccess;
  if (std::uint32_t reason = abort_reason(status); reason != 0) return static_cast<hipError_t>(reason);
  return hipErrorDeinitialized;  // as connection.h says of lost workers
}

std::size_t Transfers::packed_bytes() const {
  std::size_t bytes = 0;
  for (const auto& transfer : running_) bytes += transfer->packed_bytes;
  return bytes;
}

std::shared_ptr<Transfer> Transfers::add(const TransferPlace& place) { return add(place, nullptr, 0); }

std::shared_ptr<Transfer> Transfers::add_packed(const TransferPlace& place, std::uint64_t bytes) {
  if (bytes > kTransferBytesMax) return nullptr;
  std::unique_ptr<std::byte[]> packed(new (std::nothrow) std::byte[bytes]);
  return packed ? add(place, std::move(packed), bytes) : nullptr;
}

std::shared_ptr<Transfer> Transfers::add(const TransferPlace& place, std::unique_ptr<std::byte[]> packed,
                                         std::size_t packed_bytes) {
  for (;;) {
    {
      const MutexLock lock(mutex_);
      const bool fits = packed_bytes == 0 || this->packed_bytes() + packed_bytes <= kTransferBytesMax;
      if (fits && running_.size() < kTransfersMax) {
        auto transfer = std::make_shared<Transfer>();
        transfer->packed = std::move(packed);
        transfer->packed_bytes = packed_bytes;
        static_cast<TransferPlace&>(*transfer) = place;
        transfer->sequence = sequence_.load(std::memory_order_relaxed) + 1;
        sequence_.store(transfer->sequence, std::memory_order_release);  // pairs with last_sequence()
        running_.push_back(transfer);
        note_target(place.target);
        count();
        return transfer;
      }
    }
    await_oldest();
  }
}

void Transfers::drop(const std::shared_ptr<Transfer>& transfer) {
  const MutexLock lock(mutex_);
  running_.remove(transfer);
  count();
}

// Runs once per transfer; on return it is done for every thread that waited.
void Transfers::finished(Transfer& transfer) {
  std::call_once(transfer.ended, [&] {
    const hipError_t error = transfer_error(transfer.completion.status());
    if (error != hipSuccess) return faults_.note(transfer.device, transfer.stream, error);
    if (transfer.unpack) transfer.unpack();
  });
}

template <typename Wanted>
void Transfers::await_if(const Wanted& wanted, Deadline deadline) {
  if (none_running()) return;
  std::vector<std::shared_ptr<Transfer>> meant;
  {
    const MutexLock lock(mutex_);
    if (running_.empty()) return;
    for (const auto& transfer : running_) {
      if (wanted(*transfer)) meant.push_back(transfer);
    }
  }
  for (const auto& transfer : meant) {
    // Lives as long as the session: a lost worker completes every transfer.
    (void)queue_.await(transfer->completion, deadline);
    if (transfer->completion.done()) finished(*transfer);
  }
  const MutexLock lock(mutex_);
  running_.remove_if([this](const auto& transfer) {
    if (!transfer->completion.done()) return false;
    finished(*transfer);
    return true;
  });
  count();
}

namespace {

bool concerns(const Reach& reach, const Transfer& transfer) {
  if (transfer.sequence > reach.through) return false;
  if (reach.all_blocking) return transfer.blocking && transfer.device == reach.device;
  return transfer.stream == reach.stream && (transfer.stream > 2 || transfer.device == reach.device);
}

bool writes_in(const Transfer& transfer, std::uint64_t address, std::uint64_t bytes) {
  const auto target = reinterpret_cast<std::uint64_t>(transfer.target.data());
  return target < address + bytes && address < target + transfer.target.size();
}

}  // namespace

void Transfers::count() {
  running_count_.store(running_.size(), std::memory_order_release);
  if (!running_.empty()) return;
  joins_.clear();
  targets_begin_ = UINT64_MAX;
  targets_end_ = 0;
}

std::vector<Reach> Transfers::reach(int device, std::uint64_t stream, bool blocking, std::uint64_t through) {
  if (none_running()) return {};
  std::vector<Reach> reached{{device, stream, through}};
  const std::uint64_t last_null = null_through_[static_cast<std::size_t>(device)].load();
  if (stream == 0)
    reached.push_back({device, 0, through, true});
  else if (blocking && last_null != 0)
    reached.push_back({device, 0, std::min(last_null, through), true});
  const MutexLock lock(mutex_);
  const auto add_joins = [&](std::uint64_t of) TF_REQUIRES(mutex_) {
    const auto found = joins_.find(PendingWork::mark_of(device, of));
    if (found == joins_.end()) return;
    for (Reach joined : found->second) {
      joined.through = std::min(joined.through, through);
      reached.push_back(joined);
    }
  };
  add_joins(stream);
  if (stream != 0 && blocking && last_null != 0) add_joins(0);
  return reached;
}

void Transfers::join(int device, std::uint64_t stream, std::vector<Reach> reached) {
  if (reached.empty()) return;
  const MutexLock lock(mutex_);
  std::vector<Reach>& joined = joins_[PendingWork::mark_of(device, stream)];
  for (std::size_t i = 0; i < reached.size(); ++i) {
    Reach& added = reached[i];
    if (i != 0) added.direct = false;
    const auto same = [&](const Reach& known) {
      return known.device == added.device && known.stream == added.stream &&
             known.all_blocking == added.all_blocking && known.direct == added.direct;
    };
    const auto known = std::find_if(joined.begin(), joined.end(), same);
    if (known == joined.end())
      joined.push_back(added);
    else
      known->through = std::max(known->through, added.through);
  }
}

bool Transfers::writes(std::uint64_t address, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  return std::any_of(running_.begin(), running_.end(),
                     [&](const auto& transfer) { return writes_in(*transfer, address, bytes); });
}

void Transfers::await_landing(std::span<const std::byte> target, bool in_order) {
  if (none_running()) return;
  const auto address = reinterpret_cast<std::uint64_t>(target.data());
  const auto could_end_last = [&](const Transfer& transfer) {
    return (!in_order || transfer.packed_bytes != 0) && writes_in(transfer, address, target.size());
  };
  {
    const MutexLock lock(mutex_);
    if (address >= targets_end_ || address + target.size() <= targets_begin_) return;
    if (std::none_of(running_.begin(), running_.end(),
                     [&](const auto& transfer) { return could_end_last(*transfer); }))
      return;
  }
  await_if(could_end_last, Deadline::after(kLandingPatience));
}

void Transfers::note_target(std::span<const std::byte> target) {
  if (target.empty()) return;
  const auto begin = reinterpret_cast<std::uint64_t>(target.data());
  targets_begin_ = std::min(targets_begin_, begin);
  targets_end_ = std::max(targets_end_, begin + target.size());
}

void Transfers::await(std::span<const Reach> reached) {
  if (reached.empty()) return;
  await_if([&](const Transfer& transfer) {
    return std::any_of(reached.begin(), reached.end(),
                       [&](const Reach& reach) { return concerns(reach, transfer); });
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
    const MutexLock lock(mutex_);
    if (running_.empty()) return;
    oldest = running_.front()->sequence;
  }
  await_through(oldest);
}

bool Transfers::sweep() {
  const MutexLock lock(mutex_);
  running_.remove_if([this](const auto& transfer) {
    if (!transfer->completion.done()) return false;
    finished(*transfer);
    return true;
  });
  count();
  return !running_.empty();
}

}  // namespace tf::proxy
