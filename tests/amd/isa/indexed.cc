// SPDX-License-Identifier: Apache-2.0
#include "tests/amd/isa/indexed.h"

#include "tests/amd/isa/lanes.h"

namespace tf::amd::isa {
namespace {

constexpr std::uint32_t kResult = 8;  // SRC0, SRC1, SRC2: 1, 2, 4
constexpr std::uint32_t kRegisters = 256;
constexpr std::uint32_t kModeMask = 0xf;

void add(const Instruction& in, Operand& operand, std::uint32_t index) {
  if (operand.kind != Operand::Kind::kVector) return;
  if (index >= kRegisters || operand.index + operand.count + index > kRegisters)
    unsupported(in, "an index beyond the registers");
  operand.index = static_cast<std::uint16_t>(operand.index + index);
}

// Of gfx1100: the index is all of M0.
template <bool Target, bool Source>
void move_relative(Wave& w, const Instruction& in) {
  Instruction moved = in;
  if (Target) add(in, moved.op[0], w.s[kM0]);
  if (Source) add(in, moved.op[1], w.s[kM0]);
  Row room;
  const Row& source = *row(w, moved, moved.op[1], 0, true, room);
  Row& target = w.v[moved.op[0].index];
  TF_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) target.lane[i] = merge(source.lane[i], target.lane[i], w.lanes.lane[i]);
}

constexpr Type kU = Type::kU32;
constexpr TableRow kRows[] = {
    {"v_movrels_b32", &move_relative<false, true>, 0, {kU, kU}},
    {"v_movreld_b32", &move_relative<true, false>, 0, {kU, kU}},
    {"v_movrelsd_b32", &move_relative<true, true>, 0, {kU, kU}},
};

}  // namespace

std::span<const TableRow> indexed_rows() { return kRows; }

Instruction with_indices(const Wave& w, const Instruction& in) {
  Instruction moved = in;
  if (!in.row->name.starts_with("v_")) return moved;
  const std::uint32_t which = w.s[kM0] >> 12 & kModeMask;
  const std::uint32_t index = w.s[kM0] & 0xff;
  for (const char* name : {"v_readlane", "v_writelane", "v_readfirstlane", "v_swap", "v_mfma", "v_smfmac"}) {
    if (in.row->name.starts_with(name)) unsupported(in, "indexed registers");
  }
  const int first = in.row->first_source();
  if (first == 1 && (which & kResult) != 0) add(in, moved.op[0], index);
  unsigned source = 0;
  for (int i = first; i < in.operands; ++i) {
    if (in.row->types[i] == Type::kMask) continue;
    if ((which >> source & 1) != 0) add(in, moved.op[i], index);
    ++source;
  }
  if ((in.row->accepts & kAccumulates) != 0) {
    if (which != 0) unsupported(in, "indexed registers of an accumulator");
  }
  place_operands(moved);
  return moved;
}

}  // namespace tf::amd::isa
