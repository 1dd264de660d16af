// SPDX-License-Identifier: Apache-2.0
// What posted requests mean for the order of streams.
#include "proxy/session/streams.h"

#include <memory>

#include "hipcore/abi/rules.h"

namespace tf::proxy {
namespace {

// What is kept of a stream that does not order itself with the null stream; of others nothing is.
struct Unordered final : Facts {};

}  // namespace

bool Streams::is_blocking(std::uint64_t stream) const {
  return stream == 0 || !has_unordered() || streams_.facts(stream) == nullptr;
}

// Streams of hipStreamCreate order themselves after the null stream; for others the flags decide.
void Streams::note_new(std::uint64_t stream, unsigned flags) {
  if ((flags & hipStreamNonBlocking) == 0) return;
  has_unordered_.store(true, std::memory_order_relaxed);
  streams_.set_facts(stream, std::make_shared<Unordered>());
}

bool Streams::is_on(int device, std::uint64_t mark) const {
  if (PendingWork::is_null_stream(mark)) return mark == PendingWork::mark_of(device, 0);
  return streams_.device(mark) == device;
}

void Streams::owe_wait(int device) {
  pending_work_.owe([&](std::uint64_t mark) { return is_on(device, mark); });
  leave_copy(device);
  owed_waits_[static_cast<std::size_t>(device)].fetch_add(1, std::memory_order_relaxed);
}

bool Streams::asks_for_null(int device, std::uint64_t stream) const {
  if (!abi::kRules.follows_null || protocol::Handle(stream).is_constant()) return false;
  const bool any = pending_work_.may_have_work(PendingWork::mark_of(device_of(device, stream), 0));
  return any && is_blocking(stream);  // the latter may take a lock
}

// The null stream waits for every other one.
bool Streams::owes_wait(int device, std::uint64_t stream) const {
  if (stream == 0) return pending_work_.owes_all([&](std::uint64_t mark) { return is_on(device, mark); });
  if (asks_for_null(device, stream)) {
    const std::uint64_t null = PendingWork::mark_of(device_of(device, stream), 0);
    return pending_work_.owes_all([&](std::uint64_t mark) { return mark == stream || mark == null; });
  }
  return pending_work_.owes(PendingWork::mark_of(device, stream));
}

bool Streams::only_arrivals(int device, std::uint64_t stream) const {
  if (output_.outstanding()) return false;  // a wait brings the output
  const std::uint64_t null = PendingWork::mark_of(device_of(device, stream), 0);
  // A stream that follows the null stream follows all that the null stream's work has followed.
  const bool alone =
      !protocol::Handle(stream).is_constant() && (!pending_work_.may_have_work(null) || !is_blocking(stream));
  return alone ? pending_work_.only_arrivals(PendingWork::mark_of(device, stream))
               : pending_work_.only_arrivals();
}

// The stream continues when the event's stream has reached it: copies before that land first, wherever the
// wait is.
void Streams::note_join(int device, std::uint64_t stream, std::uint64_t event) {
  if (transfers_.none_running()) return;
  const auto recording = recordings_.find(event);
  if (!recording || !recording->recorded) return;
  transfers_.join(device_of(device, stream), stream,
                  copies_of(recording->device, recording->stream, recording->transfers));
}

}  // namespace tf::proxy
