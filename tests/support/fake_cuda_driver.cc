// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_cuda_driver.h"

#include <cstdio>
#include <cstring>
#include <string_view>

#include "worker/runtime/cuda/driver.h"

namespace tf::fake_cuda {
namespace {

using namespace cuda::driver;  // NOLINT: the driver's own words

State& state() {
  static State all;
  return all;
}

// Counts the call; what a failing function answers.
Result asked(const char* name) {
  ++state().calls[name];
  const auto failure = state().failures.find(name);
  return failure == state().failures.end() ? Result::SUCCESS : failure->second;
}

// As a real driver, which counts how many blocks fit on a processor: none.
bool fits_cooperatively(unsigned shared_bytes) {
  return static_cast<int>(shared_bytes) <= state().dynamic_shared_max;
}

template <typename Handle>
Handle handle(std::uintptr_t number) {
  return reinterpret_cast<Handle>(number);
}

void add_pools(Driver& d) {
  d.DeviceGetDefaultMemPool = [](hipMemPool_t* pool, int device) {
    *pool = handle<hipMemPool_t>(0x7700 + static_cast<std::uintptr_t>(device));
    return asked("DeviceGetDefaultMemPool");
  };
  d.MemPoolCreate = [](hipMemPool_t* pool, const auto*) {
    *pool = handle<hipMemPool_t>(0x7800);
    return asked("MemPoolCreate");
  };
  d.MemPoolGetAttribute = [](hipMemPool_t, int, void* value) {
    *static_cast<std::uint64_t*>(value) = state().pool_bytes;
    return asked("MemPoolGetAttribute");
  };
}

void add_linking(Driver& d) {
  d.LinkCreate = [](unsigned, int*, void** values, LinkState* link) {
    state().link_values = values;
    state().link_log = values[0];
    *link = handle<LinkState>(0xd000);
    return asked("LinkCreate");
  };
  d.LinkComplete = [](LinkState, void** image, std::size_t* bytes) {
    static std::string linked = "CUBIN of all parts";
    if (state().link_values[0] != state().link_log)
      return Result::INVALID_VALUE;                             // not where they were any more
    *reinterpret_cast<unsigned*>(&state().link_values[1]) = 0;  // bytes of the log
    *image = linked.data();
    *bytes = linked.size();
    return asked("LinkComplete");
  };
}

// Where the functions are that do more than count; the others stay null.
Driver special_functions() {
  Driver d{};
  add_linking(d);
  add_pools(d);
  d.DeviceGetCount = [](int* count) {
    *count = State::kDevices;
    return asked("DeviceGetCount");
  };
  d.DeviceGet = [](int* device, int ordinal) {
    *device = ordinal;
    return asked("DeviceGet");
  };
  d.DeviceGetName = [](char* name, int length, int) {
    std::snprintf(name, static_cast<std::size_t>(length), "Fake GPU");
    return asked("DeviceGetName");
  };
  d.DeviceTotalMem = [](std::size_t* bytes, int) {
    *bytes = std::size_t{80} << 30;
    return asked("DeviceTotalMem");
  };
  d.DeviceGetAttribute = [](int* value, int attribute, int) {
    constexpr int kMajor = 75, kMinor = 76, kOptIn = 97, kWarp = 10, kThreads = 1;
    *value = attribute == kMajor     ? 9
             : attribute == kMinor   ? 0
             : attribute == kOptIn   ? State::kSharedMax
             : attribute == kWarp    ? 32
             : attribute == kThreads ? 1024
                                     : 4096;
    if (const auto set = state().attributes.find(attribute); set != state().attributes.end())
      *value = set->second;
    return asked("DeviceGetAttribute");
  };
  d.DevicePrimaryCtxRetain = [](hipCtx_t* context, int device) {
    *context = handle<hipCtx_t>(0x1000 + static_cast<std::uintptr_t>(device));
    return asked("DevicePrimaryCtxRetain");
  };
  d.CtxSetCurrent = [](hipCtx_t context) {
    state().current = context;
    return asked("CtxSetCurrent");
  };
  d.CtxSynchronize = [] {
    state().synchronized.push_back(state().current);
    return asked("CtxSynchronize");
  };
  d.StreamCreateWithPriority = [](hipStream_t* stream, unsigned, int) {
    *stream = handle<hipStream_t>(State::kFirstStream + 64 * static_cast<std::uintptr_t>(state().streams++));
    return asked("StreamCreateWithPriority");
  };
  d.EventCreate = [](hipEvent_t* event, unsigned) {
    *event = handle<hipEvent_t>(State::kFirstEvent + 64 * static_cast<std::uintptr_t>(state().events++));
    return asked("EventCreate");
  };
  d.ModuleLoadDataEx = [](hipModule_t* module, const void* image, unsigned, int*, void**) {
    *module = handle<hipModule_t>(0x2000);
    state().image = static_cast<const char*>(image);
    return asked("ModuleLoadDataEx");
  };
  d.ModuleGetFunction = [](hipFunction_t* function, hipModule_t, const char* name) {
    *function = handle<hipFunction_t>(0x3000 + std::strlen(name));
    return asked("ModuleGetFunction");
  };
  d.ModuleGetFunctionCount = [](unsigned* count, hipModule_t) {
    *count = State::kFunctions;
    return asked("ModuleGetFunctionCount");
  };
  return d;
}

void add_launches(Driver& d) {
  d.LaunchHostFunc = [](Stream stream, HostFunction function, void* data) {
    const Result result = asked("LaunchHostFunc");
    if (result == Result::SUCCESS) state().host_calls.push_back({function, data, stream, state().current});
    return result;
  };
  d.FuncGetAttribute = [](int* value, int attribute, hipFunction_t) {
    *value = attribute == kFunctionDynamicSharedBytesMax ? state().dynamic_shared_max
             : attribute == kFunctionStaticSharedBytes   ? State::kStaticShared
             : attribute == kFunctionThreadsMax          ? state().threads_max
                                                         : 0;
    return asked("FuncGetAttribute");
  };
  d.FuncSetAttribute = [](hipFunction_t, int attribute, int value) {
    if (attribute == kFunctionDynamicSharedBytesMax) state().dynamic_shared_max = value;
    return asked("FuncSetAttribute");
  };
  d.LaunchKernel = [](hipFunction_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                      unsigned bz, unsigned shared, hipStream_t stream, void** arguments, void** extra) {
    const Result result = asked("LaunchKernel");
    if (static_cast<int>(shared) > state().dynamic_shared_max) return Result::INVALID_VALUE;
    Launch launch{function, {gx, gy, gz, bx, by, bz}, shared, stream, arguments, {}};
    if (extra) launch.extra.assign(extra, extra + 5);
    state().launches.push_back(launch);
    return result;
  };
  d.LaunchCooperativeKernel = [](hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 unsigned shared, hipStream_t, void**) {
    const Result result = asked("LaunchCooperativeKernel");
    return fits_cooperatively(shared) ? result : Result::COOPERATIVE_LAUNCH_TOO_LARGE;
  };
  d.LaunchKernelEx = [](const LaunchConfig* config, hipFunction_t function, void** arguments, void** extra) {
    Launch launch{
        function,
        {config->grid_x, config->grid_y, config->grid_z, config->block_x, config->block_y, config->block_z},
        config->shared_bytes,
        config->stream,
        arguments,
        {}};
    if (extra) launch.extra.assign(extra, extra + 5);
    const LaunchAttribute* const attribute = config->attributes;
    launch.is_cooperative = config->attribute_count == 1 && attribute->id == kNodeAttributeCooperative &&
                            attribute->value.cooperative == 1;
    state().launches.push_back(launch);
    const Result result = asked("LaunchKernelEx");
    return fits_cooperatively(config->shared_bytes) ? result : Result::COOPERATIVE_LAUNCH_TOO_LARGE;
  };
}

void add_copies(Driver& d) {
  d.PointerGetAttribute = [](void* value, int attribute, void* pointer) {
    // Addresses below 1 GiB are the device's, others are pageable.
    if (reinterpret_cast<std::uintptr_t>(pointer) >= (1u << 30)) return Result::INVALID_VALUE;
    // The upper half is the second device's.
    const int device = reinterpret_cast<std::uintptr_t>(pointer) >= (1u << 29) ? 1 : 0;
    const int number = attribute == kPointerDeviceOrdinal ? device
                       : attribute == kPointerIsManaged   ? state().managed
                                                          : static_cast<int>(kMemoryDevice);
    if (attribute == kPointerRangeStart)
      std::memcpy(value, &State::kAllocation, sizeof State::kAllocation);
    else if (attribute == kPointerRangeBytes)
      std::memcpy(value, &State::kAllocation_bytes, sizeof State::kAllocation_bytes);
    else if (attribute == kPointerBufferId)
      std::memcpy(value, &State::kBufferId, sizeof State::kBufferId);
    else
      std::memcpy(value, &number, sizeof number);
    return asked("PointerGetAttribute");
  };
  d.Memcpy3DAsync = [](const Copy3D* copy, hipStream_t) {
    state().copy_3d = *copy;
    return asked("Memcpy3DAsync");
  };
  d.Memcpy2DAsync = [](const Copy2D* copy, hipStream_t) {
    state().copy_2d = *copy;
    return asked("Memcpy2DAsync");
  };
  d.MemsetD2D8Async = [](void* target, std::size_t, unsigned char, std::size_t, std::size_t rows,
                         hipStream_t) {
    state().filled.push_back(target);
    state().filled_rows.push_back(rows);
    return asked("MemsetD2D8Async");
  };
  d.MemHostRegister = [](void*, std::size_t, unsigned flags) {
    state().host_flags = flags;
    return asked("MemHostRegister");
  };
}

void add_arrays(Driver& d) {
  d.Array3DCreate = [](Array* array, const ArrayDescription* wish) {
    const Result result = asked("Array3DCreate");
    if ((wish->flags & hipArraySurfaceLoadStore) != 0 && wish->width > State::kSurfaceMax)
      return Result::INVALID_VALUE;
    state().array = *wish;
    *array = handle<Array>(State::kArray);
    return result;
  };
  d.MipmappedArrayCreate = [](MipmappedArray* array, const ArrayDescription* wish, unsigned) {
    state().array = *wish;
    *array = handle<MipmappedArray>(State::kMipmapped);
    return asked("MipmappedArrayCreate");
  };
  d.MipmappedArrayGetLevel = [](Array* level, MipmappedArray, unsigned number) {
    *level = handle<Array>(State::kMipmapped + 1 + number);
    return asked("MipmappedArrayGetLevel");
  };
  d.TexObjectCreate = [](Texture* texture, const ResourceDescription* resource,
                         const TextureDescription* sampling, const ViewDescription*) {
    state().resource = *resource;
    state().sampling = *sampling;
    *texture = handle<Texture>(State::kTexture);
    return asked("TexObjectCreate");
  };
  d.SurfObjectCreate = [](Surface* surface, const ResourceDescription* resource) {
    state().resource = *resource;
    *surface = handle<Surface>(State::kTexture);
    return asked("SurfObjectCreate");
  };
}

// A graph's node is its number, from 1 on, and what it depends on.
Result add_node(const char* name, hipGraphNode_t* node, const hipGraphNode_t* before, std::size_t count) {
  const Result result = asked(name);
  if (result != Result::SUCCESS) return result;
  Node made{name, {}};
  for (std::size_t i = 0; i < count; ++i)
    made.before.push_back(static_cast<int>(reinterpret_cast<std::uintptr_t>(before[i])));
  state().nodes.push_back(made);
  *node = handle<hipGraphNode_t>(state().nodes.size());
  return result;
}

void add_graphs(Driver& d) {
  d.GraphCreate = [](hipGraph_t* graph, unsigned) {
    *graph = handle<hipGraph_t>(0x5000);
    state().nodes.clear();
    return asked("GraphCreate");
  };
  d.GraphAddEmptyNode = [](hipGraphNode_t* node, hipGraph_t, const hipGraphNode_t* before,
                           std::size_t count) { return add_node("GraphAddEmptyNode", node, before, count); };
  d.GraphAddMemcpyNode = [](hipGraphNode_t* node, hipGraph_t, const hipGraphNode_t* before, std::size_t count,
                            const Copy3D* copy, hipCtx_t) {
    state().copy_3d = *copy;
    return add_node("GraphAddMemcpyNode", node, before, count);
  };
  d.GraphAddMemsetNode = [](hipGraphNode_t* node, hipGraph_t, const hipGraphNode_t* before, std::size_t count,
                            const FillNode* fill, hipCtx_t context) {
    state().fill_node = *fill;
    state().fill_context = context;
    return add_node("GraphAddMemsetNode", node, before, count);
  };
  d.GraphAddKernelNode = [](hipGraphNode_t* node, hipGraph_t, const hipGraphNode_t* before, std::size_t count,
                            const KernelNode* kernel) {
    state().kernel_node = *kernel;
    state().first_argument = kernel->arguments ? *static_cast<const int*>(kernel->arguments[0]) : 0;
    return add_node("GraphAddKernelNode", node, before, count);
  };
  d.GraphAddHostNode = [](hipGraphNode_t* node, hipGraph_t, const hipGraphNode_t* before, std::size_t count,
                          const HostNode*) { return add_node("GraphAddHostNode", node, before, count); };
  d.GraphAddBatchMemOpNode = [](hipGraphNode_t* node, hipGraph_t, const hipGraphNode_t* before,
                                std::size_t count, const BatchNode* batch) {
    state().batch_context = batch->context;
    state().batch.assign(batch->operations, batch->operations + batch->count);
    return add_node("GraphAddBatchMemOpNode", node, before, count);
  };
  d.GraphInstantiateWithFlags = [](hipGraphExec_t* exec, hipGraph_t, unsigned long long) {
    *exec = handle<hipGraphExec_t>(0x6000);
    return asked("GraphInstantiateWithFlags");
  };
  d.FuncGetParamInfo = [](hipFunction_t, std::size_t index, std::size_t* offset, std::size_t* bytes) {
    const Result result = asked("FuncGetParamInfo");
    if (index >= State::kParameters) return Result::INVALID_VALUE;
    *offset = 8 * index;
    *bytes = sizeof(int);
    return result;
  };
}

// Of physical memory. No number is used twice, in any test.
std::uintptr_t last_handle = 0;

void add_advice(Driver& d) {
  d.MemAdvise = [](void*, std::size_t, int, int device) {
    state().place = device;
    return asked("MemAdvise");
  };
  d.MemRangeGetAttribute = [](void* value, std::size_t bytes, int, void*, std::size_t) {
    for (std::size_t at = 0; at < bytes; at += sizeof state().place)
      std::memcpy(static_cast<char*>(value) + at, &state().place, sizeof state().place);
    return asked("MemRangeGetAttribute");
  };
}

// Addresses are given where they are wished for, else at 1 MiB; handles are numbers that count up.
void add_memory(Driver& d) {
  d.MemAlloc = [](void** address, std::size_t) {
    *address = handle<void*>(State::kAllocation);
    state().allocated_in = state().current;
    return asked("MemAlloc");
  };
  d.MemAllocManaged = [](void** address, std::size_t bytes, unsigned) {
    if (bytes > sizeof state().managed_memory) return Result::OUT_OF_MEMORY;
    *address = state().managed_memory;
    return asked("MemAllocManaged");
  };
  d.MemAddressReserve = [](void** address, std::size_t, std::size_t, void* wish, unsigned long long) {
    *address = wish ? wish : handle<void*>(1 << 20);
    return asked("MemAddressReserve");
  };
  d.MemCreate = [](hipMemGenericAllocationHandle_t* made, std::size_t, const AllocationProperties* wish,
                   unsigned long long) {
    state().physical = *wish;
    *made = handle<hipMemGenericAllocationHandle_t>(++last_handle);
    return asked("MemCreate");
  };
  d.MemGetAllocationGranularity = [](std::size_t* bytes, const AllocationProperties* wish, int) {
    state().granular = *wish;
    *bytes = 2 << 20;
    return asked("MemGetAllocationGranularity");
  };
  d.MemGetHandleForAddressRange = [](void* made, void*, std::size_t, int type, unsigned long long) {
    std::memcpy(made, &State::kRangeHandle, sizeof State::kRangeHandle);
    state().range_type = type;
    return asked("MemGetHandleForAddressRange");
  };
  d.FlushGPUDirectRDMAWrites = [](int, int scope) {
    state().flush_scope = scope;
    state().flushed = state().current;
    return asked("FlushGPUDirectRDMAWrites");
  };
  d.MemImportFromShareableHandle = [](hipMemGenericAllocationHandle_t* made, void*, int) {
    *made = handle<hipMemGenericAllocationHandle_t>(++last_handle);
    return asked("MemImportFromShareableHandle");
  };
  d.MemRetainAllocationHandle = [](hipMemGenericAllocationHandle_t* found, void*) {
    *found = handle<hipMemGenericAllocationHandle_t>(last_handle);
    return asked("MemRetainAllocationHandle");
  };
  d.MemGetAddressRange = [](void** base, std::size_t* bytes, void*) {
    *base = handle<void*>(State::kAllocation);
    *bytes = State::kAllocation_bytes;
    return asked("MemGetAddressRange");
  };
  d.IpcGetMemHandle = [](IpcMemoryHandle* made, void* address) {
    std::memset(made, 7, sizeof *made);
    std::memcpy(made, &address, sizeof address);
    return asked("IpcGetMemHandle");
  };
  d.IpcOpenMemHandle = [](void** address, IpcMemoryHandle wanted, unsigned) {
    std::memcpy(address, &wanted, sizeof *address);
    return asked("IpcOpenMemHandle");
  };
  d.IpcCloseMemHandle = [](void* address) {
    state().closed = address;
    return asked("IpcCloseMemHandle");
  };
}

// What only counts. One instance per function, since none of them knows its own name otherwise.
template <std::size_t Index, typename... Parameters>
struct Counter {
  static inline const char* name = "";
  static Result call(Parameters...) { return asked(name); }
};

template <std::size_t Index, typename... Parameters>
void* find(Result (*special)(Parameters...), const char* name) {
  Counter<Index, Parameters...>::name = name;
  return reinterpret_cast<void*>(special ? special : &Counter<Index, Parameters...>::call);
}

void* find(std::string_view wanted) {
  static const Driver special = [] {
    Driver d = special_functions();
    add_launches(d);
    add_arrays(d);
    add_copies(d);
    add_graphs(d);
    add_advice(d);
    add_memory(d);
    return d;
  }();
#define TF_CUDA_FUNCTION(name, version, parameters) \
  if (wanted == "cu" #name) return find<__COUNTER__>(special.name, #name);
#include "worker/runtime/cuda/driver_functions.inc"
#undef TF_CUDA_FUNCTION
  return nullptr;
}

}  // namespace
}  // namespace tf::fake_cuda

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT tf::fake_cuda::State* fake_cuda_state() { return &tf::fake_cuda::state(); }

EXPORT int cuGetProcAddress_v2(const char* name, void** found, int, std::uint64_t, int*) {
  // As an older driver: one of the functions is not there.
  *found = std::string_view(name) == "cuMemPoolTrimTo" ? nullptr : tf::fake_cuda::find(name);
  return *found ? 0 : 500;
}
