// SPDX-License-Identifier: Apache-2.0
// Components of an element in registers: one in each, or as halves two.
#pragma once

#include "tests/amd/isa/half.h"
#include "tests/amd/isa/lanes.h"
#include "tests/amd/isa/texel.h"

namespace tf::amd::isa {

constexpr std::uint32_t kPlainControl = 0x1f80;  // texels are converted and mixed whatever MODE says

inline void apply_plain_control(Wave& w) { set_control(w, kPlainControl); }

// `count` components; of halves an even number. Stops where the operand is another number of registers.
inline void check_components(const Instruction& in, const TexelFormat& format, int count, bool halves) {
  if (halves && count % 2 != 0) unsupported(in, "an odd number of halves");
  if (halves && format.is_integer() && format.bits == 32) unsupported(in, "integers of 32 bits as halves");
  if (in.op[0].count != (halves ? count / 2 : count))
    unsupported(in, "registers that are not its components'");
}

inline void put_component(const TexelFormat& format, bool halves, Row* to, int at, int lane,
                          std::uint32_t value) {
  if (!halves) {
    to[at].lane[lane] = value;
    return;
  }
  const std::uint32_t half =
      format.is_integer() ? value & 0xffff : float_to_half(std::bit_cast<float>(value));
  std::uint32_t& word = to[at / 2].lane[lane];
  word = at % 2 == 0 ? half : word | half << 16;
}

// Of the lanes that take part.
inline void write_components(Wave& w, const Instruction& in, const Row* rows) {
  Row* out = &w.v[in.op[0].index];
  for (int k = 0; k < in.op[0].count; ++k) {
    for (int i = 0; i < kLanes; ++i) {
      if (w.lanes.lane[i] != 0) out[k].lane[i] = rows[k].lane[i];
    }
  }
}

inline std::uint32_t get_component(const TexelFormat& format, bool halves, const Row* from, int at,
                                   int lane) {
  if (!halves) return from[at].lane[lane];
  const std::uint32_t half = from[at / 2].lane[lane] >> (16 * (at % 2)) & 0xffff;
  if (!format.is_integer()) return std::bit_cast<std::uint32_t>(half_to_float(half));
  return format.number == Number::kSint ? static_cast<std::uint32_t>(static_cast<std::int16_t>(half)) : half;
}

}  // namespace tf::amd::isa
