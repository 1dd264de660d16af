// SPDX-License-Identifier: Apache-2.0
// Graphs: the driver builds, runs and changes them; it knows nothing of captures.
#include "worker/runtime/cuda/graphs.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "transport/base/mutex.h"
#include "worker/runtime/common/capture.h"
#include "worker/runtime/common/on_device.h"
#include "worker/runtime/cuda/api.h"
#include "worker/runtime/cuda/convert.h"
#include "worker/runtime/cuda/graph_nodes.h"
#include "worker/runtime/cuda/streams.h"

namespace tf::cuda {

namespace {

// A graph that the driver runs. The driver makes sure that it does not overlap with itself.
class Program final : public graph::Executable {
 public:
  explicit Program(hipGraphExec_t exec) : exec_(exec) {}
  ~Program() override { static_cast<void>(cu().GraphExecDestroy(exec_)); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  hipError_t launch(const graph::StreamRef& stream) override {
    const MutexLock lock(mutex_);
    const Launch launch{handle_of(stream), stream.device, stream_ends()};
    const hipError_t status = check(cu().GraphLaunch(exec_, launch.stream));
    if (status == hipSuccess) last_ = launch;
    return status;
  }

  // The last launch ends last.
  void when_done(std::function<void()> call) override {
    using Call = std::function<void()>;
    auto later = std::make_unique<Call>(std::move(call));
    const auto run = [](void* data) { (*std::unique_ptr<Call>(static_cast<Call*>(data)))(); };
    {
      const MutexLock lock(mutex_);
      if (last_ && queue_behind(*last_, run, later.get())) {
        static_cast<void>(later.release());  // the driver's until it has run
        return;
      }
      // Its nodes may be on any device.
      if (last_) static_cast<void>(Runtime::get().synchronize_all());
    }
    (*later)();
  }

  // In place if the driver can. Running launches finish in either case.
  hipError_t update(const graph::Plan& plan) override {
    DriverGraph graph;
    if (const hipError_t status = graph.build(plan)) return status;
    const MutexLock lock(mutex_);
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
  struct Launch {
    hipStream_t stream = nullptr;
    int device = 0;          // the thread's then
    std::uint32_t ends = 0;  // stream_ends() then
  };

  // False: this thread cannot name that stream now.
  static bool queue_behind(const Launch& launch, driver::HostFunction function, void* data) {
    const auto queue = [&] { return check(cu().LaunchHostFunc(launch.stream, function, data)); };
    if (launch.stream == hipStreamPerThread) return false;  // the name of another one in another thread
    // The null stream is the current device's. A handle still names the same stream if none has ended since.
    if (launch.stream != nullptr) return launch.ends == stream_ends() && queue() == hipSuccess;
    bool queued = false;
    static_cast<void>(runtime::on_device(launch.device, [&] {
      const hipError_t status = queue();
      queued = status == hipSuccess;
      return status;
    }));
    return queued;
  }

  // See reference().
  static hipStream_t handle_of(const graph::StreamRef& stream) {
    if (stream.legacy) return nullptr;
    const bool is_threads_own = stream.id == short_reference(hipStreamPerThread).id;
    return is_threads_own ? hipStreamPerThread : reinterpret_cast<hipStream_t>(stream.id);
  }

  Mutex mutex_;
  hipGraphExec_t exec_ TF_GUARDED_BY(mutex_);
  std::optional<Launch> last_ TF_GUARDED_BY(mutex_);  // nothing: never launched
};

// Each thread's own stream differs from device to device.
std::uint64_t own_stream_id() {
  const ThreadState& self = thread_state();
  return reinterpret_cast<std::uint64_t>(&self) + static_cast<std::uint64_t>(self.device);
}

}  // namespace

hipError_t Backend::describe_kernel(const void* named, graph::KernelFacts& facts) {
  return cuda::describe_kernel(named, facts);
}

hipError_t Backend::check_work(const graph::Work& work) { return cuda::check_work(work); }

hipError_t Backend::instantiate(const graph::Plan& plan, std::shared_ptr<graph::Executable>& executable) {
  DriverGraph graph;
  if (const hipError_t status = graph.build(plan)) return status;
  hipGraphExec_t exec = nullptr;
  const hipError_t status = check(cu().GraphInstantiateWithFlags(&exec, graph.get(), 0));
  if (status == hipSuccess) executable = std::make_shared<Program>(exec);
  return status;
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

graph::Library::Verdict capture_launch(graph::Library& library, hipStream_t stream, hipFunction_t function,
                                       const hipKernelNodeParams& parameters, bool cooperative) {
  const graph::StreamRef ref = reference(stream);
  graph::KernelWork work;
  if (runtime::is_captured(library, ref)) {
    graph::KernelFacts facts;
    if (const hipError_t status = describe_function(function, facts)) return status;
    if (const hipError_t status = graph::read_kernel(parameters, facts, work)) return status;
    work.cooperative = cooperative ? 1 : 0;
    if (const hipError_t status = check_work(work)) return status;
  }
  return library.capture(ref, std::move(work));
}

}  // namespace tf::cuda
