// SPDX-License-Identifier: Apache-2.0
// Operations on plain operands, whose places are known beforehand: most of what a kernel executes.
#pragma once

#include "tests/amd/isa/lanes.h"

namespace tf::amd::isa {

// A plain operand that is a scalar register or a constant: where its first word lies.
inline const std::uint32_t* scalar_at(const Wave& w, const Instruction& in, std::size_t which) {
  const auto* registers = reinterpret_cast<const char*>(&w) + in.at[which];
  const auto* number = reinterpret_cast<const char*>(&in.number[which]);
  return reinterpret_cast<const std::uint32_t*>(in.is[which] == Place::kNumber ? number : registers);
}
inline Row* row_at(const Wave& w, const Instruction& in, std::size_t which) {
  return reinterpret_cast<Row*>(reinterpret_cast<char*>(w.v) + in.at[which]);
}

constexpr int kBlock = 32;  // lanes that are blended or not together

// The words of one source, lane by lane.
struct Lanes {
  const std::uint32_t* low;
  const std::uint32_t* high;
  std::size_t step;  // from one block to the next one; 0: they are the same
};

// A source of `Words` registers; `room` holds a scalar in all lanes of a block.
template <int Words>
Lanes lanes_at(const Wave& w, const Instruction& in, std::size_t which, std::uint32_t (&room)[2][kBlock]) {
  if (in.is[which] == Place::kScalar) {
    const std::uint32_t* word = scalar_at(w, in, which);
    for (std::uint32_t& lane : room[0]) lane = word[0];
    if (Words == 2)
      for (std::uint32_t& lane : room[1]) lane = word[1];
    return {room[0], room[Words - 1], 0};
  }
  const Row* row =
      in.is[which] == Place::kNumber ? reinterpret_cast<const Row*>(in.number[which]) : row_at(w, in, which);
  return {row->lane, (row + (Words - 1))->lane, kBlock};
}

// Bits of a block of lanes that are all ones or 0.
inline std::uint64_t bits_of(const std::uint32_t (&lanes)[kBlock]) {
  std::uint32_t bits = 0;
  for (int i = 0; i < kBlock; i += 8) {
    const __m256 eight = _mm256_loadu_ps(reinterpret_cast<const float*>(&lanes[i]));
    bits |= static_cast<std::uint32_t>(_mm256_movemask_ps(eight)) << i;
  }
  return bits;
}

// D = Op(S...), block by block: where every lane of one takes part, nothing is blended.
template <class Op, class D, class... S>
struct PlainLanes {
  static constexpr std::size_t kSources = sizeof...(S);

  template <bool Blend, std::size_t... K>
  [[gnu::always_inline]] static void block(const Mode& mode, const Lanes (&from)[kSources],
                                           std::uint32_t* out_low, const std::uint32_t* mask,
                                           std::index_sequence<K...> /*k*/) {
    const std::uint32_t* const low[kSources] = {from[K].low...};
    const std::uint32_t* const high[kSources] = {from[K].high...};
    std::uint32_t* out_high = D::kWords == 2 ? out_low + kLanes : out_low;
    TF_LANE_LOOP
    for (int i = 0; i < kBlock; ++i) {
      const typename D::Value value = Op::run(mode, S::of(low[K][i], high[K][i])...);
      out_low[i] = Blend ? merge(D::low(value), out_low[i], mask[i]) : D::low(value);
      if constexpr (D::kWords == 2) {
        out_high[i] = Blend ? merge(D::high(value), out_high[i], mask[i]) : D::high(value);
      }
    }
  }

  template <std::size_t... K>
  [[gnu::always_inline]] static void blocks(Wave& w, const Instruction& in, std::index_sequence<K...> k) {
    alignas(64) std::uint32_t room[kSources][2][kBlock];
    Lanes from[kSources] = {lanes_at<S::kWords>(w, in, K + 1, room[K])...};
    std::uint32_t* out = row_at(w, in, 0)->lane;
    const Mode& mode = w.mode;
    const std::uint64_t exec = w.exec();
    TF_LOOP_STAYS
    for (int at = 0; at < kLanes; at += kBlock) {
      const auto bits = static_cast<std::uint32_t>(exec >> at);
      if (bits == ~0U) {
        block<false>(mode, from, out + at, nullptr, k);
      } else if (bits != 0) {
        block<true>(mode, from, out + at, w.lanes.lane + at, k);
      }
      ((from[K].low += from[K].step, from[K].high += from[K].step), ...);
    }
  }

  static void run(Wave& w, const Instruction& in) {
    apply_control(w, Op::kControl);
    blocks(w, in, std::index_sequence_for<S...>{});
  }

  // Operations that go lane by lane gain nothing.
  static constexpr Handler handler() {
    if constexpr (Op::kSlow) {
      return nullptr;
    } else {
      return &run;
    }
  }
};

}  // namespace tf::amd::isa
