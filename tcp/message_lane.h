// SPDX-License-Identifier: Apache-2.0
// Messages over one stream socket.
//
// Out: publish() appends to a ring. The publishing thread sends a lone message itself, so a call pays no
// thread hop. A thread that publishes again and again without the endpoint being polled in between is
// streaming. Then a sender thread takes over (started when first needed, asleep when idle), so that
// publishing costs tens of nanoseconds, and messages gather and leave in large sends. The publisher also
// sends whenever kSelfFlushBytes have gathered, so throughput does not depend on when the sender thread gets
// a core. In: bytes land in a ring and are checked frame by frame, in place. On the wire each header carries
// a seal (seal.h) in place of its magic.
//
// Threads: producer (reserve, publish, abandon), consumer (poll), any (the rest).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "tcp/engine.h"
#include "tcp/mirror_buffer.h"
#include "transport/base/mutex.h"
#include "transport/endpoint.h"
#include "transport/net/waker.h"

namespace tf::tcp {

inline constexpr std::size_t kMessageRingBytes = 512 * 1024;  // per direction: stays in L2
inline constexpr std::size_t kSelfFlushBytes = 16 * 1024;

class MessageLane {
 public:
  // `waker` is notified when room appears for a refused reserve(), and outlives the lane.
  static Result<std::unique_ptr<MessageLane>> create(LaneIo io, net::Waker& waker);
  ~MessageLane();

  Result<Slot> reserve(std::size_t bytes);
  void publish(Slot slot);
  void abandon();

  // The end of the stream or a malformed frame is reported after all messages before it were delivered.
  // kPeerLost is repeated at each later call.
  Result<std::size_t> poll(MessageSink& sink, std::size_t limit);

  // Takes in what has arrived. True if poll() has something to deliver or report.
  bool look();
  // True if everything was delivered and nothing more will come; sets `why`.
  bool at_end(Status& why);
  // Sends what is queued, unless another thread is sending. Does not block.
  void flush();
  // A reserve() was refused, and would succeed now.
  bool has_wanted_room() const;
  // What to wait for: input, and with `blocked` room in the socket.
  pollfd input() const { return receiver_->wait_for(); }
  pollfd output() const { return sender_->wait_for(); }
  bool blocked() const { return blocked_.load(std::memory_order_acquire); }  // pairs with send_some()

  // For closing: waits until the kernel has everything that was published. False: the deadline passed or the
  // connection is broken.
  bool drain(Deadline deadline);
  // Stops the sender thread; call it before the socket goes away. Afterwards the kernel holds nothing.
  void stop();

 private:
  MessageLane(LaneIo io, net::Waker& waker, MirrorBuffer out, MirrorBuffer in);

  std::uint64_t unsent() const;
  void send_queued();
  bool send_some() TF_REQUIRES(send_mutex_);
  void wake_sender();
  bool start_sender();
  void run_sender();
  bool linger_for_more();
  bool fill_locked() TF_REQUIRES(receive_mutex_);
  void scan_locked() TF_REQUIRES(receive_mutex_);
  static Status open_header(FrameHeader& header);
  Status take_ending();

  std::unique_ptr<Receiver> receiver_;
  std::unique_ptr<Sender> sender_;
  net::Waker& waker_;
  const MirrorBuffer out_;
  const MirrorBuffer in_;

  // --- out. published_ is written by the producer (release; pairs with send_some(), and seq_cst with the
  // sender thread's falling asleep), sent_ under send_mutex_ (release; pairs with reserve()).
  alignas(64) std::atomic<std::uint64_t> published_{0};
  std::atomic<std::uint32_t> streak_{0};  // publishes since the last look; relaxed: a hint
  std::atomic<std::uint64_t> wanted_{0};  // size of the refused reserve(), 0: none; seq_cst with sent_
  alignas(64) std::atomic<std::uint64_t> sent_{0};
  std::atomic<bool> blocked_{false};  // the socket is full
  std::atomic<bool> broken_{false};   // release after broken_status_
  Status broken_status_;
  Mutex send_mutex_;  // holder of the sender role
  enum SenderState : std::uint32_t { kAsleep, kAwake };
  std::atomic<std::uint32_t> sender_state_{kAsleep};  // seq_cst; see run_sender()
  std::atomic<bool> stopping_{false};
  std::atomic<bool> thread_refused_{false};  // no thread to be had: publishers send; a hint
  std::atomic<bool> thread_started_{false};  // release after thread_; pairs with wake_sender()
  Mutex thread_mutex_;                       // guards starting the thread
  std::thread thread_;
  net::Waker thread_waker_;  // wakes the thread from poll(2)

  // --- in. receive_mutex_ guards receiving and scanning; [read_, complete_) is the consumer's.
  Mutex receive_mutex_;
  std::uint64_t written_ TF_GUARDED_BY(receive_mutex_) = 0;
  std::uint64_t scanned_ TF_GUARDED_BY(receive_mutex_) = 0;  // start of the first incomplete frame
  Status ending_ TF_GUARDED_BY(receive_mutex_);              // why nothing follows complete_
  alignas(64) std::atomic<std::uint64_t> complete_{0};       // release; pairs with poll() and look()
  std::atomic<bool> ended_{false};                           // release after ending_
  std::atomic<std::uint64_t> read_{0};  // release; pairs with fill_locked(), which reuses the bytes
};

}  // namespace tf::tcp
