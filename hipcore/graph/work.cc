// SPDX-License-Identifier: Apache-2.0
// Converts the API's node parameters to work and back, with their checks.
#include "hipcore/graph/work.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "hipcore/abi/layouts.h"
#include "hipcore/memory/copy_kind.h"

namespace tf::graph {
namespace {

constexpr std::size_t kExtraEntriesMax = 16;

// A list {POINTER, p, SIZE, &n, END}, in any order.
hipError_t read_extra(void** extra, std::vector<std::byte>& block) {
  const void* bytes = nullptr;
  const std::size_t* size = nullptr;
  std::size_t i = 0;
  for (; i < kExtraEntriesMax && extra[i] != HIP_LAUNCH_PARAM_END; i += 2) {
    if (extra[i] == HIP_LAUNCH_PARAM_BUFFER_POINTER)
      bytes = extra[i + 1];
    else if (extra[i] == HIP_LAUNCH_PARAM_BUFFER_SIZE)
      size = static_cast<const std::size_t*>(extra[i + 1]);
    else
      return hipErrorInvalidValue;
  }
  if (i >= kExtraEntriesMax || size == nullptr || (bytes == nullptr && *size != 0))
    return hipErrorInvalidValue;
  if (*size != 0 && !block.empty()) std::memcpy(block.data(), bytes, std::min(*size, block.size()));
  return hipSuccess;
}

}  // namespace

int type_of(const Work& work) {
  if (std::holds_alternative<KernelWork>(work)) return hipGraphNodeTypeKernel;
  if (const auto* copy = std::get_if<CopyWork>(&work)) return copy->type;
  if (std::holds_alternative<FillWork>(work)) return hipGraphNodeTypeMemset;
  if (std::holds_alternative<HostWork>(work)) return hipGraphNodeTypeHost;
  if (const auto* event = std::get_if<EventWork>(&work))
    return event->record ? hipGraphNodeTypeEventRecord : hipGraphNodeTypeWaitEvent;
  if (std::holds_alternative<AllocationWork>(work)) return abi::kNodeMemoryAllocation;
  if (std::holds_alternative<ReleaseWork>(work)) return abi::kNodeMemoryFree;
  if (std::holds_alternative<BatchWork>(work)) return abi::kNodeBatch;
  if (const auto* semaphores = std::get_if<SemaphoreWork>(&work))
    return semaphores->signal ? abi::kNodeSignalSemaphores : abi::kNodeWaitForSemaphores;
  return std::holds_alternative<ChildWork>(work) ? hipGraphNodeTypeGraph : hipGraphNodeTypeEmpty;
}

bool same_kind(const Work& one, const Work& other) {
  if (one.index() != other.index()) return false;
  if (const auto* semaphores = std::get_if<SemaphoreWork>(&one))
    return semaphores->signal == std::get<SemaphoreWork>(other).signal;
  const auto* event = std::get_if<EventWork>(&one);
  return event == nullptr || event->record == std::get<EventWork>(other).record;
}

bool same_direction(const Work& one, const Work& other) {
  const auto* const before = std::get_if<CopyWork>(&one);
  const auto* const after = std::get_if<CopyWork>(&other);
  return before == nullptr || after == nullptr || before->kind == after->kind;
}

hipError_t read_kernel(const hipKernelNodeParams& parameters, const KernelFacts& facts, KernelWork& work) {
  if (parameters.kernelParams != nullptr && parameters.extra != nullptr) return hipErrorInvalidValue;
  work.function = parameters.func;
  work.resolved = facts.resolved;
  work.shared_bytes = parameters.sharedMemBytes;
  const dim3 shapes[2] = {parameters.gridDim, parameters.blockDim};
  for (int which = 0; which < 2; ++which) {
    std::uint32_t(&axes)[3] = which == 0 ? work.grid : work.threads;
    axes[0] = shapes[which].x;
    axes[1] = shapes[which].y;
    axes[2] = shapes[which].z;
  }
  work.block.assign(facts.argument_bytes, std::byte{0});
  work.arguments = facts.arguments;
  if (parameters.extra != nullptr) return read_extra(parameters.extra, work.block);
  if (parameters.kernelParams == nullptr && !facts.arguments.empty()) return hipErrorInvalidValue;
  for (std::size_t i = 0; i < facts.arguments.size(); ++i) {
    const Argument& place = facts.arguments[i];
    if (parameters.kernelParams[i] == nullptr) return hipErrorInvalidValue;
    std::memcpy(work.block.data() + place.offset_bytes, parameters.kernelParams[i], place.size_bytes);
  }
  return hipSuccess;
}

void write_kernel(const KernelWork& work, ShownArguments& shown, hipKernelNodeParams& parameters) {
  parameters = {};
  parameters.func = const_cast<void*>(work.function);
  parameters.gridDim = dim3(work.grid[0], work.grid[1], work.grid[2]);
  parameters.blockDim = dim3(work.threads[0], work.threads[1], work.threads[2]);
  parameters.sharedMemBytes = work.shared_bytes;
  shown.block = work.block;
  shown.pointers.clear();
  for (const Argument& place : work.arguments)
    shown.pointers.push_back(shown.block.data() + place.offset_bytes);
  parameters.kernelParams = shown.pointers.empty() ? nullptr : shown.pointers.data();
}

bool may_be_array(bool target, hipMemcpyKind kind) {
  return hipdata::is_within_devices(kind) || kind == hipMemcpyDefault ||
         kind == (target ? hipMemcpyHostToDevice : hipMemcpyDeviceToHost);
}

hipError_t stand_in(const array::Place& place, const BoxPosition& position, const Box& box, BoxSide& side) {
  std::uint64_t end[3] = {};
  const bool sound = !__builtin_add_overflow(position.x, box.width, &end[0]) &&
                     !__builtin_add_overflow(position.y, box.height, &end[1]) &&
                     !__builtin_add_overflow(position.z, box.depth, &end[2]);
  if (!sound || end[0] > place.row_bytes || end[1] > place.rows || end[2] > place.slices)
    return hipErrorInvalidValue;
  if (position.x % place.element_bytes != 0 || box.width % place.element_bytes != 0)
    return hipErrorInvalidValue;
  side = {place.base, place.pitch, place.slice};
  side.address += position.z * side.slice + position.y * side.pitch + position.x;
  return hipSuccess;
}

namespace {

// One end of a 3D copy from its pitched pointer and the position in it.
hipError_t read_side(const hipPitchedPtr& place, const hipPos& position, const Box& box, BoxSide& side) {
  if (place.ptr == nullptr) return hipErrorInvalidValue;
  side = {address_of(place.ptr), place.pitch, 0};
  if (side.pitch < box.width) return hipErrorInvalidPitchValue;
  const std::size_t rows = place.ysize != 0 ? place.ysize : box.height;
  if (__builtin_mul_overflow(side.pitch, rows, &side.slice)) return hipErrorInvalidValue;
  return move_to({position.x, position.y, position.z}, box, side) ? hipSuccess : hipErrorInvalidValue;
}

// One end of a 3D copy: its array and the position in elements, or else as above.
hipError_t read_side(const std::optional<array::Place>& array, const hipPitchedPtr& place,
                     const hipPos& position, const Box& box, BoxSide& side) {
  if (!array) return read_side(place, position, box, side);
  std::uint64_t x = 0;
  if (__builtin_mul_overflow(position.x, std::uint64_t{array->element_bytes}, &x))
    return hipErrorInvalidValue;
  return stand_in(*array, {x, position.y, position.z}, box, side);
}

hipPitchedPtr write_pointer(const CopyWork& work, const BoxSide& side) {
  hipPitchedPtr place{};
  place.ptr = side.memory();
  place.pitch = side.pitch;
  place.xsize = work.width;
  place.ysize = side.pitch != 0 && side.slice != 0 ? side.slice / side.pitch : work.height;
  return place;
}

// Returns the bytes of an array's element, 1 for other memory: the unit of the box's width.
std::uint32_t write_side(const CopyWork& work, const BoxSide& side, const array::Finder& arrays,
                         hipArray_t& array, hipPos& position, hipPitchedPtr& pointer) {
  const auto found = arrays.at(side.address);
  if (!found) {
    pointer = write_pointer(work, side);
    return 1;
  }
  const array::Position at = position_of(found->place, side.address);
  array = found->array;
  position = {at.x / found->place.element_bytes, at.y, at.z};
  return found->place.element_bytes;
}

// Whether the arrays that are named exist, and can be the ends of this copy.
hipError_t find_arrays(const hipMemcpy3DParms& p, const array::Finder& arrays,
                       std::optional<array::Place>& target, std::optional<array::Place>& source) {
  if ((p.dstArray != nullptr && p.dstPtr.ptr != nullptr) ||
      (p.srcArray != nullptr && p.srcPtr.ptr != nullptr))
    return hipErrorInvalidValue;
  target = arrays.find(p.dstArray);
  source = arrays.find(p.srcArray);
  if ((p.dstArray != nullptr && !target) || (p.srcArray != nullptr && !source)) return hipErrorInvalidValue;
  if (target && source && target->element_bytes != source->element_bytes) return hipErrorInvalidValue;
  // A program that leaves the direction out says "host to host": AMD's runtime does not ask, and copies.
  const bool any = p.kind == hipMemcpyHostToHost;
  if (!any && ((target && !may_be_array(true, p.kind)) || (source && !may_be_array(false, p.kind))))
    return hipErrorInvalidValue;
  return hipSuccess;
}

}  // namespace

// The width counts elements if there is an array, else bytes.
hipError_t read_copy(const hipMemcpy3DParms& parameters, const array::Finder& arrays, CopyWork& work) {
  if (!hipdata::is_kind(parameters.kind)) return hipErrorInvalidMemcpyDirection;
  std::optional<array::Place> target;
  std::optional<array::Place> source;
  hipError_t error = hipSuccess;
  if (parameters.srcArray != nullptr || parameters.dstArray != nullptr)
    error = find_arrays(parameters, arrays, target, source);
  if (error != hipSuccess) return error;
  const hipExtent& extent = parameters.extent;
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return hipErrorInvalidValue;
  const std::uint64_t unit = target ? target->element_bytes : source ? source->element_bytes : 1;
  work.type = hipGraphNodeTypeMemcpy;
  work.kind = parameters.kind;
  if (__builtin_mul_overflow(unit, extent.width, &work.width)) return hipErrorInvalidValue;
  work.height = extent.height;
  work.depth = extent.depth;
  error = read_side(target, parameters.dstPtr, parameters.dstPos, work, work.target);
  if (error == hipSuccess) error = read_side(source, parameters.srcPtr, parameters.srcPos, work, work.source);
  work.asked = std::make_shared<const hipMemcpy3DParms>(parameters);
  return error;
}

void write_copy(const CopyWork& work, const array::Finder& arrays, hipMemcpy3DParms& parameters) {
  if (work.asked) {
    parameters = *work.asked;
    return;
  }
  parameters = {};
  const std::uint32_t target =
      write_side(work, work.target, arrays, parameters.dstArray, parameters.dstPos, parameters.dstPtr);
  const std::uint32_t source =
      write_side(work, work.source, arrays, parameters.srcArray, parameters.srcPos, parameters.srcPtr);
  parameters.extent.width = work.width / std::max(target, source);
  parameters.extent.height = work.height;
  parameters.extent.depth = work.depth;
  parameters.kind = work.kind;
}

CopyWork copy_work(const Box& box, hipMemcpyKind kind) {
  return {box, kind, box.is_line() ? hipGraphNodeTypeMemcpy1D : hipGraphNodeTypeMemcpy};
}

hipError_t read_copy_1d(void* target, const void* source, std::size_t bytes, hipMemcpyKind kind,
                        CopyWork& work) {
  if (!hipdata::is_kind(kind)) return hipErrorInvalidMemcpyDirection;
  if (target == nullptr || source == nullptr || bytes == 0) return hipErrorInvalidValue;
  work = copy_work(line(address_of(target), address_of(source), bytes), kind);
  return hipSuccess;
}

hipError_t read_copy_symbol(bool to_symbol, std::byte* symbol, std::size_t symbol_bytes, const void* other,
                            std::size_t bytes, std::size_t offset, hipMemcpyKind kind, CopyWork& work) {
  if (offset > symbol_bytes || bytes > symbol_bytes - offset) return hipErrorInvalidValue;
  const hipMemcpyKind wrong = to_symbol ? hipMemcpyDeviceToHost : hipMemcpyHostToDevice;
  if (kind == wrong || kind == hipMemcpyHostToHost) return hipErrorInvalidMemcpyDirection;
  std::byte* const place = symbol + offset;
  void* const target = to_symbol ? place : const_cast<void*>(other);
  const hipError_t error = read_copy_1d(target, to_symbol ? other : place, bytes, kind, work);
  work.type = to_symbol ? hipGraphNodeTypeMemcpyToSymbol : hipGraphNodeTypeMemcpyFromSymbol;
  return error;
}

hipError_t read_fill(const hipMemsetParams& parameters, FillWork& work) {
  const unsigned size = parameters.elementSize;
  if (parameters.dst == nullptr || (size != 1 && size != 2 && size != 4)) return hipErrorInvalidValue;
  if (parameters.width == 0 || parameters.height == 0) return hipErrorInvalidValue;
  if (reinterpret_cast<std::uintptr_t>(parameters.dst) % size != 0) return hipErrorInvalidValue;
  work.target = static_cast<std::byte*>(parameters.dst);
  work.value = parameters.value;
  work.element_bytes = size;
  work.height = parameters.height;
  if (__builtin_mul_overflow(parameters.width, std::size_t{size}, &work.width)) return hipErrorInvalidValue;
  work.asked_pitch = parameters.pitch;
  work.pitch = parameters.height > 1 ? parameters.pitch : work.width;
  return work.pitch < work.width || work.pitch % size != 0 ? hipErrorInvalidValue : hipSuccess;
}

void write_fill(const FillWork& work, hipMemsetParams& parameters) {
  parameters = {};
  parameters.dst = work.target;
  parameters.value = work.value;
  parameters.elementSize = work.element_bytes;
  parameters.width = work.width / work.element_bytes;
  parameters.height = work.height;
  parameters.pitch = work.asked_pitch;
}

}  // namespace tf::graph
