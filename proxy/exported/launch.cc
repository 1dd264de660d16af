// SPDX-License-Identifier: Apache-2.0
// Kernel launches: shapes are checked and arguments packed here, then one message is posted.
#include "proxy/exported/launch.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "hipcore/abi/rules.h"
#include "hipcore/launch/module_shape.h"
#include "hipcore/wire/launch_flags.h"
#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"
#include "proxy/graphs/graphs.h"

namespace tf::proxy {

using protocol::HandleKind;

namespace {

hipError_t pack(const KernelLayout& layout, const Launch& launch, PackedArguments& packed) {
  if (launch.arguments != nullptr && launch.extra != nullptr) return hipErrorInvalidValue;
  if (launch.extra != nullptr) return packed.pack_extra(layout, launch.extra);
  return packed.pack(layout, launch.arguments);
}

// If the stream is being captured, adds the launch to the capture. REQUIRES: client.graphs().capturing()
Graphs::Verdict capture(Client& client, int device, const Launch& launch, const KernelLayout& layout,
                        const protocol::LaunchRequest& request, std::span<const std::byte> arguments) {
  graph::Library& graphs = client.graphs().library();
  const graph::StreamRef stream = client.graphs().reference(device, request.stream);
  Graphs::Verdict verdict;
  if (request.start_event != 0) verdict = graphs.capture_record(stream, request.start_event);
  if (verdict.value_or(hipSuccess) != hipSuccess) return verdict;
  if (launch.partial) return graphs.refuse(stream);
  graph::KernelWork work;
  work.function = launch.named;
  work.resolved = static_cast<hipFunction_t>(to_pointer(protocol::Handle(request.function)));
  std::copy_n(request.grid, 3, work.grid);
  std::copy_n(request.block, 3, work.threads);
  work.shared_bytes = request.shared_bytes;
  work.cooperative = launch.cooperative;
  work.block.assign(arguments.begin(), arguments.end());
  work.arguments = graph_arguments(layout);
  verdict = graphs.capture(stream, std::move(work));
  if (verdict == Graphs::Verdict(hipSuccess) && request.stop_event != 0)
    return graphs.capture_record(stream, request.stop_event);
  return verdict;
}

// REQUIRES: call.connected()
hipError_t launch(ApiCall& call, std::uint64_t function, const Launch& launch) {
  Client& client = call.client();
  const FunctionFacts* const facts = client.modules().borrow_facts(function);
  if (facts == nullptr) return call.finish(hipErrorInvalidHandle);
  protocol::LaunchRequest request{};
  request.function = function;
  if (!call.translate(HandleKind::kStream, launch.stream, request.stream)) return call.finish();
  if (launch.start != nullptr && !call.translate(HandleKind::kEvent, launch.start, request.start_event))
    return call.finish();
  if (launch.stop != nullptr && !call.translate(HandleKind::kEvent, launch.stop, request.stop_event))
    return call.finish();
  if (client.streams().device_of(call.device(), request.stream) != facts->device)
    return call.finish(hipErrorInvalidDevice);
  const auto& device = client.snapshot().devices[static_cast<std::size_t>(facts->device)].properties;
  hipError_t error = check_shape(device, *facts->layout, launch.shape);
  PackedArguments packed;
  if (error == hipSuccess) error = pack(*facts->layout, launch, packed);
  for (std::uint64_t event : {request.start_event, request.stop_event}) {
    if (error == hipSuccess && event != 0 &&
        !client.streams().may_record(event, call.device(), request.stream))
      error = hipErrorInvalidHandle;
  }
  if (error != hipSuccess) return call.finish(error);
  std::copy_n(launch.partial ? launch.threads : launch.shape.grid, 3, request.grid);
  std::copy_n(launch.shape.block, 3, request.block);
  request.shared_bytes = static_cast<std::uint32_t>(launch.shape.shared_bytes);
  request.flags = (launch.cooperative ? protocol::kLaunchCooperative : 0) |
                  (launch.partial ? protocol::kLaunchThreads : 0);
  if (client.graphs().capturing()) {
    const auto verdict = capture(client, call.device(), launch, *facts->layout, request, packed.bytes());
    if (verdict) return call.finish(*verdict);
  }
  // Whether all blocks fit on the device at once, or the last one may be smaller, is the runtime's to say,
  // and natively it says so at once.
  error = launch.cooperative || launch.partial
              ? client.connection().post_and_hear(facts->device, request, packed.bytes())
              : client.connection().post(facts->device, request, packed.bytes());
  if (facts->layout->can_print) client.streams().output().started();
  if (error != hipSuccess) return call.finish(error);  // nothing was recorded
  if (request.start_event != 0)
    client.streams().note_recording(request.start_event, facts->device, request.stream);
  if (request.stop_event != 0)
    client.streams().note_recording(request.stop_event, facts->device, request.stream);
  return call.finish(hipSuccess);
}

hipError_t launch_host_function(ApiCall& call, const void* host_function, Launch& what) {
  if (host_function == nullptr) return call.finish(hipErrorInvalidDeviceFunction);
  if (!call.connected()) return call.finish();
  return launch_on(call, call.device(), host_function, what);
}

// A function that does not exist is refused first.
hipError_t launch_of_module(ApiCall& call, hipFunction_t function, Launch& what, bool counts_blocks = false) {
  hipError_t error = hipdata::check_module_shape(what.shape.grid, what.shape.block);
  if (error == hipSuccess && counts_blocks)
    error = hipdata::check_module_blocks(abi::kRules.major, what.shape.grid, what.shape.block);
  if (error != hipSuccess && call.client().modules().borrow_facts(to_raw(function)) != nullptr)
    return call.finish(error);
  return launch_function(call, function, what);
}

}  // namespace

hipError_t launch_function(ApiCall& call, hipFunction_t function, Launch& what) {
  what.named = function;
  return launch(call, to_raw(function), what);
}

hipError_t launch_on(ApiCall& call, int device, const void* host_function, Launch& what) {
  std::uint64_t function = 0;
  hipError_t error = call.client().modules().registered_function(device, host_function, function);
  if (error == hipSuccess && !what.cooperative)
    error = hipdata::check_stub_shape(abi::kRules.major, what.shape.grid, what.shape.block);
  if (error != hipSuccess) return call.finish(error);
  what.named = host_function;
  return launch(call, function, what);
}

}  // namespace tf::proxy

namespace tf::proxy::custom {

hipError_t hipLaunchKernel(ApiCall& call, const void* function, dim3 grid, dim3 block, void** arguments,
                           size_t shared_bytes, hipStream_t stream) {
  Launch what;
  set_shape(what.shape, grid, block, shared_bytes);
  what.stream = stream;
  what.arguments = arguments;
  return launch_host_function(call, function, what);
}

hipError_t hipExtLaunchKernel(ApiCall& call, const void* function, dim3 grid, dim3 block, void** arguments,
                              size_t shared_bytes, hipStream_t stream, hipEvent_t start_event,
                              hipEvent_t stop_event, int) {
  Launch what;
  set_shape(what.shape, grid, block, shared_bytes);
  what.stream = stream;
  what.arguments = arguments;
  what.start = start_event;
  what.stop = stop_event;
  return launch_host_function(call, function, what);
}

hipError_t hipLaunchCooperativeKernel(ApiCall& call, const void* function, dim3 grid, dim3 block,
                                      void** arguments, unsigned int shared_bytes, hipStream_t stream) {
  Launch what;
  set_shape(what.shape, grid, block, shared_bytes);
  what.stream = stream;
  what.arguments = arguments;
  what.cooperative = true;
  return launch_host_function(call, function, what);
}

hipError_t hipModuleLaunchKernel(ApiCall& call, hipFunction_t function, unsigned int grid_x,
                                 unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
                                 unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
                                 hipStream_t stream, void** arguments, void** extra) {
  if (!call.connected()) return call.finish();
  Launch what;
  what.shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes};
  what.stream = stream;
  what.arguments = arguments;
  what.extra = extra;
  return launch_of_module(call, function, what, true);
}

hipError_t hipModuleLaunchCooperativeKernel(ApiCall& call, hipFunction_t function, unsigned int grid_x,
                                            unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
                                            unsigned int block_y, unsigned int block_z,
                                            unsigned int shared_bytes, hipStream_t stream, void** arguments) {
  if (!call.connected()) return call.finish();
  Launch what;
  what.shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes};
  what.stream = stream;
  what.arguments = arguments;
  what.cooperative = true;
  return launch_of_module(call, function, what);
}

hipError_t hipExtModuleLaunchKernel(ApiCall& call, hipFunction_t function, uint32_t global_x,
                                    uint32_t global_y, uint32_t global_z, uint32_t local_x, uint32_t local_y,
                                    uint32_t local_z, size_t shared_bytes, hipStream_t stream,
                                    void** arguments, void** extra, hipEvent_t start_event,
                                    hipEvent_t stop_event, uint32_t) {
  if (!call.connected()) return call.finish();
  Launch what;
  what.shape = {{1, 1, 1}, {local_x, local_y, local_z}, shared_bytes};
  const std::uint32_t threads[3] = {global_x, global_y, global_z};
  what.partial = !hipdata::whole_blocks(threads, what.shape.block, what.shape.grid);
  std::copy_n(threads, 3, what.threads);
  if (std::ranges::find(what.shape.block, 0U) != std::end(what.shape.block))
    return call.finish(hipErrorInvalidConfiguration);
  what.stream = stream;
  what.arguments = arguments;
  what.extra = extra;
  what.start = start_event;
  what.stop = stop_event;
  return launch_of_module(call, function, what);
}

hipError_t hipHccModuleLaunchKernel(ApiCall& call, hipFunction_t function, uint32_t global_x,
                                    uint32_t global_y, uint32_t global_z, uint32_t local_x, uint32_t local_y,
                                    uint32_t local_z, size_t shared_bytes, hipStream_t stream,
                                    void** arguments, void** extra, hipEvent_t start_event,
                                    hipEvent_t stop_event) {
  return custom::hipExtModuleLaunchKernel(call, function, global_x, global_y, global_z, local_x, local_y,
                                          local_z, shared_bytes, stream, arguments, extra, start_event,
                                          stop_event, 0);
}

}  // namespace tf::proxy::custom
