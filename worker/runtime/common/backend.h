// SPDX-License-Identifier: Apache-2.0
// Backend: what the front, the files of this folder, needs of the runtime that it is compiled into.
//
// The front has the exported functions that our runtimes have in common. It checks arguments, keeps last
// errors and decides about captures. Each runtime compiles it (front.cmake) with its own struct Backend of
// static functions, so a call costs what a call between two of its files costs. The concepts below say what a
// Backend must have. Any thread may call its functions. They need not check what the front has checked.
#pragma once

#include <hip/hip_runtime_api.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hipcore/abi/pointer_answers.h"
#include "hipcore/array/textures.h"
#include "hipcore/graph/library.h"
#include TF_RUNTIME_BACKEND  // worker/runtime/cpu/backend.h, or cuda's
#include "worker/runtime/common/compute_units.h"
#include "worker/runtime/common/fill.h"
#include "worker/runtime/common/launch.h"
#include "worker/runtime/common/link_type.h"
#include "worker/runtime/common/thread_state.h"
#include "worker/runtime/common/wait.h"

namespace tf::runtime {

template <typename B>
concept BackendOfCalls = requires(hipError_t (*body)()) {
  // The library's name on standard error, and the variable that makes it log more.
  { B::kName } -> std::convertible_to<const char*>;
  { B::kVerboseVariable } -> std::convertible_to<const char*>;
  // The calling thread's.
  { B::thread() } -> std::convertible_to<ThreadState&>;
  // Runs the body of an exported function and returns its result: with the thread's device ready, or without
  // one.
  { B::call(body) } -> std::same_as<hipError_t>;
  { B::call_on_host(body) } -> std::same_as<hipError_t>;
};
static_assert(BackendOfCalls<Backend>);

template <typename B>
concept BackendOfDevices = requires(int ordinal, unsigned flags, hipDeviceAttribute_t attribute,
                                    hipDeviceP2PAttr between, hipFuncCache_t& config, hipLimit_t limit,
                                    int& value, std::size_t& bytes) {
  // hipSuccess if there are devices, else the result of every call that needs one.
  { B::status() } -> std::same_as<hipError_t>;
  // The same, inside call(), for a Backend whose call() does not check it.
  { B::require_device() } -> std::same_as<hipError_t>;
  { B::device_count() } -> std::same_as<int>;
  // Makes a device the calling thread's.
  { B::select_device(ordinal) } -> std::same_as<void>;
  { B::properties(ordinal) } -> std::same_as<const hipDeviceProp_t&>;
  { B::uuid(ordinal) } -> std::same_as<hipUUID>;
  { B::attribute(ordinal, attribute, value) } -> std::same_as<hipError_t>;
  { B::p2p_attribute(ordinal, ordinal, between, value) } -> std::same_as<hipError_t>;
  { B::device_flags(ordinal) } -> std::same_as<unsigned>;
  { B::set_device_flags(ordinal, flags) } -> std::same_as<hipError_t>;
  // Of the thread's device, in call().
  { B::synchronize_device() } -> std::same_as<hipError_t>;
  { B::set_cache_config(config) } -> std::same_as<hipError_t>;
  { B::cache_config(config) } -> std::same_as<hipError_t>;
  // Of stacks, the heap and printf. What the device does not have: hipErrorUnsupportedLimit.
  { B::limit(limit, bytes) } -> std::same_as<hipError_t>;
  { B::set_limit(limit, bytes) } -> std::same_as<hipError_t>;
  { B::switch_profiler(true) } -> std::same_as<hipError_t>;
  { B::reset_device(ordinal) } -> std::same_as<hipError_t>;
};
static_assert(BackendOfDevices<Backend>);

template <typename B>
concept BackendOfContexts = requires(int ordinal, hipCtx_t& context, int& answer) {
  // The device's one context.
  { B::context(ordinal, context) } -> std::same_as<hipError_t>;
  // -1: not a device's context.
  { B::ordinal_of(context) } -> std::same_as<int>;
  // Whether the context was retained, or is in use.
  { B::has_context(ordinal) } -> std::same_as<bool>;
  { B::retain_context(ordinal, context) } -> std::same_as<hipError_t>;
  { B::reset_context(ordinal) } -> std::same_as<hipError_t>;
  // Of two devices.
  { B::can_access_peer(ordinal, ordinal, answer) } -> std::same_as<hipError_t>;
  { B::link_type(ordinal, ordinal) } -> std::same_as<LinkType>;
  // Of the thread's device and another one, in call().
  { B::enable_peer(ordinal) } -> std::same_as<hipError_t>;
  { B::disable_peer(ordinal) } -> std::same_as<hipError_t>;
};
static_assert(BackendOfContexts<Backend>);

template <typename B>
concept BackendOfStreams = requires(hipStream_t handle, typename B::Stream& stream) {
  // What the handle means on this thread, for the length of a call. Stream is default constructible.
  // hipErrorContextIsDestroyed: there is no such stream (any more), as in AMD's runtime.
  { B::find_stream(handle, stream) } -> std::same_as<hipError_t>;
  // Identifies it in captures, until it is destroyed.
  { B::reference(stream) } -> std::same_as<graph::StreamRef>;
  // A cheaper one, enough for a launch while nothing is captured.
  { B::short_reference(stream) } -> std::same_as<graph::StreamRef>;
};
static_assert(BackendOfStreams<Backend>);

template <typename B>
concept BackendOfStreamWork = requires(hipStream_t& handle, const typename B::Stream& stream,
                                       const typename B::Event& event, unsigned flags, unsigned& told,
                                       int& number, ComputeUnits units, hipHostFn_t function,
                                       hipStreamCallback_t callback, void* data, std::uint32_t* word,
                                       std::uint32_t value, std::uint64_t* wide, std::uint64_t wide_value,
                                       unsigned long long& id) {
  { B::create_stream(handle, flags, number, units) } -> std::same_as<hipError_t>;
  { B::destroy_stream(handle) } -> std::same_as<hipError_t>;
  // The least and the greatest priority, on the thread's device.
  { B::priority_range(number, number) } -> std::same_as<hipError_t>;
  { B::stream_flags(stream, told) } -> std::same_as<hipError_t>;
  { B::stream_priority(stream, number) } -> std::same_as<hipError_t>;
  // Which no other stream of the process ever has.
  { B::stream_id(stream, id) } -> std::same_as<hipError_t>;
  // Nothing for a stream that was made without a mask.
  { B::compute_units(stream) } -> std::convertible_to<ComputeUnits>;
  { B::query(stream) } -> std::same_as<hipError_t>;
  { B::synchronize(stream) } -> std::same_as<hipError_t>;
  // hipRemoteFollowNull().
  { B::follow_null(stream) } -> std::same_as<hipError_t>;
  { B::wait_event(stream, event) } -> std::same_as<hipError_t>;
  // The callback gets the handle that the program gave.
  { B::add_callback(stream, handle, callback, data) } -> std::same_as<hipError_t>;
  { B::call_host(stream, function, data) } -> std::same_as<hipError_t>;
  // `word` is aligned. Waits until (*word & mask) and (value & mask) fulfil the condition.
  { B::wait_value(stream, word, value, flags, value) } -> std::same_as<hipError_t>;
  { B::wait_value(stream, wide, wide_value, flags, wide_value) } -> std::same_as<hipError_t>;
  { B::write_value(stream, word, value) } -> std::same_as<hipError_t>;
  { B::write_value(stream, wide, wide_value) } -> std::same_as<hipError_t>;
};
static_assert(BackendOfStreamWork<Backend>);

template <typename B>
concept BackendOfMemory = requires(void*& pointer, const void* known, std::size_t& bytes, unsigned flags,
                                   unsigned& told, abi::PointerFacts& facts, std::uint32_t& id) {
  // More than 0 bytes. Flags of hipExtMallocWithFlags, hipMallocManaged, hipHostMalloc, hipHostRegister.
  { B::allocate(pointer, bytes, flags) } -> std::same_as<hipError_t>;
  { B::allocate_managed(pointer, bytes, flags) } -> std::same_as<hipError_t>;
  // Managed memory of a program's variable: no function of HIP frees it.
  { B::allocate_variable(pointer, bytes) } -> std::same_as<hipError_t>;
  { B::release_variable(pointer, bytes) } -> std::same_as<void>;
  { B::allocate_pitched(pointer, bytes, bytes, bytes) } -> std::same_as<hipError_t>;
  { B::allocate_host(pointer, bytes, flags) } -> std::same_as<hipError_t>;
  { B::register_host(pointer, bytes, flags) } -> std::same_as<hipError_t>;
  { B::unregister_host(pointer) } -> std::same_as<hipError_t>;
  // Both free any kind of memory that a HIP function allocated, as AMD's runtime does.
  { B::free(pointer) } -> std::same_as<hipError_t>;
  { B::free_host(pointer) } -> std::same_as<hipError_t>;
  // Free bytes of the thread's device, and all.
  { B::memory_info(bytes, bytes) } -> std::same_as<hipError_t>;
  // The allocation that holds the address. hipErrorNotFound: there is none.
  { B::address_range(pointer, pointer, bytes) } -> std::same_as<hipError_t>;
  // Of the allocation that begins there.
  { B::allocated_bytes(pointer, bytes) } -> std::same_as<hipError_t>;
  { B::device_pointer(pointer, pointer) } -> std::same_as<hipError_t>;
  { B::host_flags(pointer, told) } -> std::same_as<hipError_t>;
  // False: nobody knows the memory. Leaves the context and the id alone.
  { B::pointer_facts(known, facts) } -> std::same_as<bool>;
  // Of known memory.
  { B::buffer_id(known, id) } -> std::same_as<hipError_t>;
  { B::set_synchronous(pointer, true) } -> std::same_as<hipError_t>;
};
static_assert(BackendOfMemory<Backend>);

template <typename B>
concept BackendOfAdvice = requires(const void* pointer, std::size_t bytes, int device,
                                   const typename B::Stream& stream, hipMemoryAdvise advice, void* data,
                                   void** list, std::size_t* sizes, hipMemRangeAttribute attribute,
                                   hipMemRangeAttribute* attributes) {
  // The front has checked nothing but the stream.
  { B::prefetch(pointer, bytes, device, stream) } -> std::same_as<hipError_t>;
  { B::advise(pointer, bytes, advice, device) } -> std::same_as<hipError_t>;
  { B::range_attribute(data, bytes, attribute, pointer, bytes) } -> std::same_as<hipError_t>;
  { B::range_attributes(list, sizes, attributes, bytes, pointer, bytes) } -> std::same_as<hipError_t>;
};
static_assert(BackendOfAdvice<Backend>);

template <typename B>
concept BackendOfArrays = requires(const array::Shape& shape, unsigned levels, bool mipmapped,
                                   std::vector<array::Place>& places, std::uint64_t base) {
  // As array::Side: on the thread's device.
  { B::create_array(shape, levels, mipmapped, places) } -> std::same_as<hipError_t>;
  { B::destroy_array(base) } -> std::same_as<hipError_t>;
};
static_assert(BackendOfArrays<Backend>);

template <typename B>
concept BackendOfTextures = requires(const array::TextureWish& wish, const array::Mipmaps& arrays,
                                     hipTextureObject_t& texture, hipSurfaceObject_t& surface) {
  // As array::TextureSide. `arrays`: what the resource is, an array as one of one level; empty of memory.
  { B::create_texture(wish, arrays, texture) } -> std::same_as<hipError_t>;
  { B::destroy_texture(texture) } -> std::same_as<hipError_t>;
  { B::create_surface(arrays, surface) } -> std::same_as<hipError_t>;
  { B::destroy_surface(surface) } -> std::same_as<hipError_t>;
};
static_assert(BackendOfTextures<Backend>);

template <typename B>
concept BackendOfEvents = requires(hipEvent_t handle, unsigned flags, const typename B::Event& event,
                                   const typename B::Stream& stream, float& milliseconds) {
  // The event, for the length of a call; null: the handle is no event.
  { B::find_event(handle) } -> std::same_as<typename B::Event>;
  // Identifies it in captures, until it is destroyed.
  { B::reference(event) } -> std::same_as<std::uint64_t>;
  { B::create_event(handle, flags) } -> std::same_as<hipError_t>;
  // Any handle but null.
  { B::destroy_event(handle) } -> std::same_as<hipError_t>;
  // Called before an event is recorded, or its recording captured.
  { B::check_record(event, stream) } -> std::same_as<hipError_t>;
  { B::record(event, stream) } -> std::same_as<hipError_t>;
  { B::query(event) } -> std::same_as<hipError_t>;
  { B::synchronize(event) } -> std::same_as<hipError_t>;
  { B::elapsed(handle, handle, milliseconds) } -> std::same_as<hipError_t>;
};
static_assert(BackendOfEvents<Backend>);

template <typename B>
concept BackendOfLaunches = requires(const typename B::Kernel& kernel, const LaunchRequest& request,
                                     const typename B::Stream& stream, typename B::PreparedLaunch& prepared,
                                     graph::Library& library) {
  // Checks the launch, and copies what it needs of the arguments into `prepared`.
  { B::prepare_launch(kernel, request, stream, prepared) } -> std::same_as<hipError_t>;
  { B::capture_launch(library, kernel, request, stream, prepared) } -> std::same_as<graph::Library::Verdict>;
  { B::launch(kernel, request, stream, prepared) } -> std::same_as<hipError_t>;
};
static_assert(BackendOfLaunches<Backend>);

template <typename B>
concept BackendOfCopies = requires(void* target, const void* source, int device, std::size_t bytes,
                                   hipMemcpyKind kind, const graph::CopyWork& copy, const Fill& wish,
                                   const typename B::Stream& stream, Wait wait) {
  // Copies that no capture has taken. No address is null, no size 0.
  { B::copy(target, source, bytes, kind, stream, wait) } -> std::same_as<hipError_t>;
  {
    B::copy_between_devices(target, device, source, device, bytes, stream, wait)
    } -> std::same_as<hipError_t>;
  // Rows, as hipMemcpy2D (depth 1), and boxes, as hipMemcpy3D. Slices are whole rows apart.
  { B::copy_rows(copy, stream, wait) } -> std::same_as<hipError_t>;
  { B::copy_box(copy, stream, wait) } -> std::same_as<hipError_t>;
  // Slices do not touch each other.
  { B::fill(wish, stream, wait) } -> std::same_as<hipError_t>;
};
static_assert(BackendOfCopies<Backend>);

template <typename B>
concept BackendOfModules = requires(const void* image, const char* name, int device, unsigned count,
                                    hipJitOption* options, void** values, hipModule_t& handle,
                                    hipFunction_t& function, void*& address, std::size_t& bytes,
                                    typename B::ProgramModule& module, typename B::Kernel& kernel) {
  // Loads a fat binary that the program registered on a device, the thread's own. A default ProgramModule is
  // null; so is a Kernel that is not found. A variable that is not found: hipErrorInvalidSymbol.
  { B::load_program(image, device, module) } -> std::same_as<hipError_t>;
  { B::find_in_program(module, name, kernel) } -> std::same_as<bool>;
  { B::variable_in_program(module, name, address, bytes) } -> std::same_as<hipError_t>;
  // Kernels find the managed variable of this name in the memory. hipErrorInvalidSymbol: there is none.
  { B::bind_in_program(module, name, address) } -> std::same_as<hipError_t>;
  // Nothing of it is looked up any more; its kernels may still run.
  { B::unload_program(module) } -> std::same_as<void>;
  // For hipModule*. The front has not checked the handles.
  { B::load_module(handle, image, count, options, values) } -> std::same_as<hipError_t>;
  { B::unload_module(handle) } -> std::same_as<hipError_t>;
  { B::module_function(handle, name, function) } -> std::same_as<hipError_t>;
  // hipErrorInvalidHandle: no such module.
  { B::module_function_count(handle, count) } -> std::same_as<hipError_t>;
  // A managed variable: its value.
  { B::module_variable(handle, name, address, bytes) } -> std::same_as<hipError_t>;
  // As bind_in_program(). hipErrorInvalidHandle: no such module. hipErrorNotFound: no such variable.
  { B::bind_in_module(handle, name, address) } -> std::same_as<hipError_t>;
};
static_assert(BackendOfModules<Backend>);

template <typename B>
concept BackendOfFunctions = requires(const void* host, const typename B::Kernel& kernel,
                                      typename B::Kernel& found, hipFunction_t handle, hipStream_t stream,
                                      hipFunction_attribute attribute, hipFuncAttribute settable,
                                      hipFuncAttributes& all, hipFuncCache_t cache, const char*& name,
                                      int& value, unsigned flags, std::size_t bytes) {
  // A kernel, for the length of a call: by its handle (null: the handle is no function); by the address of
  // its host stub, on the stream's device.
  { B::find_function(handle) } -> std::same_as<typename B::Kernel>;
  { B::host_kernel(host, stream, found) } -> std::same_as<hipError_t>;
  { B::function_name(kernel, name) } -> std::same_as<hipError_t>;
  { B::function_attribute(kernel, attribute, value) } -> std::same_as<hipError_t>;
  { B::function_attributes(kernel, all) } -> std::same_as<hipError_t>;
  { B::set_function_attribute(kernel, settable, value) } -> std::same_as<hipError_t>;
  { B::set_function_cache(kernel, cache) } -> std::same_as<hipError_t>;
  // How many blocks with this many threads and bytes of dynamic shared memory fit on one multiprocessor; and
  // the largest block, of at most `value` threads (0: no limit), with a grid that fills the device.
  { B::active_blocks(kernel, value, bytes, flags, value) } -> std::same_as<hipError_t>;
  { B::best_block(kernel, bytes, value, flags, value, value) } -> std::same_as<hipError_t>;
};
static_assert(BackendOfFunctions<Backend>);

template <typename B>
concept BackendOfPools = requires(hipMemPool_t& handle, const typename B::Pool& pool,
                                  const typename B::Stream& stream, void* pointer, void** place,
                                  std::size_t bytes, int device, hipMemPoolAttr attribute,
                                  const hipMemPoolProps& properties, std::span<const hipMemAccessDesc> wishes,
                                  const hipMemLocation& location, hipMemAccessFlags& flags,
                                  hipMemPoolPtrExportData& data) {
  // The pool, for the length of a call; null: the handle is no pool.
  { B::find_pool(handle) } -> std::same_as<typename B::Pool>;
  // More than 0 bytes; from the current pool of the stream's device, or from this one.
  { B::allocate_async(place, bytes, stream) } -> std::same_as<hipError_t>;
  { B::allocate_from_pool(place, bytes, pool, stream) } -> std::same_as<hipError_t>;
  { B::free_async(pointer, stream) } -> std::same_as<hipError_t>;
  // The front has checked that the properties ask for pinned memory on a device.
  { B::create_pool(handle, properties) } -> std::same_as<hipError_t>;
  { B::destroy_pool(handle) } -> std::same_as<hipError_t>;
  // For other processes, of a pool that was created for that: by a descriptor, which the caller owns, and a
  // pointer into it by its data. hipErrorInvalidValue: no such pool, not in one, or not what these functions
  // give.
  { B::share_pool(pool, device) } -> std::same_as<hipError_t>;
  { B::open_pool(device, handle) } -> std::same_as<hipError_t>;
  { B::share_pool_memory(pointer, data) } -> std::same_as<hipError_t>;
  { B::open_pool_memory(pool, data, pointer) } -> std::same_as<hipError_t>;
  { B::trim_pool(pool, bytes) } -> std::same_as<hipError_t>;
  { B::set_pool_attribute(pool, attribute, pointer) } -> std::same_as<hipError_t>;
  { B::pool_attribute(pool, attribute, pointer) } -> std::same_as<hipError_t>;
  { B::set_pool_access(pool, wishes) } -> std::same_as<hipError_t>;
  { B::pool_access(pool, location, flags) } -> std::same_as<hipError_t>;
  { B::default_pool(device, handle) } -> std::same_as<hipError_t>;
  { B::current_pool(device, handle) } -> std::same_as<hipError_t>;
  { B::set_current_pool(device, pool) } -> std::same_as<hipError_t>;
};
static_assert(BackendOfPools<Backend>);

// What Backend::virtual_memory() gives.
template <typename M>
concept VirtualMemoryOfBackend = requires(M& memory, hipMemGenericAllocationHandle_t* target,
                                          hipMemGenericAllocationHandle_t handle, void* pointer, void** place,
                                          std::size_t& bytes, hipMemAllocationProp& properties,
                                          hipMemAllocationGranularity_flags option,
                                          std::span<const hipMemAccessDesc> wishes, unsigned long long& flags,
                                          int& number) {
  // `pointer`: the address that the program wishes for, or null. Returns another one if that is taken.
  { memory.reserve(place, bytes, bytes, pointer) } -> std::same_as<hipError_t>;
  { memory.free(pointer, bytes) } -> std::same_as<hipError_t>;
  // The front has checked that the properties ask for pinned memory on a device.
  { memory.granularity(properties, option, bytes) } -> std::same_as<hipError_t>;
  { memory.create(target, bytes, properties) } -> std::same_as<hipError_t>;
  { memory.properties(handle, properties) } -> std::same_as<hipError_t>;
  { memory.retain(target, pointer) } -> std::same_as<hipError_t>;
  { memory.release(handle) } -> std::same_as<hipError_t>;
  { memory.map(pointer, bytes, bytes, handle) } -> std::same_as<hipError_t>;
  // Waits until everything that was submitted has run.
  { memory.unmap(pointer, bytes) } -> std::same_as<hipError_t>;
  { memory.set_access(pointer, bytes, wishes) } -> std::same_as<hipError_t>;
  { memory.access(number, pointer, flags) } -> std::same_as<hipError_t>;
  // By file descriptor. The caller owns the one that is exported, and keeps the one that is imported.
  { memory.export_to(handle, number) } -> std::same_as<hipError_t>;
  { memory.import(target, number) } -> std::same_as<hipError_t>;
};

template <typename B>
concept BackendOfSharing = requires(void*& pointer, hipIpcMemHandle_t& memory, hipEvent_t& event,
                                    hipIpcEventHandle_t& shared) {
  // Sharing with other processes. Handles that are opened are not all zeros (the front checks that).
  { B::share_memory(pointer, memory) } -> std::same_as<hipError_t>;
  { B::open_memory(memory, pointer) } -> std::same_as<hipError_t>;
  { B::close_memory(pointer) } -> std::same_as<hipError_t>;
  { B::share_event(event, shared) } -> std::same_as<hipError_t>;
  { B::open_event(shared, event) } -> std::same_as<hipError_t>;
};
static_assert(BackendOfSharing<Backend>);

template <typename B>
concept BackendOfGraphs = requires(const void* named, graph::KernelFacts& facts, void*& address,
                                   std::size_t& bytes, const graph::Work& work, const graph::Plan& plan,
                                   std::shared_ptr<graph::Executable>& executable) {
  // A kernel as a program names it in a graph, its function's handle or the host stub, for the current
  // device.
  { B::describe_kernel(named, facts) } -> std::same_as<hipError_t>;
  // Whether this work would be accepted now: shapes, memory, events.
  { B::check_work(work) } -> std::same_as<hipError_t>;
  { B::instantiate(plan, executable) } -> std::same_as<hipError_t>;
};
static_assert(BackendOfGraphs<Backend>);

}  // namespace tf::runtime
