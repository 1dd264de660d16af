// SPDX-License-Identifier: Apache-2.0
// Copies of arrays as AMD's runtime understands them.
#include "worker/base/turned_arrays.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "transport/base/mutex.h"

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

// One end of a copy of lines: layers become rows, and what lay a slice apart in memory lies a row apart.
void turn(hipArray_const_t array, hipPitchedPtr& memory, hipPos& position) {
  if (array != nullptr) {
    position.y = std::exchange(position.z, 0);
  } else if (memory.ysize > 1) {
    memory.pitch *= std::exchange(memory.ysize, 1);
  }
}

// False: the other end is an array that counts its layers otherwise, and there are several.
bool turn_lines(hipMemcpy3DParms& copy) {
  const bool source = lines().has(copy.srcArray), target = lines().has(copy.dstArray);
  if (!source && !target) return true;
  const bool mixed = copy.srcArray != nullptr && copy.dstArray != nullptr && source != target;
  if (mixed && copy.extent.depth > 1) return false;
  if (!mixed || source) turn(copy.srcArray, copy.srcPtr, copy.srcPos);
  if (!mixed || target) turn(copy.dstArray, copy.dstPtr, copy.dstPos);
  copy.extent.height = std::max<std::size_t>(std::exchange(copy.extent.depth, 1), 1);
  return true;
}

hipError_t copy_async(const hipMemcpy3DParms* wanted, hipStream_t stream) {
  hipMemcpy3DParms copy = *wanted;
  hipError_t error = hipSuccess;
  if (turn_lines(copy)) {
    error = name_begins(copy);
    return error != hipSuccess ? error : runtime.hipMemcpy3DAsync(&copy, stream);
  }
  copy.extent.depth = 1;
  for (std::size_t layer = 0; layer < wanted->extent.depth && error == hipSuccess; ++layer) {
    copy.srcPos.z = wanted->srcPos.z + layer;
    copy.dstPos.z = wanted->dstPos.z + layer;
    error = copy_async(&copy, stream);
  }
  return error;
}

hipError_t add_node(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* before, std::size_t count,
                    const hipMemcpy3DParms* wanted) {
  hipMemcpy3DParms copy = *wanted;
  const hipError_t error = turn_lines(copy) ? name_begins(copy) : hipErrorInvalidValue;
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
