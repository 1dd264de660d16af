// SPDX-License-Identifier: Apache-2.0
// Copies of arrays as AMD's runtime understands them.
#include "worker/base/turned_arrays.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "transport/base/mutex.h"
#include "worker/base/runtime_version.h"

namespace tf::worker {
namespace turned_arrays {  // other replacements have functions of the same names
namespace {

protocol::HipTable runtime;  // its own functions

// The kernel counts in words of this many bytes, or of an element if that is smaller.
constexpr std::size_t kWordBytes = 4;

// Arrays of lines.
class Lines {
 public:
  void add(hipArray_t array) {
    const MutexLock lock(mutex_);
    all_.insert(array);
  }
  void remove(hipArray_t array) {
    const MutexLock lock(mutex_);
    all_.erase(array);
  }
  bool has(hipArray_const_t array) {
    const MutexLock lock(mutex_);
    return array != nullptr && all_.contains(array);
  }

 private:
  Mutex mutex_;
  std::set<hipArray_const_t> all_ TF_GUARDED_BY(mutex_);
};
Lines& lines() {
  static Lines all;
  return all;
}

// False: no position says it. Memory that the runtime has not allocated or registered it copies by itself.
bool name_begin(hipPitchedPtr& memory, hipPos& position, const hipExtent& extent) {
  void* begin = nullptr;
  const hipError_t answer =
      runtime.hipPointerGetAttribute(&begin, HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR, memory.ptr);
  if (answer != hipSuccess || begin == nullptr || begin == memory.ptr || extent.width == 0) return true;
  const std::size_t offset =
      reinterpret_cast<std::uintptr_t>(memory.ptr) - reinterpret_cast<std::uintptr_t>(begin);
  const std::size_t element = std::max<std::size_t>(memory.xsize / extent.width, 1);
  if (offset % std::min(element, kWordBytes) != 0) return false;
  memory.ptr = begin;
  position.x += offset;
  return true;
}

// Of a copy with one array. The kernel has no other way, so what no position says cannot be copied.
hipError_t name_begins(hipMemcpy3DParms& copy) {
  if ((copy.srcArray != nullptr) == (copy.dstArray != nullptr)) return hipSuccess;
  const bool named = copy.srcArray != nullptr ? name_begin(copy.dstPtr, copy.dstPos, copy.extent)
                                              : name_begin(copy.srcPtr, copy.srcPos, copy.extent);
  return named ? hipSuccess : hipErrorInvalidValue;
}

bool has_lines(const hipMemcpy3DParms& copy) {
  return lines().has(copy.srcArray) || lines().has(copy.dstArray);
}

// One end of a layer: of lines it is a row.
void pick(hipArray_const_t array, hipPitchedPtr& memory, hipPos& position, std::size_t layer) {
  if (array == nullptr) {
    const std::size_t slice = memory.pitch * std::max<std::size_t>(memory.ysize, 1);
    memory.ptr = static_cast<char*>(memory.ptr) + layer * slice;
    memory.ysize = 1;
    return;
  }
  position.z += layer;
  if (lines().has(array)) position.y = std::exchange(position.z, 0);
}

// The runtime takes no more than one layer of lines from memory that it knows.
hipMemcpy3DParms layer_of(const hipMemcpy3DParms& wanted, std::size_t layer) {
  hipMemcpy3DParms copy = wanted;
  copy.extent.height = copy.extent.depth = 1;
  pick(copy.srcArray, copy.srcPtr, copy.srcPos, layer);
  pick(copy.dstArray, copy.dstPtr, copy.dstPos, layer);
  return copy;
}

hipError_t copy_one(hipMemcpy3DParms copy, hipStream_t stream) {
  const hipError_t error = name_begins(copy);
  return error != hipSuccess ? error : runtime.hipMemcpy3DAsync(&copy, stream);
}

hipError_t copy_async(const hipMemcpy3DParms* wanted, hipStream_t stream) {
  if (!is_older_than(kRocm61, runtime)) return runtime.hipMemcpy3DAsync(wanted, stream);
  if (!has_lines(*wanted)) return copy_one(*wanted, stream);
  hipError_t error = hipSuccess;
  for (std::size_t layer = 0; layer < std::max<std::size_t>(wanted->extent.depth, 1); ++layer) {
    error = copy_one(layer_of(*wanted, layer), stream);
    if (error != hipSuccess) break;
  }
  return error;
}

hipError_t add_node(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* before, std::size_t count,
                    const hipMemcpy3DParms* wanted) {
  if (!is_older_than(kRocm61, runtime))
    return runtime.hipGraphAddMemcpyNode(node, graph, before, count, wanted);
  hipMemcpy3DParms copy = *wanted;
  if (has_lines(copy)) {
    if (copy.extent.depth > 1) return hipErrorInvalidValue;  // a node is one copy
    copy = layer_of(copy, 0);
  }
  const hipError_t error = name_begins(copy);
  return error != hipSuccess ? error : runtime.hipGraphAddMemcpyNode(node, graph, before, count, &copy);
}

hipError_t create(hipArray** array, const HIP_ARRAY3D_DESCRIPTOR* wish) {
  const hipError_t error = runtime.hipArray3DCreate(array, wish);
  const bool of_lines = (wish->Flags & hipArrayLayered) != 0 && wish->Height == 0;
  if (error == hipSuccess && of_lines) lines().add(*array);
  return error;
}

hipError_t destroy(hipArray* array) {
  lines().remove(array);
  return runtime.hipArrayDestroy(array);
}

}  // namespace
}  // namespace turned_arrays

void mend_turned_arrays(protocol::HipTable& hip) {
  turned_arrays::runtime = hip;
  hip.hipMemcpy3DAsync = turned_arrays::copy_async;
  hip.hipGraphAddMemcpyNode = turned_arrays::add_node;
  hip.hipArray3DCreate = turned_arrays::create;
  hip.hipArrayDestroy = turned_arrays::destroy;
}

}  // namespace tf::worker
