// SPDX-License-Identifier: Apache-2.0
// A wave of 64 or 32 lanes while it runs, its work-group, and what stops it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/amd/isa/executor.h"
#include "tests/amd/isa/instruction.h"
#include "tests/amd/isa/processor.h"

namespace tf::amd::isa {

// Thrown by an instruction that cannot be executed; ends the dispatch.
struct Stop {
  FailureKind kind;
  std::string text;
  std::uint64_t address = 0;
  std::uint32_t trap = 0;
};

// Scalar registers by their encoding [CDNA2 chapter 3.5].
constexpr int kFlatScratchLo = 102;
constexpr int kXnackMaskLo = 104;
constexpr int kVccLo = 106;
constexpr int kTtmp0 = 108;
constexpr int kM0 = 124;
constexpr int kExecLo = 126;
constexpr int kNull = 128;  // takes what is written, up to 16 registers, and is never read
constexpr int kHiddenFlatScratch = kNull + 16;  // of processors where FLAT_SCRATCH is no scalar register

// The hardware register MODE [CDNA2 chapter 3.4 "Mode register"].
struct Mode {
  std::uint32_t bits = 0;
  bool ieee = false;
  bool dx10_clamp = false;
  std::uint32_t control32 = 0x1f80;    // MXCSR for F32,
  std::uint32_t control64 = 0x1f80;    // and for F64 and F16
  std::uint32_t control_mad = 0x9fc0;  // v_mad_f32, v_mac_f32: no denormals, whatever MODE says

  void set(std::uint32_t new_bits);
  int round16() const { return bits >> 2 & 3; }
  bool half_denormals() const { return (bits >> 6 & 3) == 3; }
};

// Where this thread may read and write: the ranges that AddressSpace told last.
class MemoryView {
 public:
  explicit MemoryView(const AddressSpace& space) : space_(&space), now_(&space.generation()) {}

  // [address, address + bytes) for reading or writing. Throws Stop.
  std::uint8_t* at(std::uint64_t address, std::uint64_t bytes, bool write) {
    if (in_last(address, bytes, write)) {
      return reinterpret_cast<std::uint8_t*>(address);  // NOLINT: a device address is a host address
    }
    return look_up(address, bytes, write);
  }
  // Whether it lies in the range that was used last.
  bool in_last(std::uint64_t address, std::uint64_t bytes, bool write) const {
    const AddressSpace::Range& last = ranges_[0];
    return now_->load(std::memory_order_relaxed) == generation_ && address >= last.begin &&
           address < last.end && bytes <= last.end - address && (last.writable || !write);
  }
  // The same, but null instead of a Stop.
  std::uint8_t* try_at(std::uint64_t address, std::uint64_t bytes, bool write);

 private:
  std::uint8_t* look_up(std::uint64_t address, std::uint64_t bytes, bool write);

  const AddressSpace* space_;
  const std::atomic<std::uint64_t>* now_;
  std::uint64_t generation_ = ~std::uint64_t{0};
  std::array<AddressSpace::Range, 8> ranges_{};  // the one used last comes first
};

struct WorkGroup;
struct Block;

struct Wave {
  enum class State : std::uint8_t { kRuns, kYields, kAtBarrier, kEnded };

  std::array<std::uint32_t, 160> s{};
  Row lanes{};  // what EXEC says: all ones for a lane that takes part
  Row* v = nullptr;
  bool scc = false;
  State state = State::kRuns;
  std::uint32_t control_now = 0;  // this thread's MXCSR
  std::uint64_t next = 0;         // program counter, valid where a block ends
  Mode mode;
  const Instruction* current = nullptr;
  Block* block = nullptr;  // that it ran last
  const Processor* processor = nullptr;
  std::uint64_t lane_mask = ~std::uint64_t{0};  // of a wave of 32 lanes: the lower half
  WorkGroup* group = nullptr;
  MemoryView* memory = nullptr;
  std::uint64_t instructions = 0;
  std::uint64_t private_base = 0;   // of lane 0; each lane has private_bytes
  std::uint32_t private_bytes = 0;  // of a lane
  std::uint32_t number = 0;         // in its work-group
  std::uint32_t trap_status = 0;

  static constexpr std::size_t place_of_scalars();  // in bytes
  std::uint64_t pair(int index) const {
    std::uint64_t both = 0;
    std::memcpy(&both, &s[static_cast<std::size_t>(index)], sizeof both);
    return both;
  }
  std::uint64_t exec() const { return pair(kExecLo) & lane_mask; }
  std::uint64_t vcc() const { return pair(kVccLo) & lane_mask; }
  bool wave32() const { return lane_mask >> 32 == 0; }
  int lane_count() const { return wave32() ? 32 : 64; }
  void set_pair(int index, std::uint64_t value) {
    s[index] = static_cast<std::uint32_t>(value);
    s[index + 1] = static_cast<std::uint32_t>(value >> 32);
    if (index >= kExecLo) refresh_lanes();
  }
  void set(int index, std::uint32_t value) {
    s[index] = value;
    if (index >= kExecLo) refresh_lanes();
  }
  // A bit of each lane: in two registers, or in one where there are 32 lanes.
  void set_mask(int index, std::uint64_t bits) {
    if (wave32()) return set(index, static_cast<std::uint32_t>(bits));
    set_pair(index, bits);
  }
  void refresh_lanes();
};
constexpr std::size_t Wave::place_of_scalars() { return offsetof(Wave, s); }

struct WorkGroup {
  std::vector<Wave> waves;
  std::unique_ptr<Row[]> registers;  // kWaveRows for each wave
  std::unique_ptr<std::uint8_t[]> local;
  std::uint32_t local_bytes = 0;
  std::unique_ptr<std::uint8_t[]> scratch;
  MemoryView* memory = nullptr;
  const Dispatch* dispatch = nullptr;
};
constexpr int kWaveRows = 512;

[[noreturn]] void unsupported(const Instruction& in, std::string why);

}  // namespace tf::amd::isa
