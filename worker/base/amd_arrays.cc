// SPDX-License-Identifier: Apache-2.0
// Copies of arrays as AMD's runtime understands them.
#include "worker/base/amd_arrays.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "transport/base/mutex.h"
#include "worker/base/runtime_version.h"

namespace tf::worker {
namespace amd_arrays {  // other replacements have functions of the same names
namespace {

protocol::HipTable runtime;  // its own functions

// What the runtime does otherwise; found when it is first needed, since a question may start the runtime.
enum Rules : int { kUnknown = -1, kAsHip = 0, kForgetsOffsets = 1, kForgetsPitches = 2 };
std::atomic<int> rules{kUnknown};

int find_rules() {
  int found = rules.load(std::memory_order_relaxed);
  if (found != kUnknown) return found;
  found = is_older_than(kRocm56, runtime)   ? kForgetsOffsets | kForgetsPitches
          : is_older_than(kRocm61, runtime) ? kForgetsOffsets
                                            : kAsHip;
  rules.store(found, std::memory_order_relaxed);
  return found;
}

// The kernel counts in words of this many bytes, or of an element if that is smaller.
constexpr std::size_t kWordBytes = 4;

// Layered arrays of one dimension.
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

// False: the offset is no whole number of words. Memory that the runtime has not allocated or registered it
// copies by itself, as HIP says.
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

// A copy, and what its rows need.
class Copy {
 public:
  explicit Copy(const hipMemcpy3DParms& wanted)
      : wanted_(wanted),
        source_lines_(lines().has(wanted.srcArray)),
        target_lines_(lines().has(wanted.dstArray)),
        height_(std::max<std::size_t>(wanted.extent.height, 1)),
        depth_(std::max<std::size_t>(wanted.extent.depth, 1)) {}

  bool is_one_row() const { return height_ * depth_ == 1; }
  // The runtime takes no more than one row of it at once.
  bool goes_by_rows() const {
    if (source_lines_ || target_lines_) return true;
    if ((find_rules() & kForgetsPitches) == 0) return false;
    return (wanted_.srcArray == nullptr && has_gaps(wanted_.srcPtr)) ||
           (wanted_.dstArray == nullptr && has_gaps(wanted_.dstPtr));
  }
  hipMemcpy3DParms row(std::size_t y, std::size_t z) const {
    hipMemcpy3DParms copy = wanted_;
    copy.extent.height = copy.extent.depth = 1;
    pick(copy.srcArray, source_lines_, copy.srcPtr, copy.srcPos, y, z);
    pick(copy.dstArray, target_lines_, copy.dstPtr, copy.dstPos, y, z);
    return copy;
  }
  template <typename Each>
  hipError_t for_each_row(const Each& each) const {
    for (std::size_t z = 0; z < depth_; ++z) {
      for (std::size_t y = 0; y < height_; ++y) {
        if (const hipError_t error = each(row(y, z)); error != hipSuccess) return error;
      }
    }
    return hipSuccess;
  }

 private:
  bool has_gaps(const hipPitchedPtr& memory) const {
    return (height_ > 1 && memory.pitch != memory.xsize) ||
           (depth_ > 1 && slice_of(memory) != memory.xsize * height_);
  }
  static std::size_t slice_of(const hipPitchedPtr& memory) {
    return memory.pitch * std::max<std::size_t>(memory.ysize, 1);
  }
  static void pick(hipArray_const_t array, bool of_lines, hipPitchedPtr& memory, hipPos& position,
                   std::size_t y, std::size_t z) {
    if (array == nullptr) {
      memory.ptr = static_cast<char*>(memory.ptr) + z * slice_of(memory) + y * memory.pitch;
      memory.ysize = 1;
      return;
    }
    position.y += y;
    position.z += z;
    if (of_lines) position.y = std::exchange(position.z, 0);
  }

  const hipMemcpy3DParms& wanted_;
  const bool source_lines_;
  const bool target_lines_;
  const std::size_t height_;
  const std::size_t depth_;
};

hipError_t copy_one(hipMemcpy3DParms copy, hipStream_t stream) {
  const hipError_t error = name_begins(copy);
  return error != hipSuccess ? error : runtime.hipMemcpy3DAsync(&copy, stream);
}

bool is_concerned(const hipMemcpy3DParms& copy) {
  return (copy.srcArray != nullptr || copy.dstArray != nullptr) && find_rules() != kAsHip;
}

hipError_t copy_async(const hipMemcpy3DParms* wanted, hipStream_t stream) {
  if (!is_concerned(*wanted)) return runtime.hipMemcpy3DAsync(wanted, stream);
  const Copy copy(*wanted);
  if (!copy.goes_by_rows()) return copy_one(*wanted, stream);
  return copy.for_each_row([&](const hipMemcpy3DParms& row) { return copy_one(row, stream); });
}

hipError_t add_node(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* before, std::size_t count,
                    const hipMemcpy3DParms* wanted) {
  if (!is_concerned(*wanted)) return runtime.hipGraphAddMemcpyNode(node, graph, before, count, wanted);
  const Copy copy(*wanted);
  const bool by_rows = copy.goes_by_rows();
  if (by_rows && !copy.is_one_row()) return hipErrorInvalidValue;  // a node is one copy
  hipMemcpy3DParms made = by_rows ? copy.row(0, 0) : *wanted;
  const hipError_t error = name_begins(made);
  return error != hipSuccess ? error : runtime.hipGraphAddMemcpyNode(node, graph, before, count, &made);
}

hipError_t create(hipArray** array, const HIP_ARRAY3D_DESCRIPTOR* wish) {
  const hipError_t error = runtime.hipArray3DCreate(array, wish);
  const bool of_lines = (wish->Flags & hipArrayLayered) != 0 && wish->Height == 0;
  if (error == hipSuccess && of_lines && find_rules() != kAsHip) lines().add(*array);
  return error;
}

hipError_t destroy(hipArray* array) {
  lines().remove(array);
  return runtime.hipArrayDestroy(array);
}

// Its other function says whether a device has such arrays at all.
hipError_t create_mipmapped(hipMipmappedArray_t* array, HIP_ARRAY3D_DESCRIPTOR* wish, unsigned levels) {
  const hipError_t error = runtime.hipMipmappedArrayCreate(array, wish, levels);
  if (error != hipErrorInvalidValue || find_rules() == kAsHip) return error;
  constexpr hipChannelFormatDesc kFloats{32, 0, 0, 0, hipChannelFormatKindFloat};
  hipMipmappedArray_t probe = nullptr;
  const hipError_t answer = runtime.hipMallocMipmappedArray(&probe, &kFloats, hipExtent{16, 16, 0}, 1, 0);
  if (answer == hipSuccess) (void)runtime.hipMipmappedArrayDestroy(probe);
  return answer == hipErrorNotSupported ? answer : error;
}

}  // namespace
}  // namespace amd_arrays

void mend_amd_arrays(protocol::HipTable& hip) {
  amd_arrays::runtime = hip;
  amd_arrays::rules.store(amd_arrays::kUnknown);
  hip.hipMemcpy3DAsync = amd_arrays::copy_async;
  hip.hipGraphAddMemcpyNode = amd_arrays::add_node;
  hip.hipArray3DCreate = amd_arrays::create;
  hip.hipArrayDestroy = amd_arrays::destroy;
  hip.hipMipmappedArrayCreate = amd_arrays::create_mipmapped;
}

}  // namespace tf::worker
