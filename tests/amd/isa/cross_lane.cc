// SPDX-License-Identifier: Apache-2.0
// Between lanes, and between lanes and scalar registers.
#include "tests/amd/isa/lanes.h"

namespace tf::amd::isa {
namespace {

// The first lane that takes part; 0 where none does.
int first_lane(const Wave& w) { return w.exec() == 0 ? 0 : std::countr_zero(w.exec()); }

void read_first_lane(Wave& w, const Instruction& in) {
  Row room;
  w.set(in.op[0].index, row(w, in, in.op[1], 0, true, room)->lane[first_lane(w)]);
}

void read_lane(Wave& w, const Instruction& in) {
  Row room;
  const std::uint64_t lane = scalar(w, in, in.op[2]) & static_cast<unsigned>(w.lane_count() - 1);
  w.set(in.op[0].index, row(w, in, in.op[1], 0, true, room)->lane[lane]);
}

// EXEC has no say.
void write_lane(Wave& w, const Instruction& in) {
  const std::uint64_t lane = scalar(w, in, in.op[2]) & static_cast<unsigned>(w.lane_count() - 1);
  w.v[in.op[0].index].lane[lane] = static_cast<std::uint32_t>(scalar(w, in, in.op[1]));
}

// d, mask, addend: the mask's bits of lanes before this one.
template <bool High>
void count_below(Wave& w, const Instruction& in) {
  Row room[2];
  const Row* mask = row(w, in, in.op[1], 0, true, room[0]);
  const Row* addend = row(w, in, in.op[2], 0, true, room[1]);
  Target target(w, in);
  for (int i = 0; i < kLanes; ++i) {
    if (target.lanes->lane[i] == 0) continue;
    const int lanes = High ? i - 32 : i;
    const std::uint64_t below = lanes <= 0 ? 0 : (std::uint64_t{1} << std::min(lanes, 32)) - 1;
    const int count = std::popcount(mask->lane[i] & static_cast<std::uint32_t>(below));
    target.low->lane[i] = static_cast<std::uint32_t>(count) + addend->lane[i];
  }
  if (in.post) write_back(w, in, target, Type::kU32);
}

void swap(Wave& w, const Instruction& in) {
  Row& first = w.v[in.op[0].index];
  Row& second = w.v[in.op[1].index];
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] != 0) std::swap(first.lane[i], second.lane[i]);
  }
}

// d, value, which lane of the row each lane reads: four bits of two words. `Crosses`: of the other row of a
// pair. op_sel: lanes that take no part are read; else they give 0, or nothing is written [RDNA3
// V_PERMLANE16_B32].
template <bool Crosses>
void permute_row(Wave& w, const Instruction& in) {
  Row room;
  const Row value = *row(w, in, in.op[1], 0, true, room);
  const std::uint64_t selector = (scalar(w, in, in.op[2]) & 0xffffffff) | scalar(w, in, in.op[3]) << 32;
  const bool reads_all = (in.mods.op_sel & 1) != 0;
  const bool bounded = (in.mods.op_sel & 2) != 0;
  Row& out = w.v[in.op[0].index];
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    const int from = ((i & ~15) ^ (Crosses ? 16 : 0)) | static_cast<int>(selector >> (4 * (i & 15)) & 15);
    const bool readable = reads_all || w.lanes.lane[from] != 0;
    if (readable || bounded) out.lane[i] = readable ? value.lane[from] : 0;
  }
}

// Each half of 64 lanes gets what the other one has, whether that takes part or not; of 32 lanes nothing
// changes.
void permute_halves(Wave& w, const Instruction& in) {
  if (w.wave32()) return;
  const Row value = w.v[in.op[1].index];
  Row& out = w.v[in.op[0].index];
  for (int i = 0; i < kLanes; ++i) out.lane[i] = merge(value.lane[i ^ 32], out.lane[i], w.lanes.lane[i]);
}

void nothing(Wave& /*w*/, const Instruction& /*in*/) {}

// d, offset of lanes in bytes, value: each lane writes its value to lane offset / 4, or reads from there.
template <bool Push>
void permute(Wave& w, const Instruction& in) {
  Row room[2];
  const Row& address = *row(w, in, in.op[1], 0, true, room[0]);
  const Row& value = *row(w, in, in.op[2], 0, true, room[1]);
  Row result{};
  const auto lanes = static_cast<std::uint32_t>(w.processor->permute_lanes);
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    const std::uint32_t reached = (address.lane[i] + static_cast<std::uint32_t>(in.mods.offset)) / 4 % lanes;
    const std::uint32_t other = reached + static_cast<std::uint32_t>(i) / lanes * lanes;
    if (Push) {
      result.lane[other] = value.lane[i];
    } else {
      result.lane[i] = w.lanes.lane[other] != 0 ? value.lane[other] : 0;
    }
  }
  Row& out = w.v[in.op[0].index];
  for (int i = 0; i < kLanes; ++i) out.lane[i] = merge(result.lane[i], out.lane[i], w.lanes.lane[i]);
}

// The lane that a lane reads; -1: none [CDNA2 DS_SWIZZLE_B32].
int swizzle_source(const Instruction& in, int lane) {
  const int bits = in.mods.offset;
  if ((bits & 0x8000) != 0) {
    if ((bits & 0x4000) != 0) unsupported(in, "swizzle of this mode");
    return (lane & ~3) | (bits >> (2 * (lane & 3)) & 3);
  }
  const int half = lane & 32;
  const int in_half = lane & 31;
  return half | (((in_half & (bits & 31)) | (bits >> 5 & 31)) ^ (bits >> 10 & 31));
}

void swizzle(Wave& w, const Instruction& in) {
  const Row value = w.v[in.op[1].index];
  Row& out = w.v[in.op[0].index];
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    const int source = swizzle_source(in, i);
    out.lane[i] = w.lanes.lane[source] != 0 ? value.lane[source] : 0;
  }
}

constexpr Type kU = Type::kU32;
constexpr TableRow kRows[] = {
    {"v_readfirstlane_b32", &read_first_lane, 0, {kU, kU}},
    {"v_readlane_b32", &read_lane, 0, {kU, kU, kU}},
    {"v_writelane_b32", &write_lane, 0, {kU, kU, kU}},
    {"v_mbcnt_lo_u32_b32", &count_below<false>, kDpp, {kU, kU, kU}},
    {"v_mbcnt_hi_u32_b32", &count_below<true>, kDpp, {kU, kU, kU}},
    {"v_permlane16_b32", &permute_row<false>, kOpSel, {kU, kU, kU, kU}},
    {"v_permlanex16_b32", &permute_row<true>, kOpSel, {kU, kU, kU, kU}},
    {"v_permlane64_b32", &permute_halves, 0, {kU, kU}},
    {"v_swap_b32", &swap, 0, {kU, kU}},
    {"v_nop", &nothing, 0, {}},
    {"ds_permute_b32", &permute<true>, kOffset, {kU, kU, kU}},
    {"ds_bpermute_b32", &permute<false>, kOffset, {kU, kU, kU}},
    {"ds_swizzle_b32", &swizzle, kOffset, {kU, kU}},
};

}  // namespace

std::span<const TableRow> lane_rows() { return kRows; }

}  // namespace tf::amd::isa
