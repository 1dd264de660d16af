// SPDX-License-Identifier: Apache-2.0
// RequestQueue: many application threads share one endpoint.
//
// Posting holds a short producer lock: reserve, fill in place, publish. Waiting is leader and followers:
// of the threads that wait for a reply or a bulk transfer one drives the endpoint (polls messages and
// bulk, sleeps in wait()), and wakes those whose wait it ended; when it leaves, a follower takes over. There
// is no hidden thread, so nothing of a reply's way costs a hand-over when one thread waits alone.
//
// All functions may be called from any thread. The first failure of the endpoint is sticky and ends every
// wait. Full ring: post() drives the endpoint until there is room (back-pressure, never more memory).
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

// Told of every wait on the thread that waits, and of what it waits inside of another wait. Must be quick.
class WaitObserver {
 public:
  virtual void wait_begins(Waiting what) = 0;
  virtual void wait_ends(Waiting what) = 0;

 protected:
  ~WaitObserver() = default;
};

class RequestQueue {
 public:
  // `endpoint` outlives the queue. `notices` gets every message that answers no waiting call, on whichever
  // thread is driving, in order with the replies. It may post() and respond(), but call(), await() and
  // drive() fail there. `observer`, if there is one, outlives the queue too.
  RequestQueue(Endpoint& endpoint, MessageSink& notices, WaitObserver* observer = nullptr);
  ~RequestQueue();

  // Queues a message with a fresh request id and returns.
  Status post(std::uint16_t opcode, std::uint32_t flags, std::span<const std::byte> head,
              std::span<const std::byte> tail = {});
  // The same, then waits for the message with flag RESPONSE and the same id, whose payload is copied into
  // `reply`. A payload longer than `reply` is kProtocol. kTimeout leaves the call forgotten: a late
  // reply is dropped. Any other response that nobody waits for is kProtocol, and ends the endpoint.
  Result<Reply> call(std::uint16_t opcode, std::uint32_t flags, std::span<const std::byte> head,
                     std::span<const std::byte> tail, std::span<std::byte> reply, Deadline deadline);
  // Worker side: answers `request` (same opcode and id, flag RESPONSE plus `flags`).
  Status respond(const FrameHeader& request, std::uint32_t flags, std::span<const std::byte> head,
                 std::span<const std::byte> tail = {});

  // Drives the endpoint until the transfer is done, and returns its status. On kTimeout it is still pending,
  // and only then: after a failure it returns once the transfer's memory is free.
  Status await(const BulkCompletion& completion, Deadline deadline);
  // For threads that serve the endpoint: drives (or follows the driver) for one round, sleeping until there
  // is something to deliver or move. May return early; kTimeout when the deadline passes.
  Status drive(Deadline deadline);
  // Delivers what has come and moves what can move, without blocking. Nothing if another thread drives.
  Status poll();

  // Responses that no call waited for: late answers of calls that timed out.
  std::uint64_t dropped_replies() const;
  // Threads that wait while another one drives. Each is asleep, or about to be.
  std::size_t followers() const;

  Endpoint& endpoint();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tf
