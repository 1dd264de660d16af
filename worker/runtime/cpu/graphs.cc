// SPDX-License-Identifier: Apache-2.0
// Runs graphs, and what their nodes do.
#include "worker/runtime/cpu/graphs.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "hipcore/newer/batch.h"
#include "transport/base/mutex.h"
#include "worker/runtime/cpu/backend.h"
#include "worker/runtime/cpu/copy.h"
#include "worker/runtime/cpu/event.h"
#include "worker/runtime/cpu/memset.h"
#include "worker/runtime/cpu/module.h"
#include "worker/runtime/cpu/value_operations.h"

namespace tf::cpu {
namespace {

// Null if its module was unloaded in the meantime.
std::shared_ptr<Function> function_of(const graph::KernelWork& work) {
  return Runtime::get().functions.find(work.resolved);
}

Grid grid_of(const graph::KernelWork& work) {
  Grid grid;
  std::copy_n(work.grid, 3, grid.blocks);
  std::copy_n(work.threads, 3, grid.threads);
  grid.dynamic_shared_bytes = work.shared_bytes;
  grid.cooperative = work.cooperative != 0;
  return grid;
}

Fill fill_of(const graph::FillWork& work) {
  Fill fill;
  fill.target = work.target;
  fill.value = work.value;
  fill.element_bytes = work.element_bytes;
  fill.width = work.width;
  fill.height = work.height;
  fill.pitch = work.pitch;
  return fill;
}

std::shared_ptr<Event> event_of(const graph::EventWork& work) {
  return Runtime::get().events.find(work.event);
}

using Body = std::function<hipError_t(const Device&)>;  // of the stream that launches

// Bodies run one after the other; then the event, if there is one, is recorded or waited for.
struct Step {
  std::vector<Body> bodies;
  std::shared_ptr<Event> event;
  bool record = false;
  std::vector<graph::CopyWork> copies;  // that the bodies make
};
struct Steps {
  Steps() = default;
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;
  ~Steps() {
    for (const auto& call : at_end) call();
  }

  std::vector<Step> list{1};
  // Called when neither the Program nor a launch needs them: on the stream's thread before the launch counts
  // as done, or on the program's in the call that drops them. No lock is held then.
  std::vector<std::function<void()>> at_end;
};

// On a failed device nothing runs any more.
hipError_t run(const Device& device, const Step& step) {
  for (const Body& body : step.bodies)
    if (const hipError_t status = device.run([&] { return body(device); })) return status;
  return hipSuccess;
}

template <typename Word>
void run_operation(const Device& device, const hipStreamBatchMemOpParams& operation, Word value) {
  auto* const word = static_cast<Word*>(value_address(operation));
  if (is_wait(operation))
    wait_for_value<Word>(device, word, value, operation.waitValue.flags, static_cast<Word>(~Word{0}));
  else
    write_value<Word>(word, value);
}

// A wait ends early when the device fails; then nothing follows it.
hipError_t run_batch(const Device& device, const graph::BatchWork& batch) {
  for (const hipStreamBatchMemOpParams& operation : batch.operations) {
    const auto& value = operation.waitValue;  // a write has it in the same place
    if (value_bytes(operation) == sizeof value.value)
      run_operation(device, operation, value.value);
    else
      run_operation(device, operation, value.value64);
    if (const hipError_t failed = device.failure()) return failed;
  }
  return hipSuccess;
}

// Each value is in memory that is known.
bool is_in_memory(const graph::BatchWork& batch) {
  return std::all_of(batch.operations.begin(), batch.operations.end(), [](const auto& operation) {
    return Runtime::get().memory.find(value_address(operation)).has_value();
  });
}

hipError_t add_body(const graph::SharedWork& work, Step& step) {
  std::vector<Body>& bodies = step.bodies;
  if (const auto* kernel = std::get_if<graph::KernelWork>(work.get())) {
    const auto function = function_of(*kernel);
    if (!function) return hipErrorInvalidHandle;
    if (kernel->block.size() != function->kernel().argument_bytes) return hipErrorInvalidValue;
    bodies.emplace_back([work, kernel, function, grid = grid_of(*kernel)](const Device&) {
      Device& device = Runtime::get().device(function->device());
      return run_kernel(device, function->kernel(), grid, kernel->block.data());
    });
  } else if (const auto* copy = std::get_if<graph::CopyWork>(work.get())) {
    step.copies.push_back(*copy);
    bodies.emplace_back([work, copy](const Device&) { return run_copy(*copy); });
  } else if (const auto* fill = std::get_if<graph::FillWork>(work.get())) {
    bodies.emplace_back([wish = fill_of(*fill)](const Device&) { return run_fill(wish); });
  } else if (const auto* host = std::get_if<graph::HostWork>(work.get())) {
    bodies.emplace_back([call = *host](const Device&) { return call.function(call.data), hipSuccess; });
  } else if (const auto* batch = std::get_if<graph::BatchWork>(work.get())) {
    bodies.emplace_back([work, batch](const Device& device) { return run_batch(device, *batch); });
  }
  return hipSuccess;
}

hipError_t make_steps(const graph::Plan& plan, std::shared_ptr<Steps>& made) {
  auto steps = std::make_shared<Steps>();
  for (const graph::PlanItem& item : plan) {
    if (const auto* event = std::get_if<graph::EventWork>(item.work.get())) {
      steps->list.back().event = event_of(*event);
      steps->list.back().record = event->record;
      if (!steps->list.back().event) return hipErrorInvalidHandle;
      steps->list.emplace_back();
    } else if (const hipError_t status = add_body(item.work, steps->list.back())) {
      return status;
    }
  }
  made = std::move(steps);
  return hipSuccess;
}

// One stream, in the order of the plan: the cores are shared by the blocks of each kernel anyway.
class Program final : public graph::Executable {
 public:
  explicit Program(std::shared_ptr<Steps> steps) : steps_(std::move(steps)) {}

  hipError_t launch(const graph::StreamRef& reference) override {
    Stream& stream = *reinterpret_cast<Stream*>(reference.id);  // the caller's, alive
    const MutexLock lock(mutex_);
    stream.submit_wait(last_);  // an executable graph does not overlap with itself
    if (has_bodies()) launched_ = steps_;
    for (const Step& step : steps_->list) {
      if (!step.bodies.empty()) {
        const Device& device = stream.device();
        stream.submit([&device, steps = steps_, &step] { return run(device, step); }, Where::kThread);
      }
      if (step.event && step.record) {
        if (step.event->device() != stream.device().ordinal()) return hipErrorInvalidHandle;
        step.event->record(stream);
      } else if (step.event) {
        step.event->hold(stream);
      }
    }
    last_ = stream.last();
    // Like every copy: the program may use pageable memory again when the call returns.
    if (!uses_pageable_memory()) return hipSuccess;
    last_.wait();
    return stream.device().failure();
  }

  // The tasks of the last launch, which end last, hold its steps. So do we until an update or our end.
  void when_done(std::function<void()> call) override {
    std::shared_ptr<Steps> last;
    {
      const MutexLock lock(mutex_);
      last = launched_.lock();
      if (last) last->at_end.push_back(std::move(call));
    }
    if (!last) call();
  }

  hipError_t update(const graph::Plan& plan) override {
    std::shared_ptr<Steps> steps;  // the old ones are destroyed after the lock
    if (const hipError_t status = make_steps(plan, steps)) return status;
    const MutexLock lock(mutex_);
    steps_.swap(steps);
    return hipSuccess;
  }

 private:
  bool has_bodies() const TF_REQUIRES(mutex_) {
    return std::any_of(steps_->list.begin(), steps_->list.end(),
                       [](const Step& step) { return !step.bodies.empty(); });
  }
  bool uses_pageable_memory() const TF_REQUIRES(mutex_) {
    return std::any_of(steps_->list.begin(), steps_->list.end(), [](const Step& step) {
      return std::any_of(step.copies.begin(), step.copies.end(), is_pageable);
    });
  }

  Mutex mutex_;
  std::shared_ptr<Steps> steps_ TF_GUARDED_BY(mutex_);
  std::weak_ptr<Steps> launched_ TF_GUARDED_BY(mutex_);  // of the last launch that had any to do
  Marker last_ TF_GUARDED_BY(mutex_);                    // the end of the last launch
};

}  // namespace

std::vector<graph::Argument> graph_arguments(const Kernel& kernel) {
  std::vector<graph::Argument> arguments;
  arguments.reserve(kernel.arguments.size());
  for (const KernelArgument& argument : kernel.arguments)
    arguments.push_back({argument.offset_bytes, argument.size_bytes});
  return arguments;
}

hipError_t Backend::describe_kernel(const void* named, graph::KernelFacts& facts) {
  if (const hipError_t status = require_device()) return status;
  Kernel function = find_function(static_cast<hipFunction_t>(const_cast<void*>(named)));
  if (!function)
    if (const hipError_t status = host_kernel(named, nullptr, function)) return status;
  facts.resolved = handle_of(function);
  facts.arguments = graph_arguments(function->kernel());
  facts.argument_bytes = function->kernel().argument_bytes;
  return hipSuccess;
}

hipError_t Backend::check_work(const graph::Work& work) {
  if (const auto* kernel = std::get_if<graph::KernelWork>(&work)) {
    const auto function = function_of(*kernel);
    if (!function) return hipErrorInvalidHandle;
    return check_shape(function->kernel(), grid_of(*kernel));
  }
  bool good = true;
  if (const auto* copy = std::get_if<graph::CopyWork>(&work)) good = within_memory(*copy) && kind_fits(*copy);
  if (const auto* fill = std::get_if<graph::FillWork>(&work)) good = fillable(fill_of(*fill));
  if (const auto* batch = std::get_if<graph::BatchWork>(&work)) good = is_in_memory(*batch);
  if (const auto* event = std::get_if<graph::EventWork>(&work)) good = event_of(*event) != nullptr;
  return good ? hipSuccess : hipErrorInvalidValue;
}

hipError_t Backend::instantiate(const graph::Plan& plan, std::shared_ptr<graph::Executable>& executable) {
  std::shared_ptr<Steps> steps;
  if (const hipError_t status = make_steps(plan, steps)) return status;
  executable = std::make_shared<Program>(std::move(steps));
  return hipSuccess;
}

}  // namespace tf::cpu
