// SPDX-License-Identifier: Apache-2.0
// Launches: the shape is checked at the call, the arguments are taken along, the grid runs in stream order.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "worker/runtime/cpu/api.h"
#include "worker/runtime/cpu/event.h"
#include "worker/runtime/cpu/graphs.h"
#include "worker/runtime/cpu/module.h"
#include "worker/runtime/cpu/programs.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {
namespace {

constexpr std::size_t kMaxArgument_bytes = 64 << 10;

struct alignas(16) ArgumentLine {
  std::byte bytes[16];
};

// The argument block on its way to the kernel: small ones ride inside the command, larger ones in a block.
class Arguments {
 public:
  // Null when there is no memory.
  std::byte* make(std::size_t bytes) {
    if (bytes <= sizeof small_) return small_.data()->bytes;
    large_.reset(new (std::nothrow) ArgumentLine[(bytes + 15) / 16]());
    return large_ ? large_.get()->bytes : nullptr;
  }
  const void* data() const { return large_ ? static_cast<const void*>(large_.get()) : small_.data(); }

 private:
  std::array<ArgumentLine, 3> small_{};
  std::unique_ptr<ArgumentLine[]> large_;
};

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

hipError_t pack(const Kernel& kernel, const LaunchRequest& request, Arguments& packed) {
  if (request.arguments && request.extra) return hipErrorInvalidValue;
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

// Takes the launch into a capture, if the stream is being captured.
graph::Library::Verdict capture(graph::Library& graphs, const Stream& stream, const Function& function,
                                const LaunchRequest& request, const void* arguments) {
  const Kernel& kernel = function.kernel();
  graph::KernelWork work;
  work.function = request.named;
  work.resolved = reinterpret_cast<hipFunction_t>(const_cast<Function*>(&function));
  std::copy_n(request.grid.blocks, 3, work.grid);
  std::copy_n(request.grid.threads, 3, work.threads);
  work.shared_bytes = request.grid.dynamic_shared_bytes;
  work.cooperative = request.grid.cooperative;
  const auto* bytes = static_cast<const std::byte*>(arguments);
  work.block.assign(bytes, bytes + kernel.argument_bytes);
  work.arguments = graph_arguments(kernel);
  return graphs.capture(reference(stream), std::move(work));
}

hipError_t record_around(hipEvent_t handle, Stream& stream) {
  return handle ? record_event(handle, stream) : hipSuccess;
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

hipError_t launch(const Function& function, const LaunchRequest& request) {
  const Kernel& kernel = function.kernel();
  Found<Stream> stream;
  if (const hipError_t status = find_stream(request.stream, stream)) return status;
  if (stream->device().ordinal() != function.device()) return hipErrorInvalidDevice;
  if (const hipError_t status = check_shape(kernel, request.grid)) return status;
  Arguments packed;
  if (const hipError_t status = pack(kernel, request, packed)) return status;
  if (const hipError_t status = record_around(request.start, *stream)) return status;
  if (graph::Library* graphs = capturing()) {
    const auto verdict = capture(*graphs, *stream, function, request, packed.data());
    if (verdict) return *verdict != hipSuccess ? *verdict : record_around(request.stop, *stream);
  }
  stream->submit(
      [&device = stream->device(), &kernel, grid = request.grid, arguments = std::move(packed)] {
        return run_kernel(device, kernel, grid, arguments.data());
      },
      Where::kThread);
  return record_around(request.stop, *stream);
}

bool set_grid(Grid& grid, const dim3& blocks, const dim3& threads, std::size_t shared_bytes) {
  if (shared_bytes > UINT32_MAX) return false;
  grid.blocks[0] = blocks.x;
  grid.blocks[1] = blocks.y;
  grid.blocks[2] = blocks.z;
  grid.threads[0] = threads.x;
  grid.threads[1] = threads.y;
  grid.threads[2] = threads.z;
  grid.dynamic_shared_bytes = static_cast<std::uint32_t>(shared_bytes);
  return true;
}

namespace {

hipError_t launch_handle(hipFunction_t handle, LaunchRequest& request) {
  const Found<Function> function = find_function(handle);
  request.named = handle;
  return function ? launch(*function, request) : hipErrorInvalidHandle;
}

// `global` counts threads, not blocks; the last block may not be partial here.
hipError_t launch_global(hipFunction_t handle, const dim3& global, const dim3& local,
                         std::size_t shared_bytes, LaunchRequest request) {
  if (local.x == 0 || local.y == 0 || local.z == 0) return hipErrorInvalidConfiguration;
  if (global.x % local.x || global.y % local.y || global.z % local.z) return hipErrorInvalidConfiguration;
  const dim3 blocks(global.x / local.x, global.y / local.y, global.z / local.z);
  if (!set_grid(request.grid, blocks, local, shared_bytes)) return hipErrorInvalidValue;
  return launch_handle(handle, request);
}

hipError_t launch_host(const void* host_function, const dim3& blocks, const dim3& threads, void** arguments,
                       std::size_t shared_bytes, LaunchRequest request) {
  if (!host_function) return hipErrorInvalidDeviceFunction;
  std::shared_ptr<Function> function;
  if (const hipError_t status = Runtime::get().programs().function(host_function, request.stream, function))
    return status;
  if (!set_grid(request.grid, blocks, threads, shared_bytes)) return hipErrorInvalidValue;
  request.arguments = arguments;
  request.named = host_function;
  return launch(*function, request);
}

}  // namespace
}  // namespace tf::cpu

using namespace tf::cpu;

extern "C" {

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                 hipStream_t stream, void** arguments, void** extra) {
  return api([&] {
    LaunchRequest request;
    request.grid = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, false};
    request.arguments = arguments;
    request.extra = extra;
    request.stream = stream;
    return launch_handle(function, request);
  });
}

TF_CPU_EXPORT hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned grid_x,
                                                          unsigned grid_y, unsigned grid_z, unsigned block_x,
                                                          unsigned block_y, unsigned block_z,
                                                          unsigned shared_bytes, hipStream_t stream,
                                                          void** arguments) {
  return api([&] {
    LaunchRequest request;
    request.grid = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, true};
    request.arguments = arguments;
    request.stream = stream;
    return launch_handle(function, request);
  });
}

hipError_t hipLaunchKernel(const void* function, dim3 blocks, dim3 threads, void** arguments,
                           size_t shared_bytes, hipStream_t stream) {
  return api([&] {
    LaunchRequest request;
    request.stream = stream;
    return launch_host(function, blocks, threads, arguments, shared_bytes, request);
  });
}

hipError_t hipExtLaunchKernel(const void* function, dim3 blocks, dim3 threads, void** arguments,
                              size_t shared_bytes, hipStream_t stream, hipEvent_t start, hipEvent_t stop,
                              int) {
  return api([&] {
    LaunchRequest request;
    request.stream = stream;
    request.start = start;
    request.stop = stop;
    return launch_host(function, blocks, threads, arguments, shared_bytes, request);
  });
}

hipError_t hipLaunchCooperativeKernel(const void* function, dim3 blocks, dim3 threads, void** arguments,
                                      unsigned shared_bytes, hipStream_t stream) {
  return api([&] {
    LaunchRequest request;
    request.stream = stream;
    request.grid.cooperative = true;
    return launch_host(function, blocks, threads, arguments, shared_bytes, request);
  });
}

}  // extern "C"

// C++ linkage, as in hip_ext.h.
TF_CPU_EXPORT hipError_t hipExtModuleLaunchKernel(hipFunction_t function, uint32_t global_x,
                                                  uint32_t global_y, uint32_t global_z, uint32_t local_x,
                                                  uint32_t local_y, uint32_t local_z, size_t shared_bytes,
                                                  hipStream_t stream, void** arguments, void** extra,
                                                  hipEvent_t start, hipEvent_t stop, uint32_t) {
  return api([&] {
    LaunchRequest request;
    request.arguments = arguments;
    request.extra = extra;
    request.stream = stream;
    request.start = start;
    request.stop = stop;
    return launch_global(function, dim3(global_x, global_y, global_z), dim3(local_x, local_y, local_z),
                         shared_bytes, request);
  });
}

TF_CPU_EXPORT hipError_t hipHccModuleLaunchKernel(hipFunction_t function, uint32_t global_x,
                                                  uint32_t global_y, uint32_t global_z, uint32_t local_x,
                                                  uint32_t local_y, uint32_t local_z, size_t shared_bytes,
                                                  hipStream_t stream, void** arguments, void** extra,
                                                  hipEvent_t start, hipEvent_t stop) {
  return hipExtModuleLaunchKernel(function, global_x, global_y, global_z, local_x, local_y, local_z,
                                  shared_bytes, stream, arguments, extra, start, stop, 0);
}
