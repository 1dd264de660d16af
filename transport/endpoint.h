// SPDX-License-Identifier: Apache-2.0
// Endpoint: one connected pair of planes between a proxy and a worker. THE interface of a transport.
//
// The planes never delay each other: a payload that waits for its receiver holds up no message.
//
// Threads. Three roles. One thread at a time holds each; the three may run concurrently:
//   producer  reserve, publish, abandon          (RequestQueue lets many threads share it)
//   consumer  poll
//   mover     bulk().move_payload
// Consumer and mover may call wait(), also both at the same time. bulk().send/receive/discard/abort, fail()
// and status() may be called from any thread.
//
// Errors. The first failure is sticky: every later call returns it, and every pending bulk transfer completes
// with it. Nothing here blocks except wait(). Nothing throws or aborts.
//
// No wake-up is lost: publish() wakes a peer that sleeps in wait(). No timer delays a message: a lone message
// leaves at once, without a further call. While the wire is busy, published messages gather and leave
// together.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/base/deadline.h"
#include "transport/base/status.h"
#include "transport/filling.h"
#include "transport/frame.h"

namespace tf {

// Largest message of any transport, header included. Larger data goes through the bulk plane.
inline constexpr std::size_t kMessageBytesMax = 64 * 1024;

struct Capabilities {
  std::size_t max_message_bytes = kMessageBytesMax;  // largest reserve()
  // Payload up to here costs less inside its message, which needs 1 KiB besides, than on the bulk plane.
  std::size_t inline_payload_bytes = 8 << 10;
  bool one_sided = false;  // bulk transfers need no processor on the far side
  // Bulk data leaves from the processor that moves it, and may arrive out of order when the mover changes
  // processors. Best moved by one thread that stays where it is.
  bool steady_mover = false;
};

// Space for one message in the transport's own memory. Fill `bytes`, then publish or abandon.
struct Slot {
  std::span<std::byte> bytes;
  std::uint64_t cookie = 0;  // the transport's own
};

class MessageSink {
 public:
  // `payload` is valid only during the call, and a hostile peer may change it meanwhile: read each field
  // once. A failure returned here becomes the endpoint's sticky failure. Must not poll the endpoint.
  virtual Status on_message(const FrameHeader& header, std::span<const std::byte> payload) = 0;

 protected:
  ~MessageSink() = default;
};

// The outcome of one bulk transfer. The caller owns it; it must outlive the transfer, which ends when done()
// is true. complete() is called exactly once, by the thread that moves the last byte.
class BulkCompletion {
 public:
  bool done() const { return state_.load(std::memory_order_acquire) != 0; }  // pairs with complete()
  // REQUIRES: done()
  const Status& status() const { return status_; }
  void complete(Status status) {
    status_ = std::move(status);
    state_.store(1, std::memory_order_release);  // after this the owner may free the object
  }

 private:
  Status status_;
  std::atomic<std::uint32_t> state_{0};
};

// Bulk plane of an endpoint. For each direction a tag names an ordered stream of bytes: the n-th byte
// sent under a tag is the n-th byte received under it, however either side cuts its calls. Tags of one
// direction are chosen by the two users so that they are never reused while in flight.
//
// Payload bytes for a tag that has no receive posted yet stop that direction of the bulk plane until
// one is posted (back-pressure); receives may be posted in any order of tags.
class BulkPlane {
 public:
  virtual ~BulkPlane() = default;

  // Sends `source`. The memory must not change until `completion` is done. At most kBulkPendingMax sends and
  // as many receives are queued: kResourceExhausted beyond.
  virtual Status send(std::uint64_t tag, std::span<const std::byte> source, BulkCompletion& completion) = 0;
  // Whether send_filling() can be used for so much. Always the same. Any thread.
  virtual bool can_send_filling(std::size_t bytes) const {
    static_cast<void>(bytes);
    return false;
  }
  // Like send(), for memory that is still being filled, from its front: the peer prepares for all of it now,
  // and parts leave as they are there, while other tags' payload goes on. The peer must have posted receives
  // for all of it, since payload behind it waits for them. Call filled() whenever `filling` has changed. If
  // it stops, abort the tag: then the send ends early. `filling` must outlive the transfer. kUnsupported: not
  // if can_send_filling().
  virtual Status send_filling(std::uint64_t tag, std::span<const std::byte> source, const Filling& filling,
                              BulkCompletion& completion) {
    static_cast<void>(tag), static_cast<void>(source), static_cast<void>(filling);
    static_cast<void>(completion);
    return {Code::kUnsupported, "only what is there can be sent"};
  }
  virtual void filled() {}
  // Receives the next target.size() bytes of `tag` straight into `target`.
  virtual Status receive(std::uint64_t tag, std::span<std::byte> target, BulkCompletion& completion) = 0;
  // Receives the next `bytes` of `tag` and throws them away.
  virtual Status discard(std::uint64_t tag, std::uint64_t bytes, BulkCompletion& completion) = 0;
  // The sender gives up on `tag`: the peer's receives for it complete with kClosed and `reason`, a number
  // that both users understand (abort_reason()).
  virtual Status abort(std::uint64_t tag, std::uint32_t reason) = 0;

  // For an end that chooses every tag it receives under, and posts its receives before it asks the peer to
  // send. From now on, payload or an abort for a tag without a receive is kProtocol and ends the endpoint. A
  // transport that cannot tell applies back-pressure as before.
  virtual void refuse_unasked() {}
  // An exception to refuse_unasked(): the receives of `tag` are posted one after another, so its payload may
  // arrive between two of them. Call with `open` true before the peer is asked, and with false at the end.
  // Any thread.
  virtual void keep_open(std::uint64_t tag, bool open) { static_cast<void>(tag), static_cast<void>(open); }

  // Hint: many transfers will use `memory`, so it may pay to register it with a device once. Call forget()
  // with the same span before the memory goes away, when no transfer uses it. Any thread.
  virtual void remember(std::span<std::byte> memory) { static_cast<void>(memory); }
  virtual void forget(std::span<std::byte> memory) { static_cast<void>(memory); }

  // Hint: a device reads next what arrives in `memory`, so it need not stay in this host's caches, where a
  // device fetches it more slowly (transport/base/streaming_copy.h). Until forget() of the same span. Any
  // thread.
  virtual void expect_device_reads(std::span<std::byte> memory) { static_cast<void>(memory); }
  // How many processors carry a long transfer together. What each of them moved last, about a MiB, is in
  // caches of its own, and there a device reads and writes it at half its rate. Any thread.
  virtual unsigned lanes() const { return 1; }
  // Whether receives are filled one after the other, whatever their tags. If not, who has two of them in the
  // same memory must wait for the first before it posts the second, or bytes of the first may come last.
  // Always the same. Any thread.
  virtual bool fills_in_order() const { return true; }
  // Whether what comes of a send of `bytes` to memory of expect_device_reads() passes those caches by. Always
  // the same. Any thread.
  virtual bool streams(std::size_t bytes) const {
    static_cast<void>(bytes);
    return false;
  }

  // Registers device memory, whole pages: the bytes from `offset` on in the dma-buf `dmabuf`. `memory` is its
  // address range for that device; the processor need not be able to access it. Afterwards transfers may name
  // it. Its bytes then move between the wire and that device, and no processor here touches them. Ends with
  // forget(), as above. The caller keeps the descriptor. kUnsupported: this transport cannot.
  // kInvalidArgument: the span overlaps one that is remembered. Other failures say why the transport's own
  // device refuses. Any thread.
  virtual Status remember_device(std::span<std::byte> memory, int dmabuf, std::uint64_t offset) {
    static_cast<void>(memory), static_cast<void>(dmabuf), static_cast<void>(offset);
    return {Code::kUnsupported, "this transport does not reach the memory of devices"};
  }
  // Whether all of `memory` was registered by remember_device(), so that transfers may name it. Any thread.
  virtual bool reaches(std::span<const std::byte> memory) const {
    static_cast<void>(memory);
    return false;
  }

  // Moves what it can without blocking. Returns the bytes moved (0: nothing to do now).
  virtual Result<std::size_t> move_payload() = 0;
};

inline constexpr std::size_t kBulkPendingMax = 4096;

// Status of a receive whose sender aborted; `abort_reason` gives the number back (0 if not an abort).
Status bulk_aborted(std::uint32_t reason);
std::uint32_t abort_reason(const Status& status);

// What this host's kernel has counted of one lane, since it was connected.
struct LaneTraffic {
  std::string_view name;       // "bulk"
  std::uint64_t sent = 0;      // bytes that it has taken from us, whether they have left or not
  std::uint64_t received = 0;  // bytes that have arrived, whether we have read them or not
  bool unread = false;         // some of these we have not: the peer may have to wait for room
  bool spare = false;          // the endpoint goes on without it: Endpoint::drop_lane()
  bool lost = false;           // it already does
};
inline constexpr std::size_t kLanesMax = 16;
struct LaneTraffics {
  std::array<LaneTraffic, kLanesMax> lanes;
  std::size_t count = 0;
  std::chrono::milliseconds patience{};  // how long what was sent may take to arrive
};

enum class Interest : std::uint8_t { kMessages = 1, kBulk = 2, kBoth = 3 };

constexpr bool wants(Interest interest, Interest part) {
  return (static_cast<unsigned>(interest) & static_cast<unsigned>(part)) != 0;
}

class Endpoint {
 public:
  // Closes. The peer still gets everything published before; then its calls fail with kPeerLost.
  virtual ~Endpoint() = default;

  virtual std::string_view transport() const = 0;  // "shm"
  virtual const Capabilities& capabilities() const = 0;

  // Reserves space for a message of `bytes` (header included). kWouldBlock: the peer is behind; drive the
  // endpoint (poll, wait) and retry. At most one slot may be reserved at a time.
  virtual Result<Slot> reserve(std::size_t bytes) = 0;
  // Fast path; returns an empty slot if anything is in the way. Then call reserve(), which succeeds or says
  // why.
  virtual Slot try_reserve(std::size_t bytes) {
    static_cast<void>(bytes);
    return {};
  }
  // Sends the message. REQUIRES: a valid frame header whose payload_length fits the slot exactly.
  virtual void publish(Slot slot) = 0;
  virtual void abandon(Slot slot) = 0;

  // Delivers at most `limit` messages to `sink`. Returns how many (0: none waiting).
  virtual Result<std::size_t> poll(MessageSink& sink, std::size_t limit) = 0;

  virtual BulkPlane& bulk() = 0;

  // Sleeps until poll() (kMessages) or bulk().move_payload() (kBulk) may have work, until there may be room
  // again after a reserve() that returned kWouldBlock, until the endpoint fails (returns that failure), or
  // until the deadline passes (kTimeout). Spins adaptively first. May return early.
  virtual Status wait(Interest interest, Deadline deadline) = 0;

  // What LaneWatch compares (lane_watch.h). The same lanes at both ends, in the same order. No lanes: the
  // transport itself finds out when bytes are lost. Any thread.
  virtual LaneTraffics lane_traffic() const { return {}; }

  // The lane of that number in lane_traffic(), a spare one, delivers nothing any more: the endpoint stops
  // using it, and sends what it has lost over another one. Any thread.
  virtual void drop_lane(std::size_t lane, const Status& why) {
    static_cast<void>(lane), static_cast<void>(why);
  }
  // What has happened that the endpoint goes on in spite of, each told once, for the log. Any thread.
  virtual std::vector<std::string> take_remarks() { return {}; }

  // Makes `reason` the sticky failure, unless there is one already, and wakes every waiter.
  virtual void fail(Status reason) = 0;
  virtual Status status() const = 0;
};

}  // namespace tf
