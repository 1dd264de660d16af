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

// Where its allocation begins. Null: the runtime has neither allocated nor registered it.
void* begin_of(void* memory) {
  void* begin = nullptr;
  const hipError_t answer =
      runtime.hipPointerGetAttribute(&begin, HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR, memory);
  return answer == hipSuccess ? begin : nullptr;
}

std::size_t offset_in(const void* begin, const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) - reinterpret_cast<std::uintptr_t>(begin);
}

void name_begin(hipPitchedPtr& memory, hipPos& position) {
  void* const begin = begin_of(memory.ptr);
  if (begin == nullptr) return;  // pinned for this copy, and copied as HIP says
  position.x += offset_in(begin, memory.ptr);
  memory.ptr = begin;
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
    return source_lines_ || target_lines_ || (memory() != nullptr && is_misread(*memory()));
  }
  // Each row begins with a word. The kernel has no other way to address memory.
  bool is_possible() const {
    if (memory() == nullptr) return true;
    const std::size_t word = std::min(element_bytes(), kWordBytes);
    const std::size_t offset = offset_in(begin_of(memory()->ptr), memory()->ptr);
    return offset % word == 0 && (height_ == 1 || memory()->pitch % word == 0) &&
           (depth_ == 1 || slice_of(*memory()) % word == 0);
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
  // Of a copy with one array.
  const hipPitchedPtr* memory() const {
    if ((wanted_.srcArray != nullptr) == (wanted_.dstArray != nullptr)) return nullptr;
    return wanted_.srcArray != nullptr ? &wanted_.dstPtr : &wanted_.srcPtr;
  }
  std::size_t element_bytes() const {
    return wanted_.extent.width == 0 ? 1 : std::max<std::size_t>(memory()->xsize / wanted_.extent.width, 1);
  }
  bool is_misread(const hipPitchedPtr& memory) const {
    const bool gaps = (height_ > 1 && memory.pitch != memory.xsize) ||
                      (depth_ > 1 && slice_of(memory) != memory.xsize * height_);
    if (!gaps || (find_rules() & kForgetsPitches) != 0) return gaps;
    return memory.pitch % element_bytes() != 0 || slice_of(memory) % element_bytes() != 0;
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

// One that the runtime understands.
hipMemcpy3DParms as_named(hipMemcpy3DParms copy) {
  if ((find_rules() & kForgetsOffsets) == 0) return copy;
  if (copy.srcArray == nullptr) name_begin(copy.srcPtr, copy.srcPos);
  if (copy.dstArray == nullptr) name_begin(copy.dstPtr, copy.dstPos);
  return copy;
}

hipError_t copy_one(const hipMemcpy3DParms& wanted, hipStream_t stream) {
  const hipMemcpy3DParms copy = as_named(wanted);
  return runtime.hipMemcpy3DAsync(&copy, stream);
}

bool has_array(const hipMemcpy3DParms& copy) { return copy.srcArray != nullptr || copy.dstArray != nullptr; }

hipError_t copy_async(const hipMemcpy3DParms* wanted, hipStream_t stream) {
  if (!has_array(*wanted)) return runtime.hipMemcpy3DAsync(wanted, stream);
  const Copy copy(*wanted);
  if (!copy.is_possible()) return hipErrorInvalidValue;
  if (!copy.goes_by_rows()) return copy_one(*wanted, stream);
  return copy.for_each_row([&](const hipMemcpy3DParms& row) { return copy_one(row, stream); });
}

hipError_t add_node(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* before, std::size_t count,
                    const hipMemcpy3DParms* wanted) {
  if (!has_array(*wanted)) return runtime.hipGraphAddMemcpyNode(node, graph, before, count, wanted);
  const Copy copy(*wanted);
  const bool by_rows = copy.goes_by_rows();
  if (!copy.is_possible() || (by_rows && !copy.is_one_row())) return hipErrorInvalidValue;  // one copy a node
  const hipMemcpy3DParms made = as_named(by_rows ? copy.row(0, 0) : *wanted);
  return runtime.hipGraphAddMemcpyNode(node, graph, before, count, &made);
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
