// SPDX-License-Identifier: Apache-2.0
// What posted requests mean for the order of streams.
#include "proxy/session/streams.h"

#include <memory>

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
