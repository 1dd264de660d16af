// SPDX-License-Identifier: Apache-2.0
// The layouts and numbers of the major TF_HIP_MAJOR.
#include "hipcore/abi/layouts.h"

#include <array>
#include <cstring>
#include <type_traits>

namespace tf::abi {
namespace {

constexpr bool kSince6 = TF_HIP_MAJOR >= 6;
constexpr bool kSince7 = TF_HIP_MAJOR >= 7;

// hipMemoryType: [MemoryType] -> number.
constexpr std::array<int, 4> kMemoryTypes = kSince6 ? std::array{1, 2, 10, 11} : std::array{0, 1, 2, 3};
constexpr int kManaged = 3;  // since 6.0

MemoryType memory_type_of(int number) {
  for (std::size_t i = 0; i < kMemoryTypes.size(); ++i)
    if (kMemoryTypes[i] == number) return static_cast<MemoryType>(i);
  return MemoryType::kNone;
}

// An end of HIP_MEMCPY3D. `Length`: unsigned in HIP 5, size_t since 6.0.
template <typename Length>
struct TheirEnd {
  Length x, y, z, lod;
  int type;
  void* host;
  hipDeviceptr_t device;
  hipArray_t array;
  Length pitch, height;
};

template <typename Length>
struct TheirCopy3D {
  TheirEnd<Length> source, target;
  Length width, height, depth;
};
static_assert(sizeof(TheirCopy3D<unsigned>) == sizeof(HIP_MEMCPY3D));
static_assert(offsetof(TheirCopy3D<unsigned>, target) == offsetof(HIP_MEMCPY3D, dstXInBytes));
static_assert(offsetof(TheirCopy3D<unsigned>, depth) == offsetof(HIP_MEMCPY3D, Depth));
static_assert(sizeof(TheirCopy3D<std::size_t>) == 184);

using Copy3D = TheirCopy3D<std::conditional_t<kSince6, std::size_t, unsigned>>;

// hip_Memcpy2D has the same layout in all majors, and the same numbers of memory types as HIP_MEMCPY3D.
struct TheirEnd2D {
  std::size_t x, y;
  int type;
  void* host;
  hipDeviceptr_t device;
  hipArray_t array;
  std::size_t pitch;
};

struct Copy2D {
  TheirEnd2D source, target;
  std::size_t width, height;
};
static_assert(sizeof(Copy2D) == sizeof(hip_Memcpy2D));
static_assert(offsetof(Copy2D, target) == offsetof(hip_Memcpy2D, dstXInBytes));
static_assert(offsetof(Copy2D, height) == offsetof(hip_Memcpy2D, Height));

template <typename To, typename From>
To bytes_of(const From& from) {
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

template <typename End>
DriverCopyEnd read_end(const End& from) {
  DriverCopyEnd end;
  end.x = from.x;
  end.y = from.y;
  end.type = memory_type_of(from.type);
  end.host = from.host;
  end.device = from.device;
  end.array = from.array;
  end.pitch = from.pitch;
  return end;
}

DriverCopyEnd read_end_3d(const decltype(Copy3D::source)& from) {
  DriverCopyEnd end = read_end(from);
  end.z = from.z;
  end.lod = from.lod;
  end.height = from.height;
  return end;
}

void write_end(const DriverCopyEnd& from, decltype(Copy3D::source)& to) {
  using Length = decltype(to.x);
  to = {static_cast<Length>(from.x),
        static_cast<Length>(from.y),
        static_cast<Length>(from.z),
        static_cast<Length>(from.lod),
        memory_type_number(from.type, false),
        from.host,
        from.device,
        from.array,
        static_cast<Length>(from.pitch),
        static_cast<Length>(from.height)};
}

// hipGraphNodeType since 6.0: [number] -> ours. A linear copy and copies of variables are copies there.
constexpr std::array<int, 15> kNodeTypes = {
    hipGraphNodeTypeKernel,
    hipGraphNodeTypeMemcpy,
    hipGraphNodeTypeMemset,
    hipGraphNodeTypeHost,
    hipGraphNodeTypeGraph,
    hipGraphNodeTypeEmpty,
    hipGraphNodeTypeWaitEvent,
    hipGraphNodeTypeEventRecord,
    kNodeSignalSemaphores,
    kNodeWaitForSemaphores,
    kNodeMemoryAllocation,
    kNodeMemoryFree,
    hipGraphNodeTypeMemcpyFromSymbol,
    hipGraphNodeTypeMemcpyToSymbol,
    kNodeBatch,
};
static_assert(hipGraphNodeTypeKernel == 1 && hipGraphNodeTypeMemcpy1D == 9);

struct DriverFill {  // HIP_MEMSET_NODE_PARAMS
  void* target;
  std::size_t pitch;
  unsigned value;
  unsigned element_bytes;
  std::size_t width, height;
};
static_assert(sizeof(DriverFill) == 40);

}  // namespace

DriverCopy from_program(const hip_Memcpy2D& theirs) {
  const auto from = bytes_of<Copy2D>(theirs);
  return {read_end(from.source), read_end(from.target), from.width, from.height, 1};
}

DriverCopy from_program(const HIP_MEMCPY3D& theirs) {
  Copy3D from;
  std::memcpy(&from, static_cast<const void*>(&theirs), sizeof from);  // since 6.0 longer than the type says
  return {read_end_3d(from.source), read_end_3d(from.target), from.width, from.height, from.depth};
}

void to_program(const DriverCopy& ours, HIP_MEMCPY3D& theirs) {
  Copy3D to{};
  using Length = decltype(to.width);
  write_end(ours.source, to.source);
  write_end(ours.target, to.target);
  to.width = static_cast<Length>(ours.width);
  to.height = static_cast<Length>(ours.height);
  to.depth = static_cast<Length>(ours.depth);
  std::memcpy(static_cast<void*>(&theirs), &to, sizeof to);
}

int memory_type_number(MemoryType type, bool is_managed) {
  if (kSince6 && is_managed) return kManaged;
  const auto at = static_cast<std::size_t>(type);
  return at < kMemoryTypes.size() ? kMemoryTypes[at] : 0;  // since 6.0: unregistered
}

void set_memory_type(hipPointerAttribute_t& attributes, MemoryType type, bool is_managed) {
  const int number = memory_type_number(type, is_managed);
  std::memcpy(&attributes.memoryType, &number, sizeof number);
}

int node_type_number(int ours) {
  if constexpr (!kSince6) return ours;
  const bool is_copy = ours == hipGraphNodeTypeMemcpy1D || ours == hipGraphNodeTypeMemcpyFromSymbol ||
                       ours == hipGraphNodeTypeMemcpyToSymbol;
  if (is_copy) ours = hipGraphNodeTypeMemcpy;
  for (std::size_t i = 0; i < kNodeTypes.size(); ++i)
    if (kNodeTypes[i] == ours) return static_cast<int>(i);
  return -1;
}

int node_type_of(int number) {
  if constexpr (!kSince6)
    return number >= hipGraphNodeTypeKernel && number < hipGraphNodeTypeCount ? number : -1;
  const auto at = static_cast<std::size_t>(number);
  return at < kNodeTypes.size() ? kNodeTypes[at] : -1;
}

hipMemsetParams driver_fill_from_program(const void* theirs) {
  hipMemsetParams fill{};
  if constexpr (kSince7) {
    std::memcpy(&fill, theirs, sizeof fill);
    return fill;
  }
  DriverFill from;
  std::memcpy(&from, theirs, sizeof from);
  fill.dst = from.target;
  fill.elementSize = from.element_bytes;
  fill.height = from.height;
  fill.pitch = from.pitch;
  fill.value = from.value;
  fill.width = from.width;
  return fill;
}

hipError_t with_number(hipError_t status, hipGraphNodeType* type) {
  if (status == hipSuccess) *type = static_cast<hipGraphNodeType>(node_type_number(*type));
  return status;
}

}  // namespace tf::abi
