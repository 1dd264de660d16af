// SPDX-License-Identifier: Apache-2.0
// Launches: checks the shape at the call, copies the arguments, and runs the grid in stream order.
#include "worker/runtime/cpu/launch.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "worker/runtime/cpu/backend.h"
#include "worker/runtime/cpu/module.h"

namespace tf::cpu {
namespace {

constexpr std::size_t kMaxArgument_bytes = 64 << 10;

// `extra` is a list {POINTER, p, SIZE, &n, END}, in any order.
hipError_t read_extra(void** extra, const void*& bytes, std::size_t& size) {
  bytes = nullptr;
  const std::size_t* given_size = nullptr;
  for (std::size_t i = 0; i < 8 && extra[i] != HIP_LAUNCH_PARAM_END; i += 2) {
    if (extra[i] == HIP_LAUNCH_PARAM_BUFFER_POINTER)
      bytes = extra[i + 1];
    else if (extra[i] == HIP_LAUNCH_PARAM_BUFFER_SIZE)
      given_size = static_cast<const std::size_t*>(extra[i + 1]);
    else
      return hipErrorInvalidValue;
  }
  if (!given_size) return hipErrorInvalidValue;
  size = *given_size;
  return bytes || size == 0 ? hipSuccess : hipErrorInvalidValue;
}

hipError_t pack(const Kernel& kernel, const runtime::LaunchRequest& request, Arguments& packed) {
  if (kernel.argument_bytes > kMaxArgument_bytes) return hipErrorInvalidImage;
  std::byte* const target = packed.make(kernel.argument_bytes);
  if (!target) return hipErrorOutOfMemory;
  if (request.extra) {
    const void* bytes = nullptr;
    std::size_t size = 0;
    if (const hipError_t status = read_extra(request.extra, bytes, size)) return status;
    if (size > kernel.argument_bytes) size = kernel.argument_bytes;
    if (size > 0) std::memcpy(target, bytes, size);
    return hipSuccess;
  }
  if (!request.arguments) return kernel.arguments.empty() ? hipSuccess : hipErrorInvalidValue;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const KernelArgument& argument = kernel.arguments[i];
    if (!request.arguments[i]) return hipErrorInvalidValue;
    std::memcpy(target + argument.offset_bytes, request.arguments[i], argument.size_bytes);
  }
  return hipSuccess;
}

Grid grid_of(const runtime::LaunchRequest& request) {
  return {{request.blocks.x, request.blocks.y, request.blocks.z},
          {request.threads.x, request.threads.y, request.threads.z},
          static_cast<std::uint32_t>(request.shared_bytes),
          request.cooperative};
}

}  // namespace

hipError_t check_shape(const Kernel& kernel, const Grid& grid) {
  std::uint64_t blocks = 1;
  std::uint64_t threads = 1;
  for (int axis = 0; axis < 3; ++axis) {
    if (grid.blocks[axis] == 0 || grid.threads[axis] == 0) return hipErrorInvalidConfiguration;
    if (grid.threads[axis] > kMaxThreadsPerBlock) return hipErrorInvalidConfiguration;
    // Like on a GPU, the launch counts threads in 32 bits along each axis.
    if (std::uint64_t{grid.blocks[axis]} * grid.threads[axis] > UINT32_MAX)
      return hipErrorInvalidConfiguration;
    if (__builtin_mul_overflow(blocks, std::uint64_t{grid.blocks[axis]}, &blocks))
      return hipErrorInvalidConfiguration;
    threads *= grid.threads[axis];
  }
  if (threads > kMaxThreadsPerBlock) return hipErrorInvalidConfiguration;
  if (threads > kernel.max_threads_per_block) return hipErrorLaunchFailure;
  if (std::uint64_t{grid.dynamic_shared_bytes} + kernel.static_shared_bytes > kMaxSharedBytes)
    return hipErrorInvalidValue;
  if (grid.cooperative && blocks > max_cooperative_blocks(static_cast<std::uint32_t>(threads)))
    return hipErrorCooperativeLaunchTooLarge;
  return hipSuccess;
}

hipError_t Backend::prepare_launch(const Kernel& function, const runtime::LaunchRequest& request,
                                   const Stream& stream, PreparedLaunch& prepared) {
  if (stream->device().ordinal() != function->device()) return hipErrorInvalidDevice;
  prepared.grid = grid_of(request);
  if (const hipError_t status = check_shape(function->kernel(), prepared.grid)) return status;
  return pack(function->kernel(), request, prepared.arguments);
}

graph::Library::Verdict Backend::capture_launch(graph::Library& library, const Kernel& function,
                                                const runtime::LaunchRequest& request, const Stream& stream,
                                                const PreparedLaunch& prepared) {
  const auto& kernel = function->kernel();
  graph::KernelWork work;
  work.function = request.named;
  work.resolved = reinterpret_cast<hipFunction_t>(&*function);
  std::copy_n(prepared.grid.blocks, 3, work.grid);
  std::copy_n(prepared.grid.threads, 3, work.threads);
  work.shared_bytes = prepared.grid.dynamic_shared_bytes;
  work.cooperative = prepared.grid.cooperative;
  const auto* bytes = static_cast<const std::byte*>(prepared.arguments.data());
  work.block.assign(bytes, bytes + kernel.argument_bytes);
  work.arguments = graph_arguments(kernel);
  return library.capture(reference(stream), std::move(work));
}

hipError_t Backend::launch(const Kernel& function, const runtime::LaunchRequest&, const Stream& stream,
                           PreparedLaunch& prepared) {
  stream->submit(
      [&device = stream->device(), &kernel = function->kernel(), launch = std::move(prepared)] {
        return run_kernel(device, kernel, launch.grid, launch.arguments.data());
      },
      Where::kThread);
  return hipSuccess;
}

}  // namespace tf::cpu
