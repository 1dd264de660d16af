// SPDX-License-Identifier: Apache-2.0
#include "worker/runtime/cuda/graphs.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "worker/runtime/cuda/api.h"
#include "worker/runtime/cuda/convert.h"
#include "worker/runtime/cuda/graph_nodes.h"

namespace tf::cuda {

namespace internal {
constinit std::atomic<graph::Library*> graph_library{nullptr};
}

namespace {

// A graph that the driver runs. It does not overlap with itself: the driver sees to that.
class Program final : public graph::Executable {
 public:
  explicit Program(hipGraphExec_t exec) : exec_(exec) {}
  ~Program() override { static_cast<void>(cu().GraphExecDestroy(exec_)); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  hipError_t launch(const graph::StreamRef& stream) override {
    const std::lock_guard lock(mutex_);
    return check(cu().GraphLaunch(exec_, handle_of(stream)));
  }

  // In place where the driver can. What is under way runs to its end either way.
  hipError_t update(const graph::Plan& plan) override {
    DriverGraph graph;
    if (const hipError_t status = graph.build(plan)) return status;
    const std::lock_guard lock(mutex_);
    hipGraphNode_t node = nullptr;
    int result = 0;
    if (cu().GraphExecUpdate(exec_, graph.get(), &node, &result) == driver::Result::SUCCESS)
      return hipSuccess;
    hipGraphExec_t made = nullptr;
    const hipError_t status = check(cu().GraphInstantiateWithFlags(&made, graph.get(), 0));
    if (status != hipSuccess) return status;
    static_cast<void>(cu().GraphExecDestroy(std::exchange(exec_, made)));
    return hipSuccess;
  }

 private:
  // See reference().
  static hipStream_t handle_of(const graph::StreamRef& stream) {
    if (stream.legacy) return nullptr;
    const bool is_threads_own = stream.id == short_reference(hipStreamPerThread).id;
    return is_threads_own ? hipStreamPerThread : reinterpret_cast<hipStream_t>(stream.id);
  }

  std::mutex mutex_;
  hipGraphExec_t exec_;
};

class Graphs final : private graph::Side {
 public:
  Graphs() : library_(*this) { internal::graph_library.store(&library_, std::memory_order_release); }

  graph::Library& library() { return library_; }

 private:
  hipError_t describe(const void* named, graph::KernelFacts& facts) override {
    return describe_kernel(named, facts);
  }
  hipError_t find_symbol(const void* symbol, std::byte*& address, std::size_t& bytes) override {
    void* found = nullptr;
    const hipError_t status = programs().variable(symbol, found, bytes);
    address = static_cast<std::byte*>(found);
    return status;
  }
  hipError_t check(const graph::Work& work) override { return check_work(work); }
  hipError_t instantiate(const graph::Plan& plan, std::shared_ptr<graph::Executable>& executable) override {
    DriverGraph graph;
    if (const hipError_t status = graph.build(plan)) return status;
    hipGraphExec_t exec = nullptr;
    const hipError_t status = cuda::check(cu().GraphInstantiateWithFlags(&exec, graph.get(), 0));
    if (status == hipSuccess) executable = std::make_shared<Program>(exec);
    return status;
  }

  graph::Library library_;
};

// Each thread's own stream is another one on each device.
std::uint64_t own_stream_id() {
  const ThreadState& self = thread_state();
  return reinterpret_cast<std::uint64_t>(&self) + static_cast<std::uint64_t>(self.device);
}

bool is_captured(graph::Library& library, const graph::StreamRef& stream) {
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  static_cast<void>(library.capture_info(stream, &status, nullptr, nullptr, nullptr, nullptr));
  return status == hipStreamCaptureStatusActive;
}

}  // namespace

graph::Library& graphs() {
  static Graphs* const all = new Graphs;
  return all->library();
}

graph::StreamRef short_reference(hipStream_t stream) {
  const bool is_legacy = !stream || stream == kLegacyStream;
  const std::uint64_t id = stream == hipStreamPerThread ? own_stream_id()
                           : is_legacy                  ? 0
                                                        : reinterpret_cast<std::uint64_t>(stream);
  return {id, thread_state().device, true, is_legacy};
}

graph::StreamRef reference(hipStream_t stream) {
  graph::StreamRef ref = short_reference(stream);
  if (ref.legacy || stream == hipStreamPerThread) return ref;
  unsigned flags = 0;
  driver::Context context = nullptr;
  if (cu().StreamGetFlags(stream, &flags) == driver::Result::SUCCESS)
    ref.blocking = (flags & hipStreamNonBlocking) == 0;
  if (cu().StreamGetCtx(stream, &context) == driver::Result::SUCCESS)
    ref.device = std::max(0, Runtime::get().ordinal_of(context));
  return ref;
}

graph::Library::Verdict capture(graph::Library& library, hipStream_t stream, graph::Work work, Wait wait) {
  const graph::StreamRef ref = reference(stream);
  if (wait == Wait::kYes) return library.refuse(ref);
  if (is_captured(library, ref))
    if (const hipError_t status = check_work(work)) return status;
  return library.capture(ref, std::move(work));
}

graph::Library::Verdict capture_launch(graph::Library& library, hipStream_t stream, hipFunction_t function,
                                       const hipKernelNodeParams& parameters, bool cooperative) {
  const graph::StreamRef ref = reference(stream);
  graph::KernelWork work;
  if (is_captured(library, ref)) {
    graph::KernelFacts facts;
    if (const hipError_t status = describe_function(function, facts)) return status;
    if (const hipError_t status = graph::read_kernel(parameters, facts, work)) return status;
    work.cooperative = cooperative;
    if (const hipError_t status = check_work(work)) return status;
  }
  return library.capture(ref, std::move(work));
}

hipError_t refuse_captured(hipStream_t stream) {
  graph::Library* const library = capturing();
  return library ? library->refuse(reference(stream)).value_or(hipSuccess) : hipSuccess;
}

hipError_t refuse_captured(hipEvent_t event) {
  graph::Library* const library = capturing();
  return library ? library->refuse_event(reference(event)).value_or(hipSuccess) : hipSuccess;
}

hipError_t record_event(hipEvent_t event, hipStream_t stream) {
  if (graph::Library* const library = capturing()) [[unlikely]] {
    const auto verdict = library->capture_record(reference(stream), reference(event));
    if (verdict) return *verdict;
  }
  return check(cu().EventRecord(event, stream));
}

}  // namespace tf::cuda
