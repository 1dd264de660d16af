// SPDX-License-Identifier: Apache-2.0
// What posted requests mean for the order of streams.
#include "proxy/session/streams.h"

#include <cstring>
#include <utility>

#include "hipcore/wire/gen/messages.h"

namespace tf::proxy {
namespace {

// Streams of hipStreamCreate order themselves after the null stream; for others the flags say it.
bool creates_unordered_stream(protocol::Op op, std::span<const std::byte> head, std::uint64_t& stream) {
  const auto flagged = [&]<typename Request>(Request request) {
    if (head.size() != sizeof request) return false;
    std::memcpy(&request, head.data(), sizeof request);
    stream = request.stream;
    return (request.flags & hipStreamNonBlocking) != 0;
  };
  if (op == protocol::Op::kStreamCreateWithFlags) return flagged(protocol::StreamCreateWithFlagsRequest{});
  return op == protocol::Op::kStreamCreateWithPriority &&
         flagged(protocol::StreamCreateWithPriorityRequest{});
}

}  // namespace

bool Streams::is_blocking(std::uint64_t stream) const {
  if (stream == 0 || !has_unordered()) return true;
  const auto facts = std::dynamic_pointer_cast<const StreamFacts>(streams_.facts(stream));
  return facts == nullptr || facts->blocking;
}

void Streams::observe(protocol::Op op, int device, std::span<const std::byte> head) {
  if (op == protocol::StreamWaitEventRequest::kOp) {
    note_join(device, head);
  } else if (std::uint64_t stream = 0; creates_unordered_stream(op, head, stream)) {
    has_unordered_.store(true, std::memory_order_relaxed);
    auto facts = std::make_shared<StreamFacts>();
    facts->blocking = false;
    streams_.set_facts(stream, std::move(facts));
  }
}

// The stream continues when the event's stream has reached it: copies before that land first, wherever the
// wait is.
void Streams::note_join(int device, std::span<const std::byte> head) {
  protocol::StreamWaitEventRequest request;
  if (transfers_.none_running() || head.size() != sizeof request) return;
  std::memcpy(&request, head.data(), sizeof request);
  const auto recording = recordings_.find(request.event);
  if (!recording || !recording->recorded) return;
  transfers_.join(device_of(device, request.stream), request.stream,
                  copies_of(recording->device, recording->stream, recording->transfers));
}

}  // namespace tf::proxy
