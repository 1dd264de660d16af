// SPDX-License-Identifier: Apache-2.0
// Branches, barriers, the end; hardware registers; scalar loads.
#include <chrono>
#include <cstring>

#include "tests/amd/isa/arithmetic.h"
#include "tests/amd/isa/indexed.h"
#include "tests/amd/isa/lanes.h"

namespace tf::amd::isa {
namespace {

std::uint64_t behind(const Instruction& in) { return in.address + in.bytes; }

// The target is a signed count of words behind the branch.
std::uint64_t target(const Instruction& in, int which) {
  const std::int32_t words = sign_bits(static_cast<std::uint32_t>(in.op[which].value) & 0xffff, 16);
  return behind(in) + static_cast<std::uint64_t>(static_cast<std::int64_t>(words) * 4);
}

enum class When : std::uint8_t { kAlways, kScc0, kScc1, kVccZ, kVccNz, kExecZ, kExecNz };
template <When Condition>
void branch(Wave& w, const Instruction& in) {
  bool taken = true;
  if (Condition == When::kScc0) taken = !w.scc;
  if (Condition == When::kScc1) taken = w.scc;
  if (Condition == When::kVccZ) taken = w.vcc() == 0;
  if (Condition == When::kVccNz) taken = w.vcc() != 0;
  if (Condition == When::kExecZ) taken = w.exec() == 0;
  if (Condition == When::kExecNz) taken = w.exec() != 0;
  w.next = taken ? target(in, 0) : behind(in);
}

void end_program(Wave& w, const Instruction& /*in*/) { w.state = Wave::State::kEnded; }
void barrier(Wave& w, const Instruction& in) {
  w.state = Wave::State::kAtBarrier;
  w.next = behind(in);
}
// A wave that sleeps waits for another one.
void yield(Wave& w, const Instruction& in) {
  w.state = Wave::State::kYields;
  w.next = behind(in);
}
void nothing(Wave& /*w*/, const Instruction& /*in*/) {}
void trap(Wave& /*w*/, const Instruction& in) {
  const auto number = static_cast<std::uint32_t>(in.op[0].value);
  throw Stop{FailureKind::kTrap, "s_trap " + std::to_string(number), 0, number};
}
void halt(Wave& /*w*/, const Instruction& in) {
  if (in.op[0].value != 0) throw Stop{FailureKind::kTrap, "s_sethalt", 0, 0};
}

void get_pc(Wave& w, const Instruction& in) { w.set_pair(in.op[0].index, behind(in)); }
void set_pc(Wave& w, const Instruction& in) { w.next = scalar(w, in, in.op[0]); }
void swap_pc(Wave& w, const Instruction& in) {
  w.next = scalar(w, in, in.op[1]);
  w.set_pair(in.op[0].index, behind(in));
}
void call(Wave& w, const Instruction& in) {
  w.set_pair(in.op[0].index, behind(in));
  w.next = target(in, 1);
}

std::uint64_t nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// [CDNA2 chapter 3 "Kernel State", RDNA3 chapter 3 "Wave State", hardware registers of s_getreg].
std::uint32_t hardware(const Wave& w, const Instruction& in, int number) {
  switch (static_cast<HardwareRegister>(number)) {
    case HardwareRegister::kMode: return w.mode.bits;
    case HardwareRegister::kStatus:
      return (w.scc ? 1U : 0U) | (w.exec() == 0 ? 1U << 9 : 0U) | (w.vcc() == 0 ? 1U << 10 : 0U);
    case HardwareRegister::kTrapStatus: return w.trap_status;
    case HardwareRegister::kHwId: return w.number & 15;
    case HardwareRegister::kXccId: return 0;
    case HardwareRegister::kMemoryBases:
      return (kSharedApertureHigh & 0xffff0000) | kPrivateApertureHigh >> 16;
    case HardwareRegister::kCycles: return static_cast<std::uint32_t>(nanoseconds() & 0xfffff);
    case HardwareRegister::kFlatScratchLow: return w.s[w.processor->flat_scratch];
    case HardwareRegister::kFlatScratchHigh: return w.s[w.processor->flat_scratch + 1];
    default: unsupported(in, "hardware register");
  }
}

HardwareRegister register_of(const Operand& o) { return static_cast<HardwareRegister>(o.index); }
std::uint32_t mask_of(const Operand& o) {
  const std::uint32_t width = static_cast<std::uint32_t>(o.value >> 8);
  return width >= 32 ? ~0U : (1U << width) - 1;
}

void get_register(Wave& w, const Instruction& in) {
  const Operand& from = in.op[1];
  if (from.kind != Operand::Kind::kHwreg) unsupported(in, "no hardware register");
  w.set(in.op[0].index, hardware(w, in, from.index) >> (from.value & 31) & mask_of(from));
}

void set_register(Wave& w, const Instruction& in) {
  const Operand& to = in.op[0];
  if (to.kind != Operand::Kind::kHwreg) unsupported(in, "no hardware register");
  const std::uint32_t shift = to.value & 31;
  const std::uint32_t mask = mask_of(to) << shift;
  const std::uint32_t value = static_cast<std::uint32_t>(scalar(w, in, in.op[1])) << shift & mask;
  if (register_of(to) == HardwareRegister::kMode) {
    const std::uint32_t bits = (w.mode.bits & ~mask) | value;
    if (((w.mode.bits ^ bits) & kIndexesRegisters) != 0) unsupported(in, "bit 27 of MODE");
    w.mode.set(bits);
  } else if (register_of(to) == HardwareRegister::kTrapStatus) {
    w.trap_status = (w.trap_status & ~mask) | value;
  } else {
    unsupported(in, "write of this hardware register");
  }
}

// MODE's rounding (bits 0 to 3) or denormals (bits 4 to 7).
template <int Shift>
void set_mode(Wave& w, const Instruction& in) {
  const auto value = static_cast<std::uint32_t>(in.op[0].value) & 15;
  w.mode.set((w.mode.bits & ~(15U << Shift)) | value << Shift);
}

// d, base, offset: a register, a number, or a register and offset:number.
template <int Words>
void load(Wave& w, const Instruction& in) {
  std::uint64_t address = w.pair(in.op[1].index);
  address += static_cast<std::uint64_t>(static_cast<std::int64_t>(in.mods.offset));
  const Operand& offset = in.op[2];
  if (offset.kind == Operand::Kind::kConstant) {
    address += static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(offset.value)));
  } else {
    address += scalar(w, in, offset);
  }
  address &= ~std::uint64_t{3};
  std::uint32_t words[Words];
  std::memcpy(words, w.memory->at(address, sizeof words, false), sizeof words);
  for (int i = 0; i < Words; ++i) w.set(in.op[0].index + i, words[i]);
}

// The same from a buffer: base of 48 bits, and a size beyond which loads give 0 [CDNA2 chapter 7.3].
template <int Words>
void load_buffer(Wave& w, const Instruction& in) {
  const int resource = in.op[1].index;
  const std::uint64_t base = w.pair(resource) & 0xffffffffffff;
  const std::uint32_t stride = w.s[resource + 1] >> 16 & 0x3fff;
  const std::uint64_t records = w.s[resource + 2];
  const std::uint64_t size = stride == 0 ? records : records * stride;
  std::uint64_t offset = static_cast<std::uint32_t>(in.mods.offset) + scalar(w, in, in.op[2]);
  offset &= ~std::uint64_t{3};
  for (int i = 0; i < Words; ++i, offset += 4) {
    std::uint32_t word = 0;
    if (offset + 4 <= size)
      std::memcpy(&word, w.memory->at((base & ~std::uint64_t{3}) + offset, 4, false), 4);
    w.set(in.op[0].index + i, word);
  }
}

// Of the core's clock, which s_memtime counts, one nanosecond is a cycle.
constexpr std::uint64_t kRealTimePeriod_ns = 1'000'000'000 / kRealTimeFrequency;
template <std::uint64_t Period_ns>
void clock(Wave& w, const Instruction& in) {
  w.set_pair(in.op[0].index, nanoseconds() / Period_ns);
}

// d, message: only the one that asks for the time.
void ask(Wave& w, const Instruction& in) {
  if (in.op[1].value != kMessageRealTime || in.op[0].count != 2) unsupported(in, "message");
  w.set_pair(in.op[0].index, nanoseconds() / kRealTimePeriod_ns);
}

// Indices of vector registers: M0's lowest byte is added to those of the operands that its bits 12 to 15 name
// [CDNA2 chapter 12.4 S_SET_GPR_IDX_ON]. The executor does so (indexed.cc), from block to block.
void index_by(Wave& w, std::uint32_t mask, std::uint64_t bits) {
  w.set(kM0, (w.s[kM0] & ~mask) | (static_cast<std::uint32_t>(bits) & mask));
}
void indices_on(Wave& w, const Instruction& in) {
  index_by(w, 0xf0ff, (scalar(w, in, in.op[0]) & 0xff) | in.op[1].value << 12);
  w.mode.set(w.mode.bits | kIndexesRegisters);
  w.next = behind(in);
}
void indices_off(Wave& w, const Instruction& in) {
  w.mode.set(w.mode.bits & ~kIndexesRegisters);
  w.next = behind(in);
}
void set_index(Wave& w, const Instruction& in) { index_by(w, 0xff, scalar(w, in, in.op[0])); }
void set_index_mode(Wave& w, const Instruction& in) { index_by(w, 0xf000, in.op[0].value << 12); }

constexpr Type kL = Type::kLiteral;
constexpr Type kA = Type::kAny;
constexpr TableRow kProgramRows[] = {
    {"s_set_gpr_idx_on", &indices_on, kEndsBlock | kNoResult, {Type::kU32, kL}},
    {"s_set_gpr_idx_off", &indices_off, kEndsBlock, {}},
    {"s_set_gpr_idx_idx", &set_index, kNoResult, {Type::kU32}},
    {"s_set_gpr_idx_mode", &set_index_mode, kNoResult, {kL}},
    {"s_branch", &branch<When::kAlways>, kEndsBlock, {kL}},
    {"s_cbranch_scc0", &branch<When::kScc0>, kEndsBlock, {kL}},
    {"s_cbranch_scc1", &branch<When::kScc1>, kEndsBlock, {kL}},
    {"s_cbranch_vccz", &branch<When::kVccZ>, kEndsBlock, {kL}},
    {"s_cbranch_vccnz", &branch<When::kVccNz>, kEndsBlock, {kL}},
    {"s_cbranch_execz", &branch<When::kExecZ>, kEndsBlock, {kL}},
    {"s_cbranch_execnz", &branch<When::kExecNz>, kEndsBlock, {kL}},
    {"s_endpgm", &end_program, kEndsBlock, {}},
    {"s_barrier", &barrier, kEndsBlock, {}},
    {"s_sleep", &yield, kEndsBlock, {kL}},
    {"s_wakeup", &nothing, 0, {}},  // who sleeps looks again by itself
    {"s_trap", &trap, 0, {kL}},
    {"s_sethalt", &halt, 0, {kL}},
    {"s_nop", &nothing, 0, {kL}},
    {"s_waitcnt", &nothing, 0, {}},
    {"s_sendmsg", &nothing, 0, {kL}},  // MSG_INTERRUPT: who waits for a signal polls it
    {"s_setprio", &nothing, 0, {kL}},
    {"s_inst_prefetch", &nothing, 0, {kL}},
    {"s_icache_inv", &nothing, 0, {}},
    {"s_ttracedata", &nothing, 0, {}},
    {"s_dcache_inv", &nothing, 0, {}},
    {"s_dcache_wb", &nothing, 0, {}},
    {"s_dcache_inv_vol", &nothing, 0, {}},
    {"s_dcache_wb_vol", &nothing, 0, {}},
    {"buffer_wbinvl1", &nothing, 0, {}},
    {"buffer_wbinvl1_vol", &nothing, 0, {}},
    {"buffer_wbl2", &nothing, kCache, {}},
    {"buffer_invl2", &nothing, 0, {}},
    {"buffer_inv", &nothing, kCache, {}},
    {"buffer_gl0_inv", &nothing, 0, {}},
    {"buffer_gl1_inv", &nothing, 0, {}},
    {"s_waitcnt_vscnt", &nothing, 0, {}},
    {"s_waitcnt_vmcnt", &nothing, 0, {}},
    {"s_waitcnt_expcnt", &nothing, 0, {}},
    {"s_waitcnt_lgkmcnt", &nothing, 0, {}},
    {"s_waitcnt_depctr", &nothing, 0, {}},
    {"s_delay_alu", &nothing, 0, {}},
    {"s_wait_idle", &nothing, 0, {}},
    {"s_clause", &nothing, 0, {kL}},
    {"s_set_inst_prefetch_distance", &nothing, 0, {kL}},
    {"s_round_mode", &set_mode<0>, 0, {kL}},
    {"s_denorm_mode", &set_mode<4>, 0, {kL}},
    {"s_sendmsg_rtn_b32", &ask, 0, {Type::kU32, kL}},
    {"s_sendmsg_rtn_b64", &ask, 0, {Type::kU64, kL}},
    {"s_getpc_b64", &get_pc, 0, {Type::kU64}},
    {"s_setpc_b64", &set_pc, kEndsBlock, {Type::kU64}},
    {"s_swappc_b64", &swap_pc, kEndsBlock, {Type::kU64, Type::kU64}},
    {"s_call_b64", &call, kEndsBlock, {Type::kU64, kL}},
    {"s_getreg_b32", &get_register, 0, {Type::kU32, kL}},
    {"s_setreg_b32", &set_register, 0, {kL, Type::kU32}},
    {"s_setreg_imm32_b32", &set_register, 0, {kL, Type::kU32}},
    {"s_memtime", &clock<1>, 0, {Type::kU64}},
    {"s_memrealtime", &clock<kRealTimePeriod_ns>, 0, {Type::kU64}},
};

constexpr TableRow kMemoryRows[] = {
    {"s_load_dword", &load<1>, kOffset | kCache, {kA, kA, kA}},
    {"s_load_dwordx2", &load<2>, kOffset | kCache, {kA, kA, kA}},
    {"s_load_dwordx4", &load<4>, kOffset | kCache, {kA, kA, kA}},
    {"s_load_dwordx8", &load<8>, kOffset | kCache, {kA, kA, kA}},
    {"s_load_dwordx16", &load<16>, kOffset | kCache, {kA, kA, kA}},
    {"s_buffer_load_dword", &load_buffer<1>, kOffset | kCache, {kA, kA, kA}},
    {"s_buffer_load_dwordx2", &load_buffer<2>, kOffset | kCache, {kA, kA, kA}},
    {"s_buffer_load_dwordx4", &load_buffer<4>, kOffset | kCache, {kA, kA, kA}},
    {"s_buffer_load_dwordx8", &load_buffer<8>, kOffset | kCache, {kA, kA, kA}},
    {"s_buffer_load_dwordx16", &load_buffer<16>, kOffset | kCache, {kA, kA, kA}},
};

}  // namespace

std::span<const TableRow> program_rows() { return kProgramRows; }
std::span<const TableRow> scalar_memory_rows() { return kMemoryRows; }

}  // namespace tf::amd::isa
