// SPDX-License-Identifier: Apache-2.0
// RequestQueue: many application threads share one endpoint.
//
// Posting holds a short producer lock: reserve, fill in place, publish. Waiting is leader and followers. Of
// the threads that wait for a reply or a bulk transfer, one drives the endpoint: it polls messages and bulk,
// sleeps in wait(), and wakes the threads whose wait has ended. When it leaves, a follower takes over. There
// is no hidden thread, so a lone caller gets its reply without a hand-over between threads.
//
// All functions may be called from any thread. The first failure of the endpoint is sticky and ends every
// wait. If the ring is full, post() drives the endpoint until there is room (back-pressure, never more
// memory).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "transport/endpoint.h"
#include "transport/pending_calls.h"

namespace tf {

// What a thread waits for.
enum class Waiting : std::uint8_t {
  kReply,     // of a call
  kTransfer,  // await()
  kRoom,      // the peer is behind
};

// Hears of every wait and message, on the thread that waits or sends, including waits inside other waits.
// Must be quick.
class WaitObserver {
 public:
  virtual void wait_begins(Waiting what) = 0;
  virtual void wait_ends(Waiting what) = 0;
  // A message was posted, or the one whose answer is waited for now is sent: its request id.
  virtual void sent(std::uint32_t request_id) = 0;

 protected:
  ~WaitObserver() = default;
};

class RequestQueue {
 public:
  // `endpoint` outlives the queue. `notices` gets every message that answers no waiting call, on the thread
  // that is driving, in order with the replies. Inside it post() and respond() work; call(), await() and
  // drive() fail. `observer`, if any, outlives the queue too.
  RequestQueue(Endpoint& endpoint, MessageSink& notices, WaitObserver* observer = nullptr);
  ~RequestQueue();

  // Queues a message with a fresh request id and returns.
  Status post(std::uint16_t opcode, std::uint32_t flags, std::span<const std::byte> head,
              std::span<const std::byte> tail = {});
  // The same, then waits for the message with flag RESPONSE and the same id, whose payload is copied into
  // `reply`. A payload longer than `reply` is kProtocol. After kTimeout the call is forgotten and a late
  // reply is dropped. Any other response that nobody waits for is kProtocol and ends the endpoint.
  Result<Reply> call(std::uint16_t opcode, std::uint32_t flags, std::span<const std::byte> head,
                     std::span<const std::byte> tail, std::span<std::byte> reply, Deadline deadline);
  // Worker side: answers `request` (same opcode and id, flag RESPONSE plus `flags`).
  Status respond(const FrameHeader& request, std::uint32_t flags, std::span<const std::byte> head,
                 std::span<const std::byte> tail = {});

  // Drives the endpoint until the transfer is done, and returns its status. Only on kTimeout is it still
  // pending; after a failure this returns once the transfer's memory is free.
  Status await(const BulkCompletion& completion, Deadline deadline);
  // For threads that serve the endpoint: drives it (or follows the driver) for one round, sleeping until
  // there is something to deliver or move. May return early; kTimeout when the deadline passes.
  Status drive(Deadline deadline);
  // Delivers and moves what it can, without blocking. Does nothing if another thread drives.
  Status poll();

  // Number of late answers, to calls that had timed out.
  std::uint64_t dropped_replies() const;
  // Number of threads that wait while another one drives. Each is asleep, or about to be.
  std::size_t followers() const;

  Endpoint& endpoint();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tf
