// SPDX-License-Identifier: Apache-2.0
// The CPU runtime's Backend; worker/runtime/common/backend.h says what each function has to be.
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
#include "worker/runtime/cpu/clock.h"
#include "worker/runtime/cpu/event.h"
#include "worker/runtime/cpu/graphs.h"
#include "worker/runtime/cpu/launch.h"
#include "worker/runtime/cpu/runtime.h"
#include "worker/runtime/cpu/virtual_memory.h"

namespace tf::cpu {

using runtime::Wait;

struct Backend {
  // --- calls
  static constexpr char kName[] = "hip-cpu";
  static constexpr char kVerboseVariable[] = "HIP_CPU_VERBOSE";

  static ThreadState& thread() { return thread_state(); }
  // Charges the configured cost.
  template <typename Body>
  static hipError_t call(Body&& body) {
    if (!Runtime::is_usable()) return hipErrorNotInitialized;
    const std::uint64_t cost_ns = Runtime::get().settings().call_ns;
    const std::uint64_t until = cost_ns ? now_ns() + cost_ns : 0;
    const hipError_t status = std::forward<Body>(body)();
    if (cost_ns) spin_until(until);
    return status;
  }
  template <typename Body>
  static hipError_t call_on_host(Body&& body) {
    return call(std::forward<Body>(body));
  }

  // --- devices and contexts
  static hipError_t status() { return device_count() == 0 ? hipErrorNoDevice : hipSuccess; }
  static hipError_t require_device() { return status(); }
  static int device_count() { return Runtime::get().device_count(); }
  static void select_device(int ordinal) { thread_state().device = ordinal; }
  static const hipDeviceProp_t& properties(int ordinal) {
    return Runtime::get().device(ordinal).properties();
  }
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
  // HIP's answer of a runtime that has none.
  static hipError_t switch_profiler(bool) { return hipErrorNotSupported; }
  static hipError_t reset_device(int ordinal);

  static hipError_t context(int ordinal, hipCtx_t& context);
  static int ordinal_of(hipCtx_t context);
  static bool has_context(int ordinal);
  static hipError_t retain_context(int ordinal, hipCtx_t& context);
  static hipError_t reset_context(int ordinal);
  static hipError_t can_access_peer(int device, int peer, int& answer);
  static runtime::LinkType link_type(int first, int second);
  static hipError_t enable_peer(int peer);
  static hipError_t disable_peer(int peer);

  // --- streams
  using Stream = Found<cpu::Stream>;

  static hipError_t find_stream(hipStream_t handle, Stream& stream) {
    return cpu::find_stream(handle, stream);
  }
  static graph::StreamRef reference(const Stream& stream) { return cpu::reference(*stream); }
  static graph::StreamRef short_reference(const Stream& stream) { return cpu::reference(*stream); }

  // --- events
  using Event = Found<cpu::Event>;

  static Event find_event(hipEvent_t handle) { return cpu::find_event(handle); }
  static std::uint64_t reference(const Event& event) { return cpu::reference(*event); }
  static hipError_t create_event(hipEvent_t& event, unsigned flags);
  static hipError_t destroy_event(hipEvent_t event);
  static hipError_t check_record(const Event& event, const Stream& stream) {
    return event->device() == stream->device().ordinal() ? hipSuccess : hipErrorInvalidHandle;
  }
  static hipError_t record(const Event& event, const Stream& stream) {
    event->record(*stream);
    return hipSuccess;
  }
  static hipError_t query(const Event& event);
  static hipError_t synchronize(const Event& event);
  static hipError_t elapsed(hipEvent_t start, hipEvent_t stop, float& milliseconds);

  // --- work in stream order
  static hipError_t create_stream(hipStream_t& handle, unsigned flags, int priority,
                                  runtime::ComputeUnits units);
  static hipError_t destroy_stream(hipStream_t handle);
  static hipError_t priority_range(int& least, int& greatest);
  static hipError_t stream_flags(const Stream& stream, unsigned& flags);
  static hipError_t stream_priority(const Stream& stream, int& priority);
  static hipError_t stream_id(const Stream& stream, unsigned long long& id);
  static runtime::ComputeUnits compute_units(const Stream& stream);
  static hipError_t query(const Stream& stream);
  static hipError_t synchronize(const Stream& stream);
  static hipError_t follow_null(const Stream& stream);
  static hipError_t wait_event(const Stream& stream, const Event& event);
  static hipError_t add_callback(const Stream& stream, hipStream_t handle, hipStreamCallback_t callback,
                                 void* data);
  static hipError_t call_host(const Stream& stream, hipHostFn_t function, void* data);
  static hipError_t wait_value(const Stream& stream, std::uint32_t* word, std::uint32_t wanted,
                               unsigned condition, std::uint32_t mask);
  static hipError_t wait_value(const Stream& stream, std::uint64_t* word, std::uint64_t wanted,
                               unsigned condition, std::uint64_t mask);
  static hipError_t write_value(const Stream& stream, std::uint32_t* word, std::uint32_t value);
  static hipError_t write_value(const Stream& stream, std::uint64_t* word, std::uint64_t value);

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
  static hipError_t prefetch(const void* pointer, std::size_t bytes, int device, const Stream& stream);
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
                         const Stream& stream, Wait wait);
  static hipError_t copy_between_devices(void* target, int target_device, const void* source,
                                         int source_device, std::size_t bytes, const Stream& stream,
                                         Wait wait);
  static hipError_t copy_rows(const graph::CopyWork& box, const Stream& stream, Wait wait);
  static hipError_t copy_box(const graph::CopyWork& box, const Stream& stream, Wait wait);
  static hipError_t fill(const runtime::Fill& wish, const Stream& stream, Wait wait);

  // --- modules and functions
  using Kernel = Found<Function>;
  using ProgramModule = std::shared_ptr<Module>;

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

  static Kernel find_function(hipFunction_t handle) { return cpu::find_function(handle); }
  static hipFunction_t handle_of(const Kernel& function) {
    return reinterpret_cast<hipFunction_t>(&*function);
  }
  static hipError_t host_kernel(const void* host, hipStream_t stream, Kernel& kernel);
  static hipError_t function_name(const Kernel& kernel, const char*& name);
  static hipError_t function_attribute(const Kernel& kernel, hipFunction_attribute attribute, int& value);
  static hipError_t function_attributes(const Kernel& kernel, hipFuncAttributes& attributes);
  static hipError_t set_function_attribute(const Kernel& kernel, hipFuncAttribute attribute, int value);
  static hipError_t set_function_cache(const Kernel& kernel, hipFuncCache_t config);
  static hipError_t active_blocks(const Kernel& kernel, int threads, std::size_t dynamic_bytes,
                                  unsigned flags, int& blocks);
  static hipError_t best_block(const Kernel& kernel, std::size_t dynamic_bytes, int limit, unsigned flags,
                               int& grid, int& block);

  // --- launches
  using PreparedLaunch = cpu::PreparedLaunch;

  static hipError_t prepare_launch(const Kernel& kernel, const runtime::LaunchRequest& request,
                                   const Stream& stream, PreparedLaunch& prepared);
  static graph::Library::Verdict capture_launch(graph::Library& library, const Kernel& kernel,
                                                const runtime::LaunchRequest& request, const Stream& stream,
                                                const PreparedLaunch& prepared);
  static hipError_t launch(const Kernel& kernel, const runtime::LaunchRequest& request, const Stream& stream,
                           PreparedLaunch& prepared);

  // --- pools
  using Pool = Found<cpu::Pool>;

  static Pool find_pool(hipMemPool_t handle);
  static hipError_t allocate_async(void** pointer, std::size_t bytes, const Stream& stream);
  static hipError_t allocate_from_pool(void** pointer, std::size_t bytes, const Pool& pool,
                                       const Stream& stream);
  static hipError_t free_async(void* pointer, const Stream& stream);
  static hipError_t create_pool(hipMemPool_t& handle, const hipMemPoolProps& wish);
  static hipError_t share_pool(const Pool& pool, int& descriptor);
  static hipError_t open_pool(int descriptor, hipMemPool_t& pool);
  static hipError_t share_pool_memory(void* pointer, hipMemPoolPtrExportData& data);
  static hipError_t open_pool_memory(const Pool& pool, const hipMemPoolPtrExportData& data, void*& pointer);
  static hipError_t destroy_pool(hipMemPool_t handle);
  static hipError_t trim_pool(const Pool& pool, std::size_t keep_bytes);
  static hipError_t set_pool_attribute(const Pool& pool, hipMemPoolAttr attribute, void* value);
  static hipError_t pool_attribute(const Pool& pool, hipMemPoolAttr attribute, void* value);
  static hipError_t set_pool_access(const Pool& pool, std::span<const hipMemAccessDesc> wishes);
  static hipError_t pool_access(const Pool& pool, const hipMemLocation& location, hipMemAccessFlags& flags);
  static hipError_t default_pool(int device, hipMemPool_t& pool);
  static hipError_t current_pool(int device, hipMemPool_t& pool);
  static hipError_t set_current_pool(int device, const Pool& pool);

  static VirtualMemory& virtual_memory() { return Runtime::get().virtual_memory(); }

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

}  // namespace tf::cpu

namespace tf::runtime {
using cpu::Backend;
}
