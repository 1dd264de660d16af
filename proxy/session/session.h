// SPDX-License-Identifier: Apache-2.0
// Session: one connection to a worker and everything the client knows through it.
//
// All functions may be called from any thread. A session is lost for good at its first transport failure or
// when the control connection closes: the reason is printed once and every call from then on returns
// hipErrorDeinitialized at once. (No worker from the start: hipErrorNotInitialized; see process.h.)
#pragma once

#include <hip/hip_runtime_api.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <semaphore>
#include <span>
#include <thread>
#include <vector>

#include "hipcore/wire/device_snapshot.h"
#include "hipcore/wire/gen/messages.h"
#include "hipcore/wire/gen/op.h"
#include "hipcore/wire/passed_file.h"
#include "hipcore/wire/shared_files.h"
#include "proxy/base/handles.h"
#include "proxy/base/log.h"
#include "proxy/copy/copy_threads.h"
#include "proxy/copy/mirror.h"
#include "proxy/copy/staging.h"
#include "proxy/memory/address_window.h"
#include "proxy/memory/device_memory.h"
#include "proxy/memory/host_memory.h"
#include "proxy/memory/host_window.h"
#include "proxy/memory/huge_pages.h"
#include "proxy/memory/lease_mappings.h"
#include "proxy/memory/pools.h"
#include "proxy/memory/shared_memory.h"
#include "proxy/memory/virtual_memory.h"
#include "proxy/module/module_cache.h"
#include "proxy/session/callbacks.h"
#include "proxy/session/event_recordings.h"
#include "proxy/session/faults.h"
#include "proxy/session/pending_work.h"
#include "proxy/session/reply_cache.h"
#include "proxy/session/transfers.h"
#include "proxy/session/turns.h"
#include "transport/net/fd.h"
#include "transport/request_queue.h"

namespace tf::proxy {

inline constexpr hipError_t kLostError = hipErrorDeinitialized;

class Graphs;

class Session final : private MessageSink, private LeaseSource, private HostPartSource {
 public:
  struct Parts {
    std::unique_ptr<Endpoint> endpoint;
    protocol::WorkerSnapshot snapshot;
    net::OwnedFd control;  // may be missing in tests
    protocol::SharedFiles files;
    int only_device = -1;       // TF_DEVICE_ID
    unsigned copy_helpers = 0;  // TF_COPY_THREADS
  };
  explicit Session(Parts parts);
  ~Session();

  const protocol::WorkerSnapshot& snapshot() const { return snapshot_; }
  int device_count() const { return static_cast<int>(snapshot_.devices.size()); }
  bool has_devices() const { return !snapshot_.devices.empty(); }
  RequestQueue& queue() { return queue_; }
  Handles& handles() { return handles_; }
  ReplyCache& replies() { return replies_; }
  // Objects that exist once per arguments, such as a device's default pool. `created_order` is held from
  // looking to posting the creation, so that nobody uses a handle that the worker has not heard of.
  ReplyCache& created() { return created_; }
  std::mutex& created_order() { return created_order_; }
  // The worker's ordinal of a device of ours. REQUIRES: 0 <= device < device_count()
  int worker_ordinal(int device) const { return device + static_cast<int>(device_base_); }
  Faults& faults() { return faults_; }
  Transfers& transfers() { return transfers_; }
  Turns& turns() { return turns_; }
  DeviceMemory& device_memory() { return device_memory_; }
  const LeaseMappings& lease_mappings() const { return lease_mappings_; }
  HugePages& huge_pages() { return huge_pages_; }
  PendingWork& pending_work() { return pending_work_; }
  VirtualMemory& virtual_memory() { return virtual_memory_; }
  SharedMemory& shared_memory() { return shared_memory_; }
  // The allocation at `base` is about to be freed: nobody can open it any more.
  void unshare(int device, std::uint64_t base);
  Pools& pools() { return pools_; }
  HostMemory& host_memory() { return host_memory_; }
  HostWindow& host_window() { return host_window_; }
  Mirror& mirror() { return mirror_; }
  Staging& staging() { return staging_; }
  CopyThreads& copy_threads() { return copy_threads_; }
  // As HostMemory's functions, and the transport is told.
  hipError_t allocate_host(HostRange::Kind kind, int device, std::uint64_t bytes, unsigned flags,
                           void*& pointer);
  hipError_t register_host(int device, void* pointer, std::uint64_t bytes, unsigned flags);
  // Frees host memory of ours, when no device uses it any more: waits for them all.
  hipError_t free_host(const HostRange& range);
  // hipHostUnregister, which waits for the devices as well.
  hipError_t unregister_host(void* pointer);
  // The worker finds all of [address, address + bytes) at the same addresses: device memory, or host memory
  // that devices reach.
  bool reaches(std::uint64_t address, std::uint64_t bytes) const {
    return device_memory_.contains(address, bytes) || host_memory_.reaches(address, bytes);
  }
  // What every call does that has waited for some of the work, when it found no failure.
  hipError_t waited() { return mirror_.any() ? mirror_.after_wait() : hipSuccess; }
  ModuleCache& modules() { return modules_; }
  Callbacks& callbacks() { return callbacks_; }
  Graphs& graphs() { return *graphs_; }

  bool lost() const { return lost_.load(std::memory_order_acquire); }  // pairs with lose()
  void lose(const Status& reason);
  // What a bulk transfer's status means to the program. A broken connection found by it is the session's
  // loss, which is told before this returns.
  hipError_t transferred(const Status& status);
  // In the child of fork(), which never uses the session again: gives up the child's copy of the control
  // connection, so that the worker learns of the parent's end while the child lives on. Async-signal-safe.
  void after_fork_in_child() const {
    if (control_) ::close(control_.get());
  }
  // Tells the worker that nothing more comes. Does not wait.
  void goodbye();
  // The process ends with the session in it: nobody will join its threads.
  void leave_threads() {
    if (watcher_.joinable()) watcher_.detach();
    copy_threads_.leave();
  }

  // One message to `device`'s executor, posted or answered. `reply` gets what follows the error.
  hipError_t send(protocol::Op op, int device, std::span<const std::byte> head,
                  std::span<const std::byte> tail);
  hipError_t exchange(protocol::Op op, int device, std::span<const std::byte> head,
                      std::span<const std::byte> tail, std::span<std::byte> reply);

  // After posting: what the request leaves behind.
  void note_posted(int device, const Trace& trace) {
    pending_work_.note(device, trace);
    if (trace.leaves == Leaves::kWork && trace.stream == 0) transfers_.note_null_work(device);
  }
  template <typename Request>
  hipError_t post(int device, const Request& request, std::span<const std::byte> tail = {}) {
    const hipError_t error = send(Request::kOp, device, std::as_bytes(std::span(&request, 1)), tail);
    note_posted(device, trace_of(request));
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

  // Bulk tags, one counter for each direction: both start at 1.
  std::uint64_t next_tag() { return next_tag_.fetch_add(1, std::memory_order_relaxed); }  // only uniqueness
  // Held from starting a bulk send to posting its message: payloads leave in the order of their messages,
  // so the worker's executor never waits for a payload that is stuck behind a later one.
  std::mutex& send_order() { return send_order_; }

  // Asks the worker to wait for the stream or the device, unless nothing is left to wait for or to hear of.
  hipError_t synchronize_stream(int device, std::uint64_t stream);
  hipError_t synchronize_device(int device);
  // The same, where `wait` does the waiting and returns what came of it; hipErrorNotReady: nothing did.
  template <typename Wait>
  hipError_t synchronize_stream(int device, std::uint64_t stream, Wait wait) {
    // The null stream waits for every stream that was not made to go its own ways.
    const bool all = stream == 0 && device_count() == 1 && !has_unordered_streams();
    const PendingWork::Proof proof = pending_work_.begin(PendingWork::mark_of(device, stream), all);
    hipError_t error = wait();
    if (error != hipErrorNotReady) error = synchronized_stream(device, stream, error);
    pending_work_.end(proof, error == hipSuccess);
    return error;
  }

  // What every synchronizing call does after the worker's answer: waits for the copies that belong to it,
  // and returns the first of `error` and the faults noted.
  hipError_t synchronized_stream(int device, std::uint64_t stream, hipError_t error);
  hipError_t synchronized_device(int device, hipError_t error);

  // The copies that are left running and over when the stream has come to `through` (transfers.h): what they
  // are, and waiting for them.
  std::vector<Reach> copies_of(int device, std::uint64_t stream, std::uint64_t through = UINT64_MAX) {
    if (transfers_.none_running()) return {};
    return transfers_.reach(stream_device(device, stream), stream, is_blocking(stream), through);
  }
  void await_copies(int device, std::uint64_t stream, std::uint64_t through = UINT64_MAX) {
    transfers_.await(copies_of(device, stream, through));
  }
  // One that a call leaves running (Transfers::add(), add_packed()). `target`: what it writes.
  std::shared_ptr<Transfer> transfer_on(int device, std::uint64_t stream, std::span<std::byte> target = {}) {
    return transfers_.add({stream_device(device, stream), stream, is_blocking(stream), target});
  }
  std::shared_ptr<Transfer> packed_transfer_on(int device, std::uint64_t stream, std::uint64_t bytes,
                                               std::span<std::byte> target = {}) {
    return transfers_.add_packed({stream_device(device, stream), stream, is_blocking(stream), target}, bytes);
  }
  // The stream is ordered with the null stream, or is it.
  bool is_blocking(std::uint64_t stream);

  // A stream that does not wait for the null stream may exist (hipStreamNonBlocking).
  bool has_unordered_streams() const {
    return unordered_streams_.load(std::memory_order_relaxed);
  }  // see send()

  // Memory or events of this session are other processes' too, from now on: what a synchronous call did must
  // be done when it returns, since who is told of it by other means may look at once.
  void note_sharing() { sharing_.store(true, std::memory_order_relaxed); }
  bool is_sharing() const {
    return sharing_.load(std::memory_order_relaxed);
  }  // who shares gets it from a call
  // Other processes have the event too, from now on.
  void note_shared(std::uint64_t event);
  void note_recording(std::uint64_t event, int device, std::uint64_t stream);
  EventRecordings& recordings() { return recordings_; }
  // Event and stream are of the same device, as recording needs. `device`: of the calling thread.
  bool may_record(std::uint64_t event, int device, std::uint64_t stream) {
    return handles_.of(protocol::HandleKind::kEvent).device(event) == stream_device(device, stream);
  }
  // The device that work on `stream` runs on.
  int stream_device(int device, std::uint64_t stream) {
    const bool is_constant = protocol::Handle(stream).is_constant();
    return is_constant ? device : handles_.of(protocol::HandleKind::kStream).device(stream);
  }

  // hipSetDeviceFlags: kept, not acted upon. REQUIRES: 0 <= device < device_count()
  unsigned device_flags(int device) const {
    return device_flags_[static_cast<std::size_t>(device)].load(std::memory_order_relaxed);
  }
  void set_device_flags(int device, unsigned flags) {
    device_flags_[static_cast<std::size_t>(device)].store(flags,
                                                          std::memory_order_relaxed);  // a value of its own
  }

  // The calling thread's hipStreamPerThread on `device`. 0: no handle left or session lost.
  std::uint64_t own_stream(int device);

 private:
  void lose_endpoint(const Status& otherwise);
  bool takes_care() const;
  hipError_t send_with_care(protocol::Op op, int device, std::span<const std::byte> head,
                            std::span<const std::byte> tail);
  hipError_t transmit(protocol::Op op, int device, std::span<const std::byte> head,
                      std::span<const std::byte> tail);
  hipError_t settle(protocol::Op op, int device, std::span<const std::byte> head);
  hipError_t send_observed(protocol::Op op, int device, std::span<const std::byte> head,
                           std::span<const std::byte> tail);
  void observe(protocol::Op op, int device, std::span<const std::byte> head);
  void note_join(int device, std::span<const std::byte> head);
  hipError_t record_event(int device, std::span<const std::byte> head);
  Status on_message(const FrameHeader& header, std::span<const std::byte> payload) override;
  Status on_fault(const protocol::FaultRequest& fault);
  void on_device_failed(const protocol::DeviceFailedRequest& failed, std::span<const std::byte> what);
  hipError_t lease(int device, std::uint64_t bytes, Lease& lease) override;
  void return_lease(int device, std::uint64_t address) override;
  hipError_t drain(int device) override;
  hipError_t open_host_part(std::uint64_t address, std::uint64_t bytes) override;
  void close_host_part(std::uint64_t address, std::uint64_t bytes) override;
  bool reserve_windows();
  void map_leases(net::OwnedFd socket, bool reserved);
  hipError_t map_host_file(std::uint64_t address, std::uint64_t bytes, int file,
                           std::uint64_t offset) override;
  void unmap_host_file(std::uint64_t address) override;
  hipError_t settle_device(int device, hipError_t error);
  hipError_t wait_for_devices();
  void map_host_window(int file);
  void watch_control();

  std::unique_ptr<Endpoint> endpoint_;
  protocol::WorkerSnapshot snapshot_;
  net::OwnedFd control_;
  std::mutex passing_;  // of files on the control connection
  std::uint64_t files_passed_ = 0;
  std::counting_semaphore<> files_under_way_{protocol::kPassedFilesMax};
  std::uint32_t device_base_ = 0;  // the worker's ordinal of our device 0
  std::vector<ReservedWindow> windows_;
  RequestQueue queue_;
  Handles handles_;
  EventRecordings recordings_;
  ReplyCache replies_;
  ReplyCache created_{protocol::kHandleSlotsMax};  // never full: no more than there are handles
  std::mutex created_order_;
  Faults faults_;
  Transfers transfers_;
  Turns turns_;
  DeviceMemory device_memory_;
  LeaseMappings lease_mappings_;
  HugePages huge_pages_;
  PendingWork pending_work_;
  VirtualMemory virtual_memory_;
  SharedMemory shared_memory_;
  Pools pools_;
  HostWindow host_window_;
  HostMemory host_memory_;
  Mirror mirror_;
  CopyThreads copy_threads_;
  Staging staging_;
  ModuleCache modules_;
  Callbacks callbacks_;
  std::atomic<std::uint64_t> next_tag_{1};
  std::mutex send_order_;
  std::atomic<bool> lost_{false};
  std::atomic<bool> leaving_{false};  // the worker has been told so, or is being told
  // Set before the creating message is queued; whoever uses the stream got its handle afterwards.
  std::atomic<bool> unordered_streams_{false};
  std::atomic<bool> sharing_{false};
  std::array<std::atomic<unsigned>, protocol::kDevicesMax> device_flags_{};
  std::mutex loss_mutex_;  // who loses the session tells it first; nothing is called under it
  LogOnce loss_told_;
  LogOnce failure_told_;  // by a Fault
  std::array<LogOnce, protocol::kDevicesMax> device_failure_told_;
  std::thread watcher_;
  std::unique_ptr<Graphs> graphs_;  // first to go: executable graphs tell the worker
};

}  // namespace tf::proxy
