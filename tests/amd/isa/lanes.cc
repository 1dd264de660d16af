// SPDX-License-Identifier: Apache-2.0
// Sources that need work before a lane can read them, and results that need work before they are written.
#include "tests/amd/isa/lanes.h"

namespace tf::amd::isa {
namespace {

Row all_ones() {
  Row row;
  for (std::uint32_t& lane : row.lane) lane = ~0U;
  return row;
}

// The lane that `lane` reads with DPP; -1: none [CDNA2 "Data Parallel Primitives (DPP)"].
int dpp_source(const Modifiers& mods, int lane) {
  const int row = lane & ~15;
  const int in_row = lane & 15;
  const auto amount = static_cast<int>(mods.dpp_amount);
  switch (mods.dpp) {
    case DataParallel::kQuadPerm: return (lane & ~3) | (amount >> (2 * (lane & 3)) & 3);
    case DataParallel::kRowShl: return in_row + amount < 16 ? lane + amount : -1;
    case DataParallel::kRowShr: return in_row >= amount ? lane - amount : -1;
    case DataParallel::kRowRor: return row | ((in_row - amount) & 15);
    case DataParallel::kWaveShl: return lane < 63 ? lane + 1 : -1;
    case DataParallel::kWaveRol: return (lane + 1) & 63;
    case DataParallel::kWaveShr: return lane > 0 ? lane - 1 : -1;
    case DataParallel::kWaveRor: return (lane - 1) & 63;
    case DataParallel::kRowMirror: return row | (15 - in_row);
    case DataParallel::kRowHalfMirror: return (lane & ~7) | (7 - (lane & 7));
    case DataParallel::kRowBcast15: return lane >= 16 ? row - 1 : -1;
    case DataParallel::kRowBcast31: return lane >= 32 ? 31 : -1;
    case DataParallel::kRowNewBcast: return row | amount;
    case DataParallel::kRowXor: return row | (in_row ^ amount);
    case DataParallel::kEight: return (lane & ~7) | (amount >> (3 * (lane & 7)) & 7);
    case DataParallel::kNone: break;
  }
  return lane;
}

bool readable(const Wave& w, const Modifiers& mods, int source) {
  return source >= 0 && (mods.fetch_inactive || (w.exec() >> source & 1) != 0);
}

float f32(std::uint32_t bits) { return std::bit_cast<float>(bits); }

template <class T>
T adjust(const Mode& mode, const Modifiers& mods, T value) {
  if (mods.omod == 1) value *= 2;
  if (mods.omod == 2) value *= 4;
  if (mods.omod == 3) value /= 2;
  if (!mods.clamp) return value;
  if (value != value) return mode.dx10_clamp ? T{0} : value;
  return value <= 0 ? T{0} : value > 1 ? T{1} : value;
}

void adjust_lane(const Mode& mode, const Modifiers& mods, Type type, std::uint32_t& low,
                 std::uint32_t& high) {
  if (type == Type::kF32) {
    low = F32::low(adjust(mode, mods, f32(low)));
  } else if (type == Type::kF16) {
    low = F16::low(adjust(mode, mods, half_to_float(low)));
  } else if (type == Type::kF64) {
    const double value = adjust(mode, mods, F64::of(low, high));
    low = F64::low(value);
    high = F64::high(value);
  }
}

}  // namespace

const Row kAllLanes = all_ones();

std::uint64_t scalar(const Wave& w, const Instruction& in, const Operand& o) {
  switch (o.kind) {
    case Operand::Kind::kScalar: return o.count >= 2 ? w.pair(o.index) : w.s[o.index];
    case Operand::Kind::kConstant: return o.value;
    case Operand::Kind::kScc: return w.scc ? 1 : 0;
    case Operand::Kind::kVccz: return w.vcc() == 0 ? 1 : 0;
    case Operand::Kind::kExecz: return w.exec() == 0 ? 1 : 0;
    default: unsupported(in, "not a scalar operand");
  }
}

const Row* slow_row(Wave& w, const Instruction& in, const Operand& o, int part, bool top, Row& room) {
  if (o.kind == Operand::Kind::kVector) {
    room = w.v[o.index + part];
  } else {
    const std::uint32_t value = static_cast<std::uint32_t>(scalar(w, in, o) >> (32 * part));
    for (std::uint32_t& lane : room.lane) lane = value;
  }
  if (!o.modified) return &room;
  if (o.dpp) {
    const Row before = room;
    for (int i = 0; i < kLanes; ++i) {
      const int source = dpp_source(in.mods, i);
      room.lane[i] = readable(w, in.mods, source) ? before.lane[source] : 0;
    }
  }
  if (o.select_bits != 32) {
    const std::uint32_t mask = (1U << o.select_bits) - 1;
    for (std::uint32_t& lane : room.lane) lane = lane >> o.select_shift & mask;
  }
  if (o.sign_extend) {
    const int unused = 32 - o.select_bits;
    for (std::uint32_t& lane : room.lane) {
      lane = static_cast<std::uint32_t>(static_cast<std::int32_t>(lane << unused) >> unused);
    }
  }
  if (top) {
    for (std::uint32_t& lane : room.lane) lane = (lane & o.keep) ^ o.flip;
  }
  return &room;
}

void dpp_lanes(const Wave& w, const Instruction& in, Row& lanes) {
  for (int i = 0; i < kLanes; ++i) {
    const bool row_on = (in.mods.row_mask >> (i / 16) & 1) != 0;
    const bool bank_on = (in.mods.bank_mask >> (i / 4 % 4) & 1) != 0;
    // DPP8 has no BOUND_CTRL: a source that takes no part is always 0.
    const bool zero = in.mods.bound_ctrl || in.mods.dpp == DataParallel::kEight;
    const bool source_on = zero || readable(w, in.mods, dpp_source(in.mods, i));
    lanes.lane[i] = row_on && bank_on && source_on ? w.lanes.lane[i] : 0;
  }
}

void write_back(Wave& w, const Instruction& in, const Target& target, Type type) {
  const Modifiers& mods = in.mods;
  const bool two = type == Type::kF64 || type == Type::kU64 || type == Type::kI64;
  const bool half = type == Type::kF16 || type == Type::kU16;
  const bool to_high = half && (mods.op_sel >> (in.operands - 1) & 1) != 0;
  Row* out = &w.v[in.op[0].index];
  for (int i = 0; i < kLanes; ++i) {
    if (target.lanes->lane[i] == 0) continue;
    std::uint32_t low = target.low->lane[i];
    std::uint32_t high = two ? target.high->lane[i] : 0;
    const std::uint32_t before = out->lane[i];
    if ((mods.clamp || mods.omod != 0) && (in.row->accepts & kSaturates) == 0) {
      adjust_lane(w.mode, mods, type, low, high);
    }
    if (to_high) {
      low = (before & 0xffff) | low << 16;
    } else if (in.keeps_half) {
      low = (before & 0xffff0000) | (low & 0xffff);
    }
    if (mods.dst_bits != 32) {
      const std::uint32_t mask = ((1U << mods.dst_bits) - 1) << mods.dst_shift;
      const std::uint32_t value = low << mods.dst_shift & mask;
      const int above = 32 - mods.dst_shift - mods.dst_bits;
      std::uint32_t rest = 0;
      if (mods.dst_unused == 2) rest = before & ~mask;
      if (mods.dst_unused == 1 && above > 0 && (value >> (mods.dst_shift + mods.dst_bits - 1) & 1) != 0) {
        rest = ~0U << (32 - above);
      }
      low = value | rest;
    }
    out->lane[i] = low;
    if (two) (out + 1)->lane[i] = high;
  }
}

}  // namespace tf::amd::isa
