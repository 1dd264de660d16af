// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime's Backend; worker/runtime/common/backend.h says what each function has to be. What is done
// in call() has the context of the thread's device current.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "hipcore/abi/pointer_answers.h"
#include "hipcore/array/textures.h"
#include "worker/runtime/common/compute_units.h"
#include "worker/runtime/common/fill.h"
#include "worker/runtime/common/launch.h"
#include "worker/runtime/common/link_type.h"
#include "worker/runtime/common/wait.h"
#include "worker/runtime/cuda/convert.h"
#include "worker/runtime/cuda/graphs.h"
#include "worker/runtime/cuda/runtime.h"
#include "worker/runtime/cuda/streams.h"
#include "worker/runtime/cuda/virtual_memory.h"

namespace tf::cuda {

using runtime::Wait;

struct Backend {
  // --- calls
  static constexpr char kName[] = "hip-cuda";
  static constexpr char kVerboseVariable[] = "HIP_CUDA_VERBOSE";

  static ThreadState& thread() { return thread_state(); }
  // What it costs a thread that is ready is one comparison.
  template <typename Body>
  static hipError_t call(Body&& body) {
    ThreadState& self = thread_state();
    if (!is_ready(self)) [[unlikely]] {
      if (const hipError_t error = Runtime::get().make_ready(self)) return error;
    }
    return std::forward<Body>(body)();
  }
  template <typename Body>
  static hipError_t call_on_host(Body&& body) {
    return std::forward<Body>(body)();
  }

  // --- devices and contexts
  static hipError_t status() { return Runtime::get().status(); }
  static hipError_t require_device() { return hipSuccess; }  // call() has seen to it
  static int device_count() { return Runtime::get().device_count(); }
  static void select_device(int ordinal) { cuda::select_device(thread_state(), ordinal); }
  static const hipDeviceProp_t& properties(int ordinal) { return Runtime::get().device(ordinal).properties; }
  static hipUUID uuid(int ordinal);
  static hipError_t attribute(int ordinal, hipDeviceAttribute_t attribute, int& value);
  static hipError_t p2p_attribute(int from, int to, hipDeviceP2PAttr attribute, int& value);
  static unsigned device_flags(int ordinal) {
    return Runtime::get().device(ordinal).flags.load(std::memory_order_relaxed);
  }
  static hipError_t set_device_flags(int ordinal, unsigned flags);
  static hipError_t synchronize_device();
  static hipError_t set_cache_config(hipFuncCache_t config);
  static hipError_t cache_config(hipFuncCache_t& config);
  static hipError_t limit(hipLimit_t limit, std::size_t& value);
  static hipError_t set_limit(hipLimit_t limit, std::size_t value);
  static hipError_t switch_profiler(bool on);
  static hipError_t reset_device(int ordinal) { return Runtime::get().reset(ordinal); }

  static hipError_t context(int ordinal, hipCtx_t& context) {
    return Runtime::get().context(ordinal, context);
  }
  static int ordinal_of(hipCtx_t context) { return Runtime::get().ordinal_of(context); }
  static bool has_context(int ordinal) {
    return Runtime::get().device(ordinal).context.load(std::memory_order_relaxed) != nullptr;
  }
  static hipError_t retain_context(int ordinal, hipCtx_t& context) {
    return Backend::context(ordinal, context);
  }
  static hipError_t reset_context(int ordinal) { return Runtime::get().reset(ordinal); }
  static hipError_t can_access_peer(int device, int peer, int& answer);
  static runtime::LinkType link_type(int first, int second);
  static hipError_t enable_peer(int peer);
  static hipError_t disable_peer(int peer);

  // --- streams
  using Stream = hipStream_t;

  static hipError_t find_stream(hipStream_t handle, Stream& stream) {
    stream = handle;
    if (!is_stream(handle)) return kUnknownStream;
    return LateWork::any() ? Runtime::get().late_work.order(handle) : hipSuccess;
  }
  static graph::StreamRef reference(Stream stream) { return cuda::reference(stream); }
  static graph::StreamRef short_reference(Stream stream) { return cuda::short_reference(stream); }

  // --- events
  using Event = hipEvent_t;

  static Event find_event(hipEvent_t handle);  // null: there is none
  static std::uint64_t reference(Event event) { return cuda::reference(event); }
  static hipError_t create_event(hipEvent_t& event, unsigned flags);
  static hipError_t destroy_event(hipEvent_t event);
  static hipError_t check_record(Event, Stream) { return hipSuccess; }
  static hipError_t record(Event event, Stream stream) { return check(cu().EventRecord(event, stream)); }
  static hipError_t query(Event event);
  static hipError_t synchronize(Event event);
  static hipError_t elapsed(hipEvent_t start, hipEvent_t stop, float& milliseconds);

  // --- work in stream order
  static hipError_t create_stream(hipStream_t& handle, unsigned flags, int priority,
                                  runtime::ComputeUnits units);
  static hipError_t destroy_stream(hipStream_t handle);
  static hipError_t priority_range(int& least, int& greatest);
  static hipError_t stream_flags(Stream stream, unsigned& flags);
  static hipError_t stream_priority(Stream stream, int& priority);
  static hipError_t stream_id(Stream stream, unsigned long long& id);
  static runtime::ComputeUnits compute_units(Stream stream);
  static hipError_t query(Stream stream);
  static hipError_t synchronize(Stream stream);
  static hipError_t follow_null(Stream stream);
  static hipError_t wait_event(Stream stream, Event event);
  static hipError_t add_callback(Stream stream, hipStream_t handle, hipStreamCallback_t callback, void* data);
  static hipError_t call_host(Stream stream, hipHostFn_t function, void* data);
  static hipError_t wait_value(Stream stream, std::uint32_t* word, std::uint32_t wanted, unsigned condition,
                               std::uint32_t mask);
  static hipError_t wait_value(Stream stream, std::uint64_t* word, std::uint64_t wanted, unsigned condition,
                               std::uint64_t mask);
  static hipError_t write_value(Stream stream, std::uint32_t* word, std::uint32_t value);
  static hipError_t write_value(Stream stream, std::uint64_t* word, std::uint64_t value);

  // --- memory
  static hipError_t allocate(void*& pointer, std::size_t bytes, unsigned flags);
  static hipError_t allocate_managed(void*& pointer, std::size_t bytes, unsigned flags);
  static hipError_t allocate_variable(void*& pointer, std::size_t bytes);
  static void release_variable(void* pointer, std::size_t bytes);
  static hipError_t allocate_pitched(void*& pointer, std::size_t& pitch, std::size_t width, std::size_t rows);
  static hipError_t allocate_host(void*& pointer, std::size_t bytes, unsigned flags);
  static hipError_t register_host(void* pointer, std::size_t bytes, unsigned flags);
  static hipError_t unregister_host(void* pointer);
  static hipError_t free(void* pointer);
  static hipError_t free_host(void* pointer);
  static hipError_t memory_info(std::size_t& free_bytes, std::size_t& total_bytes);
  static hipError_t address_range(void* pointer, void*& base, std::size_t& bytes);
  static hipError_t allocated_bytes(void* pointer, std::size_t& bytes);
  static hipError_t device_pointer(void* host, void*& device);
  static hipError_t host_flags(void* host, unsigned& flags);
  static bool pointer_facts(const void* pointer, abi::PointerFacts& facts);
  static hipError_t buffer_id(const void* pointer, std::uint32_t& id);
  // Of the whole allocation. hipErrorInvalidDevicePointer: there is none.
  static hipError_t set_synchronous(void* pointer, bool synchronous);

  // --- advice on memory
  static hipError_t prefetch(const void* pointer, std::size_t bytes, int device, Stream stream);
  static hipError_t advise(const void* pointer, std::size_t bytes, hipMemoryAdvise advice, int device);
  static hipError_t range_attribute(void* data, std::size_t data_bytes, hipMemRangeAttribute attribute,
                                    const void* pointer, std::size_t bytes);
  static hipError_t range_attributes(void** data, std::size_t* data_bytes, hipMemRangeAttribute* attributes,
                                     std::size_t count, const void* pointer, std::size_t bytes);

  // --- arrays, textures
  static hipError_t create_array(const array::Shape& shape, unsigned levels, bool mipmapped,
                                 std::vector<array::Place>& places);
  static hipError_t destroy_array(std::uint64_t base);
  static hipError_t create_texture(const array::TextureWish& wish, const array::Mipmaps& arrays,
                                   hipTextureObject_t& texture);
  static hipError_t destroy_texture(hipTextureObject_t texture);
  static hipError_t create_surface(const array::Mipmaps& arrays, hipSurfaceObject_t& surface);
  static hipError_t destroy_surface(hipSurfaceObject_t surface);

  // --- copies and fills
  static hipError_t copy(void* target, const void* source, std::size_t bytes, hipMemcpyKind kind,
                         Stream stream, Wait wait);
  static hipError_t copy_between_devices(void* target, int target_device, const void* source,
                                         int source_device, std::size_t bytes, Stream stream, Wait wait);
  static hipError_t copy_rows(const graph::CopyWork& box, Stream stream, Wait wait);
  static hipError_t copy_box(const graph::CopyWork& box, Stream stream, Wait wait);
  static hipError_t fill(const runtime::Fill& wish, Stream stream, Wait wait);

  // --- modules and functions
  using Kernel = hipFunction_t;
  using ProgramModule = hipModule_t;

  static hipError_t load_program(const void* image, int device, ProgramModule& module);
  static bool find_in_program(const ProgramModule& module, const char* name, Kernel& kernel);
  static hipError_t bind_in_program(const ProgramModule& module, const char* name, void* memory);
  static hipError_t variable_in_program(const ProgramModule& module, const char* name, void*& address,
                                        std::size_t& bytes);
  static void unload_program(const ProgramModule& module);
  static hipError_t load_module(hipModule_t& module, const void* image, unsigned count, hipJitOption* options,
                                void** values);
  static hipError_t unload_module(hipModule_t module);
  static hipError_t module_function(hipModule_t module, const char* name, hipFunction_t& function);
  static hipError_t module_function_count(hipModule_t module, unsigned& count);
  static hipError_t bind_in_module(hipModule_t module, const char* name, void* memory);
  static hipError_t module_variable(hipModule_t module, const char* name, void*& address, std::size_t& bytes);

  static Kernel find_function(hipFunction_t handle) { return handle; }
  static hipFunction_t handle_of(Kernel function) { return function; }
  static hipError_t host_kernel(const void* host, hipStream_t stream, Kernel& kernel);
  static hipError_t function_name(Kernel kernel, const char*& name);
  static hipError_t function_attribute(Kernel kernel, hipFunction_attribute attribute, int& value);
  static hipError_t function_attributes(Kernel kernel, hipFuncAttributes& attributes);
  static hipError_t set_function_attribute(Kernel kernel, hipFuncAttribute attribute, int value);
  static hipError_t set_function_cache(Kernel kernel, hipFuncCache_t config);
  static hipError_t active_blocks(Kernel kernel, int threads, std::size_t dynamic_bytes, unsigned flags,
                                  int& blocks);
  static hipError_t best_block(Kernel kernel, std::size_t dynamic_bytes, int limit, unsigned flags, int& grid,
                               int& block);

  // --- launches
  using PreparedLaunch = LaunchExtra;

  static hipError_t prepare_launch(Kernel kernel, const runtime::LaunchRequest& request, Stream stream,
                                   PreparedLaunch& prepared);
  static graph::Library::Verdict capture_launch(graph::Library& library, Kernel kernel,
                                                const runtime::LaunchRequest& request, Stream stream,
                                                const PreparedLaunch& prepared);
  static hipError_t launch(Kernel kernel, const runtime::LaunchRequest& request, Stream stream,
                           PreparedLaunch& prepared);

  // --- pools
  using Pool = hipMemPool_t;

  static Pool find_pool(hipMemPool_t handle);  // null: there is none
  static hipError_t allocate_async(void** pointer, std::size_t bytes, Stream stream);
  static hipError_t allocate_from_pool(void** pointer, std::size_t bytes, Pool pool, Stream stream);
  static hipError_t free_async(void* pointer, Stream stream);
  static hipError_t create_pool(hipMemPool_t& handle, const hipMemPoolProps& wish);
  static hipError_t share_pool(Pool pool, int& descriptor);
  static hipError_t open_pool(int descriptor, hipMemPool_t& pool);
  static hipError_t share_pool_memory(void* pointer, hipMemPoolPtrExportData& data);
  static hipError_t open_pool_memory(Pool pool, const hipMemPoolPtrExportData& data, void*& pointer);
  static hipError_t destroy_pool(hipMemPool_t handle);
  static hipError_t trim_pool(Pool pool, std::size_t keep_bytes);
  static hipError_t set_pool_attribute(Pool pool, hipMemPoolAttr attribute, void* value);
  static hipError_t pool_attribute(Pool pool, hipMemPoolAttr attribute, void* value);
  static hipError_t set_pool_access(Pool pool, std::span<const hipMemAccessDesc> wishes);
  static hipError_t pool_access(Pool pool, const hipMemLocation& location, hipMemAccessFlags& flags);
  static hipError_t default_pool(int device, hipMemPool_t& pool);
  static hipError_t current_pool(int device, hipMemPool_t& pool);
  static hipError_t set_current_pool(int device, Pool pool);

  static VirtualMemory& virtual_memory() { return cuda::virtual_memory(); }

  // --- sharing with other processes
  static hipError_t share_memory(void* pointer, hipIpcMemHandle_t& handle);
  static hipError_t open_memory(const hipIpcMemHandle_t& handle, void*& pointer);
  static hipError_t close_memory(void* pointer);
  static hipError_t share_event(hipEvent_t event, hipIpcEventHandle_t& handle);
  static hipError_t open_event(const hipIpcEventHandle_t& handle, hipEvent_t& event);

  // --- graphs
  static hipError_t describe_kernel(const void* named, graph::KernelFacts& facts);
  static hipError_t check_work(const graph::Work& work);
  static hipError_t instantiate(const graph::Plan& plan, std::shared_ptr<graph::Executable>& executable);
};

}  // namespace tf::cuda

namespace tf::runtime {
using cuda::Backend;
}
