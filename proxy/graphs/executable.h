// SPDX-License-Identifier: Apache-2.0
// GraphExecutable: a plan as a schedule, with its segments built at the worker. A launch posts the steps in
// order. It does not wait for earlier launches, unless client memory is written and then read.
//
// Any thread; one launch or update at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hipcore/graph/library.h"
#include "proxy/copy/engine.h"
#include "proxy/graphs/schedule.h"
#include "proxy/module/module_cache.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

// More than this many are gathered by empty nodes, so that a node fits a message.
inline constexpr std::size_t kNodeDependenciesMax = 1024;

class GraphExecutable final : public graph::Executable {
 public:
  GraphExecutable(CopyEngine& copies, const ModuleCache& modules, int device)
      : copies_(copies), modules_(modules), connection_(copies.connection()), device_(device) {}
  GraphExecutable(const GraphExecutable&) = delete;
  GraphExecutable& operator=(const GraphExecutable&) = delete;
  ~GraphExecutable() override;

  // Once, before anything else.
  hipError_t prepare(const graph::Plan& plan);
  hipError_t launch(const graph::StreamRef& stream) override;
  hipError_t update(const graph::Plan& plan) override;
  void when_done(std::function<void()> call) override;

 private:
  using Dependencies = std::vector<std::uint32_t>;

  Schedule schedule(const graph::Plan& plan) const;
  bool can_print(const Schedule& schedule) const;
  hipError_t make_segments(const Schedule& schedule, std::vector<std::uint64_t>& execs);
  hipError_t change_segments(const Schedule& schedule) TF_REQUIRES(mutex_);
  void destroy_segments(const std::vector<std::uint64_t>& execs);
  // Sends the segment's nodes. The call that ends the build reports what is wrong with them.
  hipError_t build(std::uint64_t exec, const std::vector<ScheduledItem>& segment);
  std::uint64_t seen_by_devices(const void* pointer) const;
  hipError_t build_node(std::uint64_t exec, const graph::Work& work, const Dependencies& dependencies);
  hipError_t build_kernel(std::uint64_t exec, const graph::KernelWork& work,
                          const Dependencies& dependencies);
  template <typename Request>
  hipError_t post_node(Request& request, const Dependencies& dependencies,
                       std::span<const std::byte> arguments = {});
  hipError_t launch_operation(const hipStreamBatchMemOpParams& operation, const graph::StreamRef& stream);
  hipError_t launch_batch(const graph::BatchWork& batch, const graph::StreamRef& stream);
  hipError_t launch_step(const ScheduleStep& step, const graph::StreamRef& stream);
  hipError_t launch_on_host(const graph::Work& work, const graph::StreamRef& stream);
  void finish(const graph::StreamRef& stream);

  CopyEngine& copies_;
  const ModuleCache& modules_;
  Connection& connection_;
  const int device_;
  Mutex mutex_;
  Schedule schedule_ TF_GUARDED_BY(mutex_);
  std::vector<std::uint64_t> segments_
      TF_GUARDED_BY(mutex_);                 // kGraphExec handles, in the order of the schedule
  bool torn_ TF_GUARDED_BY(mutex_) = false;  // an update failed half-way: the next one rebuilds everything
  bool can_print_ TF_GUARDED_BY(mutex_) = false;  // one of its kernels can
  bool launched_ TF_GUARDED_BY(mutex_) = false;
  graph::StreamRef last_stream_ TF_GUARDED_BY(mutex_);  // of the last launch
};

}  // namespace tf::proxy
