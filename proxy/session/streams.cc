// SPDX-License-Identifier: Apache-2.0
// What posted requests mean for the order of streams.
#include "proxy/session/streams.h"

#include <utility>

namespace tf::proxy {

bool Streams::is_blocking(std::uint64_t stream) const {
  if (stream == 0 || !has_unordered()) return true;
  const auto facts = std::dynamic_pointer_cast<const StreamFacts>(streams_.facts(stream));
  return facts == nullptr || facts->blocking;
}

// Streams of hipStreamCreate order themselves after the null stream; for others the flags decide.
void Streams::note_new(std::uint64_t stream, unsigned flags) {
  if ((flags & hipStreamNonBlocking) == 0) return;
  has_unordered_.store(true, std::memory_order_relaxed);
  auto facts = std::make_shared<StreamFacts>();
  facts->blocking = false;
  streams_.set_facts(stream, std::move(facts));
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
