// SPDX-License-Identifier: Apache-2.0
// Registers whose number a scalar register says: arrays that the compiler keeps in vector registers.
#include "tests/amd/isa/indexed.h"

#include "tests/amd/isa/lanes.h"

namespace tf::amd::isa {
namespace {

constexpr std::uint32_t kIndexMask = 0xff;
constexpr std::uint32_t kModeShift = 12;  // of M0: what is indexed
constexpr std::uint32_t kModeMask = 0xf;
constexpr std::uint32_t kVectorsMax = 256;

// [Vega chapter 6.4 "GPR indexing"]: the index and what it counts for stand in M0.
void indexing_on(Wave& w, const Instruction& in) {
  const std::uint32_t kept = w.s[kM0] & ~(kIndexMask | kModeMask << kModeShift);
  const auto mode = static_cast<std::uint32_t>(in.op[1].value) & kModeMask;
  w.set(kM0, kept | (static_cast<std::uint32_t>(scalar(w, in, in.op[0])) & kIndexMask) | mode << kModeShift);
}
void index(Wave& w, const Instruction& in) {
  w.set(kM0, (w.s[kM0] & ~kIndexMask) | (static_cast<std::uint32_t>(scalar(w, in, in.op[0])) & kIndexMask));
}
// Decoding has seen to it: what stands up to there is indexed.
void indexing_off(Wave& /*w*/, const Instruction& /*in*/) {}

// What is beyond all registers would be v0, or written nowhere: no program wants that.
std::uint16_t shifted(const Instruction& in, const Operand& o, std::uint32_t index) {
  if (index >= kVectorsMax || o.index + index >= kVectorsMax) unsupported(in, "index beyond the registers");
  return static_cast<std::uint16_t>(o.index + index);
}

void move(Wave& w, const Instruction& in, bool target_counts, bool source_counts, std::uint32_t index) {
  Operand from = in.op[1];
  if (source_counts && from.kind == Operand::Kind::kVector) from.index = shifted(in, from, index);
  Row room;
  const Row& source = *row(w, in, from, 0, true, room);
  Row& target = w.v[target_counts ? shifted(in, in.op[0], index) : in.op[0].index];
  TF_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) target.lane[i] = merge(source.lane[i], target.lane[i], w.lanes.lane[i]);
}

// Between s_set_gpr_idx_on and s_set_gpr_idx_off.
void move_indexed(Wave& w, const Instruction& in) {
  const std::uint32_t mode = w.s[kM0] >> kModeShift & kModeMask;
  move(w, in, (mode & kIndexesTarget) != 0, (mode & kIndexesSource0) != 0, w.s[kM0] & kIndexMask);
}
// Of gfx1100: the index is all of M0.
template <bool Target, bool Source>
void move_relative(Wave& w, const Instruction& in) {
  move(w, in, Target, Source, w.s[kM0]);
}

constexpr Type kU = Type::kU32;
constexpr TableRow kRows[] = {
    {"s_set_gpr_idx_on", &indexing_on, kNoResult, {kU, Type::kLiteral}},
    {"s_set_gpr_idx_idx", &index, kNoResult, {kU}},
    {"s_set_gpr_idx_off", &indexing_off, 0, {}},
    {"v_movrels_b32", &move_relative<false, true>, 0, {kU, kU}},
    {"v_movreld_b32", &move_relative<true, false>, 0, {kU, kU}},
    {"v_movrelsd_b32", &move_relative<true, true>, 0, {kU, kU}},
};

}  // namespace

std::span<const TableRow> indexed_rows() { return kRows; }

bool is_indexing_on(const Instruction& in) { return in.row->name == "s_set_gpr_idx_on"; }
bool is_indexing_off(const Instruction& in) { return in.row->name == "s_set_gpr_idx_off"; }

void make_indexed(Instruction& in) {
  if (!in.row->name.starts_with("v_") && (in.row->accepts & kEndsBlock) == 0) return;
  const bool plain = in.row->name == "v_mov_b32" && in.mods.present == 0;
  if (!plain) unsupported(in, "while registers are indexed");
  in.handler = &move_indexed;
}

}  // namespace tf::amd::isa
