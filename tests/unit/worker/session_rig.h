// SPDX-License-Identifier: Apache-2.0
// A session on a loopback endpoint and the fake runtime, with the client's end in the test's hands.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "hipcore/wire/execution.h"
#include "hipcore/wire/fill.h"
#include "hipcore/wire/gen/messages.h"
#include "transport/base/mutex.h"
#include "transport/loopback.h"
#include "transport/request_queue.h"
#include "worker/base/runtime_library.h"
#include "worker/gen/dispatch.h"
#include "worker/memory/host_window.h"
#include "worker/session/device_facts.h"
#include "worker/session/executor.h"

namespace tf::worker {

// Path of the fake runtime, from the build.
inline constexpr const char* kFakeRuntime = TF_FAKE_RUNTIME;

class SessionRig final : public MessageSink {
 public:
  using Ends = std::pair<std::unique_ptr<Endpoint>, std::unique_ptr<Endpoint>>;  // the client's, the worker's

  // `adjust` may change what the session is made from. `share`: null: no limits.
  using Adjust = std::function<void(OptionalFunctions&, protocol::WorkerSnapshot&)>;

  explicit SessionRig(const char* library = kFakeRuntime, Ends ends = make_loopback_pair(),
                      const Adjust& adjust = {}, Share* share = nullptr) {
    Result<RuntimeLibrary> runtime = RuntimeLibrary::load(library);
    EXPECT_TRUE(runtime.is_ok()) << runtime.status().to_string();
    runtime_ = std::make_unique<RuntimeLibrary>(std::move(*runtime));
    snapshot_ = take_snapshot(*runtime_);
    reserve_windows(runtime_->hip(), runtime_->optional().vmm, snapshot_);
    reserve_host_window(snapshot_);
    mirror_host_window(snapshot_);
    std::tie(client_end_, worker_end_) = std::move(ends);
    optional_ = runtime_->optional();
    if (adjust) adjust(optional_, snapshot_);
    queue_ = std::make_unique<RequestQueue>(*client_end_, *this);
    hip_ = runtime_->hip();
    SessionSetup setup{hip_, optional_, snapshot_, *worker_end_};
    setup.share = share;
    session_ = std::make_unique<Executor>(std::move(setup), dispatch_table());
  }
  ~SessionRig() {
    end_session();
    // A session process keeps its windows for life; the next rig wants them at the same place.
    if (snapshot_.host_window.bytes != 0)
      ::munmap(reinterpret_cast<void*>(snapshot_.host_window.base), snapshot_.host_window.bytes);
    if (snapshot_.vmm_leases == 0) return;
    free_window(snapshot_.reservations);
    for (const protocol::DeviceSnapshot& device : snapshot_.devices) free_window(device.window);
  }

  void start() {
    thread_ = std::thread([this] { result_ = session_->run(); });
  }
  // Ends the session (if nothing else has) and returns what run() said.
  Status stop() {
    if (thread_.joinable()) {
      if (!ended_by_itself_) session_->end({Code::kClosed, "test over"});
      thread_.join();
    }
    return result_;
  }
  // Waits for run() to return on its own.
  Status wait_end() {
    ended_by_itself_ = true;
    return stop();
  }
  // As when its process ends.
  void end_session() {
    static_cast<void>(stop());
    session_.reset();
  }
  void drop_client() {
    queue_.reset();
    client_end_.reset();
  }

  // Before start(): as on a device that shares the host's memory.
  void let_host_address_devices() {
    for (protocol::DeviceSnapshot& device : snapshot_.devices)
      device.properties.integrated = device.properties.is_large_bar = 1;
  }
  // Before start(): a stream under the handle that is returned.
  std::uint64_t add_stream() {
    hipStream_t stream = nullptr;
    EXPECT_EQ(runtime_stream(&stream), hipSuccess);
    const std::uint64_t raw = protocol::Handle(protocol::HandleKind::kStream, 1, streams_++).raw();
    EXPECT_TRUE(session_->state().objects.bind(protocol::HandleKind::kStream, raw, {stream, 0}));
    return raw;
  }

  template <typename Request>
  void post(const Request& request, std::span<const std::byte> tail = {}) {
    post_head<Request>(std::as_bytes(std::span(&request, 1)), tail);
  }
  // With as many of its fields as are given.
  template <typename Request>
  void post_head(std::span<const std::byte> head, std::span<const std::byte> tail = {}) {
    const Status posted = queue_->post(static_cast<std::uint16_t>(Request::kOp), kFlagNoReply, head, tail);
    EXPECT_TRUE(posted.is_ok()) << posted.to_string();
  }
  // hipError_t of the reply; its body in `body`.
  template <typename Request>
  hipError_t call(const Request& request, std::span<const std::byte> tail = {}) {
    return call_raw(static_cast<std::uint16_t>(Request::kOp), std::as_bytes(std::span(&request, 1)), tail);
  }
  // The same by a thread whose device is another.
  template <typename Request>
  hipError_t call_on(std::uint32_t device, const Request& request) {
    return call_raw(static_cast<std::uint16_t>(Request::kOp), std::as_bytes(std::span(&request, 1)), {},
                    device << kDeviceShift);
  }
  hipError_t call_raw(std::uint16_t opcode, std::span<const std::byte> head,
                      std::span<const std::byte> tail = {}, std::uint32_t flags = 0) {
    std::vector<std::byte> reply(4096);
    Result<Reply> got =
        queue_->call(opcode, flags, head, tail, reply, Deadline::after(std::chrono::seconds(20)));
    if (!got) {
      last_ = got.status();
      return hipErrorUnknown;
    }
    EXPECT_GE(got->bytes, 8u);
    std::int32_t error = 0;
    std::memcpy(&error, reply.data(), sizeof error);
    body.assign(reply.begin() + 8, reply.begin() + static_cast<std::ptrdiff_t>(got->bytes));
    return static_cast<hipError_t>(error);
  }
  template <typename Body>
  Body reply_body() const {
    Body value{};
    EXPECT_EQ(body.size(), sizeof value);
    if (body.size() == sizeof value) std::memcpy(&value, body.data(), sizeof value);
    return value;
  }

  std::uint64_t lease(std::uint64_t bytes) {
    protocol::LeaseMemoryRequest request{};
    request.bytes = bytes;
    EXPECT_EQ(call(request), hipSuccess);
    return reply_body<protocol::LeaseMemoryReply>().address;
  }
  hipError_t synchronize(std::uint64_t stream) {
    protocol::SynchronizeStreamRequest request{};
    request.stream = stream;
    return call(request);
  }
  // On the null stream; done when this returns.
  hipError_t fill(std::uint64_t address, std::uint64_t bytes, char value) {
    protocol::FillRequest request{};
    request.target = address;
    request.value = static_cast<unsigned char>(value);
    request.width = bytes;
    request.form |= protocol::kFillSynchronous;
    const hipError_t error = call(request);
    if (error != hipSuccess) return error;
    return call(protocol::SynchronizeDeviceRequest{});  // a fill may be answered before it is done
  }
  Status await(const BulkCompletion& completion) {
    return queue_->await(completion, Deadline::after(std::chrono::seconds(20)));
  }
  BulkPlane& bulk() { return client_end_->bulk(); }
  BulkPlane& worker_bulk() { return worker_end_->bulk(); }
  RequestQueue& queue() { return *queue_; }
  SessionState& session() { return session_->state(); }
  // What the session calls; to be changed before start() only.
  protocol::HipTable& hip() { return hip_; }
  const Status& last() const { return last_; }
  const protocol::WorkerSnapshot& snapshot() const { return snapshot_; }

  std::vector<protocol::FaultNotice> faults() {
    const MutexLock lock(mutex_);
    return faults_;
  }
  // The next callback that is due, waiting for it; 0 when none comes.
  std::uint64_t callback_due() {
    const Deadline deadline = Deadline::after(std::chrono::seconds(10));
    while (!deadline.passed()) {
      EXPECT_TRUE(queue_->poll().is_ok());
      const MutexLock lock(mutex_);
      if (due_.empty()) continue;
      const std::uint64_t cookie = due_.front();
      due_.pop_front();
      return cookie;
    }
    return 0;
  }
  // The callbacks that will not be due, so far.
  std::vector<std::uint64_t> refused() {
    const MutexLock lock(mutex_);
    return refused_;
  }
  // As the thread that reads the control connection does.
  void callback_done(std::uint64_t cookie) { session().callbacks.done(cookie); }

  // All that were told so far.
  std::vector<protocol::Execution> executions() {
    const MutexLock lock(mutex_);
    return executions_;
  }

  std::vector<std::byte> body;

 private:
  Status take_executions(std::span<const std::byte> payload) TF_REQUIRES(mutex_) {
    const std::span<const std::byte> tail = payload.subspan(sizeof(protocol::ExecutionsNotice));
    if (tail.size() % sizeof(protocol::Execution) != 0) return {Code::kProtocol, "a part of an execution"};
    const std::size_t before = executions_.size();
    executions_.resize(before + tail.size() / sizeof(protocol::Execution));
    std::memcpy(executions_.data() + before, tail.data(), tail.size());
    return Status::ok();
  }
  void free_window(const protocol::AddressWindow& window) {
    if (window.bytes == 0) return;
    EXPECT_EQ(runtime_->optional().vmm.address_free(reinterpret_cast<void*>(window.base), window.bytes),
              hipSuccess);
  }
  hipError_t runtime_stream(hipStream_t* stream) {
    return runtime_->hip().hipStreamCreateWithFlags(stream, hipStreamNonBlocking);
  }
  Status on_message(const FrameHeader& header, std::span<const std::byte> payload) override {
    const MutexLock lock(mutex_);
    if (header.opcode == static_cast<std::uint16_t>(protocol::FaultNotice::kOp)) {
      protocol::FaultNotice fault{};
      if (payload.size() != sizeof fault) return {Code::kProtocol, "fault of wrong size"};
      std::memcpy(&fault, payload.data(), sizeof fault);
      faults_.push_back(fault);
    } else if (header.opcode == static_cast<std::uint16_t>(protocol::CallbackDueNotice::kOp)) {
      protocol::CallbackDueNotice due{};
      if (payload.size() != sizeof due) return {Code::kProtocol, "callback of wrong size"};
      std::memcpy(&due, payload.data(), sizeof due);
      due_.push_back(due.cookie);
    } else if (header.opcode == static_cast<std::uint16_t>(protocol::CallbackRefusedNotice::kOp)) {
      protocol::CallbackRefusedNotice refused{};
      if (payload.size() != sizeof refused) return {Code::kProtocol, "refusal of wrong size"};
      std::memcpy(&refused, payload.data(), sizeof refused);
      refused_.push_back(refused.cookie);
    } else if (header.opcode == static_cast<std::uint16_t>(protocol::ExecutionsNotice::kOp)) {
      return take_executions(payload);
    }
    return Status::ok();
  }

  std::unique_ptr<RuntimeLibrary> runtime_;
  OptionalFunctions optional_;
  protocol::HipTable hip_;
  protocol::WorkerSnapshot snapshot_;
  std::unique_ptr<Endpoint> client_end_;
  std::unique_ptr<Endpoint> worker_end_;
  std::unique_ptr<RequestQueue> queue_;
  std::unique_ptr<Executor> session_;
  std::thread thread_;
  Status result_;
  Status last_;
  bool ended_by_itself_ = false;
  std::uint32_t streams_ = 0;
  Mutex mutex_;
  std::vector<protocol::FaultNotice> faults_ TF_GUARDED_BY(mutex_);
  std::vector<protocol::Execution> executions_ TF_GUARDED_BY(mutex_);
  std::deque<std::uint64_t> due_ TF_GUARDED_BY(mutex_);
  std::vector<std::uint64_t> refused_ TF_GUARDED_BY(mutex_);
};

}  // namespace tf::worker
