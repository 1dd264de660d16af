// SPDX-License-Identifier: Apache-2.0
// Where plain operands lie, so that executing an instruction needs no look at what kind they are.
#include <cstddef>

#include "tests/amd/isa/wave.h"

namespace tf::amd::isa {
namespace {

using Kind = Operand::Kind;

bool is_plain(const Operand& o) {
  return !o.modified && (o.kind == Kind::kVector || o.kind == Kind::kScalar || o.kind == Kind::kConstant);
}

void place(Instruction& in, std::size_t which) {
  const Operand& o = in.op[which];
  switch (o.kind) {
    case Kind::kVector:
      in.is[which] = Place::kRow;
      in.at[which] = static_cast<std::uint32_t>(o.index * sizeof(Row));
      return;
    case Kind::kScalar:
      in.is[which] = Place::kScalar;
      in.at[which] = static_cast<std::uint32_t>(Wave::place_of_scalars() + o.index * sizeof(std::uint32_t));
      return;
    default: break;
  }
  in.is[which] = Place::kNumber;
  const bool lanes = in.row->name.starts_with("v_");
  in.number[which] = lanes ? reinterpret_cast<std::uint64_t>(o.rows) : o.value;
}

}  // namespace

void place_operands(Instruction& in) {
  const TableRow& row = *in.row;
  in.handler = row.handler;
  const auto operands = std::size_t{in.operands} + ((row.accepts & kAccumulates) != 0 ? 1U : 0U);
  constexpr std::uint32_t kNotPlain = kDpp | kSdwa | kClamp | kOmod;  // carries saturate without `post`
  bool plain = row.plain != nullptr && !in.post && (in.mods.present & kNotPlain) == 0;
  for (std::size_t i = 0; i < operands; ++i) {
    plain = plain && is_plain(in.op[i]);
    if (i < kPlainMax) place(in, i);
  }
  // Who writes EXEC must refresh Wave::lanes, which put_plain() does not. v_cmpx calls set_mask(), which
  // does.
  const Operand& result = in.op[0];
  const bool writes_exec = row.name.starts_with("s_") && row.first_source() == 1 &&
                           result.kind == Kind::kScalar && result.index + result.count > kExecLo;
  if (plain && !writes_exec) in.handler = row.plain;
}

}  // namespace tf::amd::isa
