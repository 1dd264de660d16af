// SPDX-License-Identifier: Apache-2.0
// Kernel descriptors and the registers that a wave starts with [LLVM "Initial Kernel Execution State"].
#include "tests/amd/isa/launch.h"

#include <algorithm>
#include <cstring>

namespace tf::amd::isa {
namespace {

constexpr std::size_t kDescriptorBytes = 64;
constexpr std::size_t kEntryOffset = 16;
constexpr std::size_t kResource1Offset = 48;
constexpr std::size_t kResource2Offset = 52;
constexpr std::size_t kPropertiesOffset = 56;
constexpr std::size_t kPreloadOffset = 58;

// kernel_code_properties
constexpr unsigned kPrivateBuffer = 1 << 0;
constexpr unsigned kDispatchPointer = 1 << 1;
constexpr unsigned kQueuePointer = 1 << 2;
constexpr unsigned kKernargPointer = 1 << 3;
constexpr unsigned kDispatchId = 1 << 4;
constexpr unsigned kFlatScratch = 1 << 5;
constexpr unsigned kPrivateSize = 1 << 6;
constexpr unsigned kWave32 = 1 << 10;
// compute_pgm_rsrc2
constexpr unsigned kPrivateOffset = 1 << 0;
constexpr unsigned kGroupInfo = 1 << 10;

// Word 1 and 3 of the private segment's buffer, as this interpreter's buffer.cc knows it.
constexpr std::uint32_t kSwizzle = 1U << 31;
constexpr std::uint32_t kAddLane = 1U << 23;

template <class T>
T read_at(const std::uint8_t* from, std::size_t offset) {
  T value;
  std::memcpy(&value, from + offset, sizeof value);
  return value;
}

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

void user_registers(Wave& w, const Launch& launch) {
  const unsigned properties = launch.descriptor.properties;
  const Dispatch& dispatch = launch.dispatch;
  int at = 0;
  const auto pair = [&](unsigned property, std::uint64_t value) {
    if ((properties & property) == 0) return;
    w.set_pair(at, value);
    at += 2;
  };
  if ((properties & kPrivateBuffer) != 0) {
    w.set_pair(0, w.private_base | static_cast<std::uint64_t>(kSwizzle) << 32);
    w.set_pair(2, 0xffffffff | static_cast<std::uint64_t>(kAddLane) << 32);
    at = 4;
  }
  pair(kDispatchPointer, address_of(dispatch.dispatch_packet));
  pair(kQueuePointer, address_of(dispatch.queue));
  pair(kKernargPointer, address_of(dispatch.kernarg));
  pair(kDispatchId, dispatch.dispatch_id);
  pair(kFlatScratch, w.private_base);
  if ((properties & kPrivateSize) != 0) w.s[at++] = launch.private_bytes;
  const auto* arguments = static_cast<const std::uint32_t*>(dispatch.kernarg);
  for (std::uint32_t i = 0; i < launch.descriptor.preloaded; ++i)
    w.s[at++] = arguments[launch.descriptor.preloaded_from + i];
}

void system_registers(Wave& w, const Launch& launch, const std::array<std::uint32_t, 3>& id,
                      std::uint32_t waves) {
  std::size_t at = launch.descriptor.user_registers;
  for (int axis = 0; axis < 3; ++axis) {
    if ((launch.descriptor.resource2 >> (7 + axis) & 1) != 0) w.s[at++] = id[static_cast<std::size_t>(axis)];
  }
  if ((launch.descriptor.resource2 & kGroupInfo) != 0) {
    const std::uint32_t first = w.number == 0 ? 1U << 31 : 0;
    w.s[at++] = first | waves;
  }
  // Each wave's buffer begins at its own memory.
  if ((launch.descriptor.resource2 & kPrivateOffset) != 0) w.s[at++] = 0;
}

// User registers that user_registers() fills before preloaded arguments.
unsigned registers_before(unsigned properties) {
  unsigned count = (properties & kPrivateBuffer) != 0 ? 4 : 0;
  for (const unsigned pair : {kDispatchPointer, kQueuePointer, kKernargPointer, kDispatchId, kFlatScratch})
    count += (properties & pair) != 0 ? 2 : 0;
  return count + ((properties & kPrivateSize) != 0 ? 1 : 0);
}

// Arguments that lie in user registers at the start, behind all others. Firmware that cannot preload starts
// at the kernel's first 256 bytes, which load them; here they are skipped [LLVM "Preloaded Kernel
// Arguments"].
bool take_preload(std::uint32_t field, MemoryView& memory, Launch& launch) {
  constexpr std::uint64_t kPassedOver = 256;
  Descriptor& descriptor = launch.descriptor;
  descriptor.preloaded = field & 0x7f;
  descriptor.preloaded_from = field >> 7;
  if (descriptor.preloaded == 0) return true;
  descriptor.entry += kPassedOver;
  const std::uint64_t from = address_of(launch.dispatch.kernarg) + 4ULL * descriptor.preloaded_from;
  return launch.processor->preloads &&
         registers_before(descriptor.properties) + descriptor.preloaded <= descriptor.user_registers &&
         memory.try_at(from, 4ULL * descriptor.preloaded, false) != nullptr;
}

}  // namespace

std::optional<Launch> prepare(const Dispatch& dispatch, const Processor& processor,
                              const AddressSpace& memory, std::string& why) {
  Launch launch;
  launch.processor = &processor;
  launch.dispatch = dispatch;
  const auto* bytes = static_cast<const std::uint8_t*>(dispatch.descriptor);
  MemoryView view(memory);
  if (view.try_at(address_of(bytes), kDescriptorBytes, false) == nullptr) {
    why = "the kernel descriptor lies in no allocation";
    return std::nullopt;
  }
  launch.group_count = 1;
  std::uint64_t items = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::uint32_t size = dispatch.workgroup_size[axis];
    items *= size;
    if (size == 0 || items > kWorkGroupItemsMax || dispatch.grid_size[axis] == 0) {
      why = "work-groups of no item, or of more than " + std::to_string(kWorkGroupItemsMax);
      return std::nullopt;
    }
    launch.groups[axis] = (dispatch.grid_size[axis] - 1) / size + 1;
    launch.group_count *= launch.groups[axis];
  }
  if (dispatch.group_segment_bytes > kGroupSegmentBytesMax ||
      dispatch.private_segment_bytes > kPrivateSegmentBytesMax) {
    why = "more LDS or private memory than there is";
    return std::nullopt;
  }
  Descriptor& descriptor = launch.descriptor;
  descriptor.entry = address_of(bytes) + read_at<std::uint64_t>(bytes, kEntryOffset);
  const auto resource1 = read_at<std::uint32_t>(bytes, kResource1Offset);
  // FLOAT_MODE, DX10_CLAMP, IEEE_MODE and FP16_OVFL stand in MODE in the same order, but not at the same
  // places.
  descriptor.mode = (resource1 >> 12 & 0xff) | (resource1 >> 21 & 1) << 8 | (resource1 >> 23 & 1) << 9 |
                    (resource1 >> 26 & 1) << 23;
  descriptor.resource2 = read_at<std::uint32_t>(bytes, kResource2Offset);
  descriptor.user_registers = descriptor.resource2 >> 1 & 31;
  descriptor.properties = read_at<std::uint16_t>(bytes, kPropertiesOffset);
  if ((descriptor.properties & kWave32) != 0) launch.lanes = 32;
  if (launch.lanes == 32 && !processor.wave32) {
    why = "waves of 32 lanes, which " + std::string(processor.name) + " has not";
    return std::nullopt;
  }
  if (!take_preload(read_at<std::uint16_t>(bytes, kPreloadOffset), view, launch)) {
    why = "arguments in registers that are no memory, or too many";
    return std::nullopt;
  }
  launch.private_bytes = (dispatch.private_segment_bytes + 15) / 16 * 16;
  return launch;
}

void start_group(WorkGroup& group, const Launch& launch, std::uint64_t number, MemoryView& memory) {
  const Dispatch& dispatch = launch.dispatch;
  std::array<std::uint32_t, 3> id{};
  std::array<std::uint32_t, 3> size{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    id[axis] = static_cast<std::uint32_t>(number % launch.groups[axis]);
    number /= launch.groups[axis];
    const std::uint32_t begin = id[axis] * dispatch.workgroup_size[axis];
    size[axis] = std::min(dispatch.workgroup_size[axis], dispatch.grid_size[axis] - begin);
  }
  const std::uint32_t items = size[0] * size[1] * size[2];
  const std::uint32_t waves = (items + launch.lanes - 1) / launch.lanes;
  const std::size_t private_bytes = std::size_t{launch.private_bytes} * kLanes;
  if (group.waves.size() < waves) {
    group.registers = std::make_unique_for_overwrite<Row[]>(std::size_t{waves} * kWaveRows);
    group.scratch = std::make_unique_for_overwrite<std::uint8_t[]>(private_bytes * waves + kLanes);
  }
  if (group.local == nullptr)
    group.local = std::make_unique<std::uint8_t[]>(dispatch.group_segment_bytes + 8);
  group.local_bytes = dispatch.group_segment_bytes;
  group.waves.assign(waves, Wave{});
  const std::uint64_t scratch = (address_of(group.scratch.get()) + kLanes - 1) / kLanes * kLanes;
  for (std::uint32_t i = 0; i < waves; ++i) {
    Wave& w = group.waves[i];
    w.number = i;
    w.v = &group.registers[std::size_t{i} * kWaveRows];
    w.group = &group;
    w.memory = &memory;
    w.processor = launch.processor;
    if (launch.lanes == 32) w.lane_mask = 0xffffffff;
    w.private_bytes = launch.private_bytes;
    w.private_base = scratch + i * private_bytes;
    w.set_pair(launch.processor->flat_scratch, w.private_base);
    w.mode.set(launch.descriptor.mode);
    w.next = launch.descriptor.entry;
    const std::uint32_t lanes = std::min(items - i * launch.lanes, launch.lanes);
    w.set_pair(kExecLo, lanes == kLanes ? ~std::uint64_t{0} : (std::uint64_t{1} << lanes) - 1);
    user_registers(w, launch);
    system_registers(w, launch, id, waves);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      const std::uint32_t item = i * launch.lanes + lane;
      const std::uint32_t x = item % size[0];
      const std::uint32_t y = item / size[0] % size[1];
      w.v[0].lane[lane] = x | y << 10 | item / (size[0] * size[1]) << 20;
    }
  }
}

}  // namespace tf::amd::isa
