// SPDX-License-Identifier: Apache-2.0
// Connection: one connection to a worker: posting, calling, waiting, and its end.
//
// All functions may be called from any thread. A connection is lost for good at its first transport failure
// or when the control connection closes: the reason is printed once and every call from then on returns
// hipErrorDeinitialized at once. (No worker from the start: hipErrorNotInitialized; see client/process.h.)
#pragma once

#include <hip/hip_runtime_api.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <semaphore>
#include <span>
#include <thread>

#include "hipcore/wire/control_message.h"
#include "hipcore/wire/device_snapshot.h"
#include "hipcore/wire/gen/messages.h"
#include "hipcore/wire/gen/op_traits.h"
#include "proxy/base/handles.h"
#include "proxy/base/log.h"
#include "proxy/session/reply_cache.h"
#include "proxy/session/streams.h"
#include "proxy/session/worker_trace.h"
#include "proxy/stats/counting.h"
#include "transport/base/mutex.h"
#include "transport/lane_watch.h"
#include "transport/net/fd.h"
#include "transport/request_queue.h"

namespace tf::proxy {

inline constexpr hipError_t kLostError = hipErrorDeinitialized;

// What the parts above a connection hear of it: its owner knows them. Any thread.
class ConnectionObserver {
 public:
  // A request is about to be posted while a Care is set, or while calls are counted (TF_STATS).
  // Nothing: it goes on; else the call returns this, and it does not.
  virtual std::optional<hipError_t> before_post(protocol::OpTraits what, int device,
                                                std::span<const std::byte> head,
                                                std::span<const std::byte> tail) = 0;
  // It was posted, or could not be: follows every before_post() that let it go on.
  virtual void after_post(protocol::OpTraits what) = 0;
  // A call has waited for the stream, or for the device, and has found no failure.
  virtual hipError_t stream_waited(int device, std::uint64_t stream) = 0;
  virtual hipError_t device_waited(int device) = 0;
  // A host function may run once as much output is written as `output` says. From whichever thread drives the
  // endpoint: must neither call nor wait.
  virtual void callback_due(std::uint64_t cookie, hipError_t error, std::uint32_t output) = 0;
  virtual void callback_refused(std::uint64_t cookie) = 0;
  // Other processes may see what is written to this memory of a device.
  virtual bool seen_by_others(std::uint64_t address) = 0;

 protected:
  ~ConnectionObserver() = default;
};

// Reasons to check every post. All are rare.
enum class Care : unsigned {
  kCapturing = 1,  // a stream is being captured
  kMirroring = 2,  // memory is carried to the worker before work, and back
  // Memory or events are other processes' too: what a synchronous call did must be done when it returns.
  // Another process may be told of it by other means, and read it at once.
  kSharing = 4,
};

class Connection final : private MessageSink {
 public:
  // The worker's devices that the program sees, in the program's order.
  struct Devices {
    std::array<int, protocol::kDevicesMax> ordinals{};  // the worker's
    int count = 0;
    bool streams_limited = false;  // making a stream may fail: its answer is waited for
  };
  // `control` may be missing in tests. `observer` outlives the connection; it is called from the first post
  // on.
  Connection(std::unique_ptr<Endpoint> endpoint, net::OwnedStream control, Devices devices,
             ConnectionObserver& observer);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { close(); }
  // Ends it and every transfer that is still running. Waits.
  void close();

  RequestQueue& queue() { return queue_; }
  BulkPlane& bulk() { return endpoint_->bulk(); }
  // Payload up to here costs less inside its message: Capabilities::inline_payload_bytes.
  std::uint64_t inline_payload_bytes() const { return inline_payload_bytes_; }
  Handles& handles() { return handles_; }
  ReplyCache& replies() { return replies_; }
  Streams& streams() { return streams_; }
  WorkerTrace& worker_trace() { return worker_trace_; }
  int device_count() const { return devices_.count; }
  // The worker's ordinal of our device. REQUIRES: 0 <= device < device_count(), or 0
  int worker_ordinal(int device) const { return devices_.ordinals[static_cast<std::size_t>(device)]; }
  // Our device with the worker's ordinal; -1: the program does not see it.
  int own_ordinal(int worker_device) const;

  // The worker has not made it.
  void forget_stream(std::uint64_t stream);
  bool streams_limited() const { return devices_.streams_limited; }

  // --- its end
  bool lost() const { return lost_.load(std::memory_order_acquire); }  // pairs with lose()
  void lose(const Status& reason);
  // Why it ended; ok while it has not.
  Status status() const { return endpoint_->status(); }
  // What a bulk transfer's status means to the program. A broken connection found by it is lost, which is
  // told before this returns.
  hipError_t transferred(const Status& status);
  // Tells the worker that nothing more will come. Does not wait.
  void goodbye();
  // In the child of fork(), which never uses the connection again: gives up the child's copy of the control
  // connection, so that the worker learns of the parent's end while the child lives on. Async-signal-safe.
  void after_fork_in_child() const {
    if (control_) ::close(control_.get());
  }
  // The process ends with the connection in it: nobody will join its thread.
  void leave_thread() {
    if (watcher_.joinable()) watcher_.detach();
  }

  // --- requests
  // One message for `device`'s executor, posted or answered. `reply` gets what follows the error.
  hipError_t send(protocol::OpTraits what, int device, std::span<const std::byte> head,
                  std::span<const std::byte> tail);
  // As send(), of a request that records, awaits and makes nothing.
  hipError_t send_and_hear(protocol::OpTraits what, int device, std::span<const std::byte> head,
                           std::span<const std::byte> tail);
  hipError_t exchange(protocol::Op op, int device, std::span<const std::byte> head,
                      std::span<const std::byte> tail, std::span<std::byte> reply);
  template <typename Request>
  hipError_t post(int device, const Request& request, std::span<const std::byte> tail = {}) {
    const hipError_t error = send(protocol::kTraits<Request>, device, protocol::wire_of(request), tail);
    streams_.note_posted(device, trace_of(request));
    return error;
  }
  // As post(), and waits for what the worker's runtime answers.
  template <typename Request>
  hipError_t post_and_hear(int device, const Request& request, std::span<const std::byte> tail) {
    const hipError_t error =
        send_and_hear(protocol::kTraits<Request>, device, protocol::wire_of(request), tail);
    streams_.note_posted(device, trace_of(request));
    return error;
  }
  template <typename Request, typename Reply>
  hipError_t call(int device, const Request& request, Reply& reply, std::span<const std::byte> tail = {}) {
    return exchange(Request::kOp, device, std::as_bytes(std::span(&request, 1)), tail,
                    std::as_writable_bytes(std::span(&reply, 1)));
  }
  template <typename Request>
  hipError_t call(int device, const Request& request, std::span<const std::byte> tail = {}) {
    return exchange(Request::kOp, device, std::as_bytes(std::span(&request, 1)), tail, {});
  }
  // A call of a request that names `file` by its number: the file is on its way before the request.
  // hipErrorNotSupported: there is no control connection.
  template <typename Request>
  hipError_t call_with_file(int device, Request& request, int file) {
    hipError_t error = pass_file(file, request.number);
    if (error != hipSuccess) return error;
    error = call(device, request);
    files_under_way_.release();
    return error;
  }

  // --- what posting has to take care of
  void take_care(Care what, bool on);
  bool is_capturing() const { return has(Care::kCapturing); }
  bool is_sharing() const { return has(Care::kSharing); }  // set by an earlier call of a thread that shares
  // Other processes have the event too, from now on.
  void note_shared(std::uint64_t event);
  // Tells the worker that a host function is done: not by a request, which could stand behind requests that
  // wait for the function's stream. A thread that gets a later reply sees what the function wrote.
  void end_callback(std::uint64_t cookie);
  // The same with the payload of a copy in turn, which may change when this returns.
  void send_turn(std::uint64_t cookie, std::span<const std::byte> payload);
  // An order to the worker's mirror (hipcore/mirror/order.h), likewise.
  hipError_t order_mirror(std::span<const std::byte> order);

  // --- waiting
  // Asks the worker to wait for the stream or device, unless there is nothing left to wait for and no failure
  // to hear of.
  hipError_t synchronize_stream(int device, std::uint64_t stream);
  hipError_t synchronize_device(int device);
  // The same, but `wait` does the waiting and returns the result; hipErrorNotReady: it did not wait. While
  // output is outstanding it asks the worker.
  template <typename Wait>
  hipError_t synchronize_stream(int device, std::uint64_t stream, Wait wait) {
    // The null stream waits for every stream that was not created as non-blocking.
    const bool all = stream == 0 && devices_.count == 1 && !streams_.has_unordered();
    const std::uint64_t starts = streams_.output().starts();
    PendingWork& pending = streams_.pending_work();
    const PendingWork::Proof proof = pending.begin(PendingWork::mark_of(device, stream), all);
    hipError_t error = wait();
    if (error != hipErrorNotReady) error = synchronized_stream(device, stream, error);
    pending.end(proof, error == hipSuccess);
    if (pending.idle()) streams_.output().settle(starts);
    return error;
  }
  // Instead of such a wait, if all that is left of the stream is arrivals (Streams::only_arrivals()): the
  // worker waits, so that what any stream gets from now on follows them. The call goes on. Arrivals change no
  // memory that the program sees: nothing that is mirrored has to come back.
  // REQUIRES: neither is_capturing() nor is_sharing()
  hipError_t leave_wait(int device, std::uint64_t stream);
  // Every synchronizing call does this after the worker's answer: waits for the copies that belong to it, and
  // returns the first of `error` and the faults noted.
  hipError_t synchronized_stream(int device, std::uint64_t stream, hipError_t error);
  hipError_t synchronized_device(int device, hipError_t error);
  // The same for the library's own waits: faults are kept for the program.
  hipError_t finish_device(int device, hipError_t error);
  // Waits for the device; what the worker says of the program's work is kept for the program.
  hipError_t drain(int device);
  // The same for all devices, if kernels may still print. A call that frees memory, and the end of the
  // process, wait natively.
  void await_output();

 private:
  friend class OutgoingPayload;
  friend class IncomingPayload;

  bool has(Care what) const {
    return (care_.load(std::memory_order_relaxed) & static_cast<unsigned>(what)) != 0;
  }
  bool takes_care() const { return care_.load(std::memory_order_relaxed) != 0 || stats::counting(); }
  hipError_t send_with_care(protocol::OpTraits what, int device, std::span<const std::byte> head,
                            std::span<const std::byte> tail);
  hipError_t send_observed(protocol::OpTraits what, int device, std::span<const std::byte> head,
                           std::span<const std::byte> tail);
  hipError_t transmit(protocol::Op op, int device, std::span<const std::byte> head,
                      std::span<const std::byte> tail);
  hipError_t create_stream(protocol::OpTraits what, int device, std::span<const std::byte> head,
                           std::span<const std::byte> tail);
  hipError_t record_event(protocol::OpTraits what, int device, std::span<const std::byte> head);
  hipError_t finish_for_sharers(protocol::OpTraits what, int device, std::span<const std::byte> head);
  hipError_t land_copies(int device, std::uint64_t stream);
  hipError_t pass_file(int file, std::uint64_t& number);
  void lose_endpoint(const Status& otherwise);
  Status read_control(LaneWatch& lanes);
  Status report_lanes(LaneWatch& lanes);
  Status on_message(const FrameHeader& header, std::span<const std::byte> payload) override;
  Status on_notice(const protocol::FaultNotice& fault, std::span<const std::byte> none);
  Status on_notice(const protocol::CallbackDueNotice& due, std::span<const std::byte> none);
  Status on_notice(const protocol::CallbackRefusedNotice& refused, std::span<const std::byte> none);
  Status on_notice(const protocol::DeviceFailedNotice& failed, std::span<const std::byte> what);
  Status on_notice(const protocol::ExecutionsNotice& none, std::span<const std::byte> executions);
  Status on_notice(const protocol::FunctionNamedNotice& named, std::span<const std::byte> name);
  void watch_control();

  ConnectionObserver& observer_;
  std::unique_ptr<Endpoint> endpoint_;
  const std::uint64_t inline_payload_bytes_;
  const Devices devices_;
  RequestQueue queue_;
  Handles handles_;
  Streams streams_;
  ReplyCache replies_;
  WorkerTrace worker_trace_{queue_};
  // Of Care. Relaxed: the thread that sets a bit sees it; the program synchronizes its other threads.
  std::atomic<unsigned> care_{0};
  std::atomic<std::uint64_t> shown_{0};
  // The next bulk tag, of either direction. See payload.h.
  std::atomic<std::uint64_t> next_tag_{1};
  Mutex send_order_;
  std::atomic<bool> lost_{false};
  std::atomic<bool> leaving_{false};  // the worker was told so, or is being told
  net::OwnedStream control_;
  Mutex telling_;  // one message at a time on the control connection
  std::uint64_t files_passed_ TF_GUARDED_BY(telling_) = 0;
  std::counting_semaphore<> files_under_way_{protocol::kPassedFilesMax};
  Mutex loss_mutex_;  // the loss is reported before lost() turns true; only the report is made under it
  LogOnce loss_told_;
  LogOnce failure_told_;  // from a Fault
  std::array<LogOnce, protocol::kDevicesMax> device_failure_told_;
  std::thread watcher_;
};

}  // namespace tf::proxy
