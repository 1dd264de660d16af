// SPDX-License-Identifier: Apache-2.0
// All lanes at once: sources as rows, results under EXEC. Loops over 64 lanes that the compiler vectorises.
#pragma once

#include <immintrin.h>

#include <bit>
#include <cstdint>
#include <utility>

#include "tests/amd/isa/half.h"
#include "tests/amd/isa/wave.h"

// A lane reads and writes its own lane of every row only, so rows may be the same.
#ifdef __clang__
#define TF_LANE_LOOP _Pragma("clang loop vectorize(assume_safety)")
#define TF_LOOP_STAYS _Pragma("clang loop unroll(disable)")
#else
#define TF_LANE_LOOP _Pragma("GCC ivdep")
#define TF_LOOP_STAYS _Pragma("GCC unroll 1")
#endif

namespace tf::amd::isa {

// Types of operands as C++ sees them: how many words, and how a lane's value is made of them.
struct U32 {
  using Value = std::uint32_t;
  static constexpr Type kType = Type::kU32;
  static constexpr int kWords = 1;
  static Value of(std::uint32_t low, std::uint32_t /*high*/) { return low; }
  static std::uint32_t low(Value value) { return value; }
  static std::uint32_t high(Value /*value*/) { return 0; }
};
struct I32 : U32 {
  using Value = std::int32_t;
  static Value of(std::uint32_t low, std::uint32_t /*high*/) { return static_cast<Value>(low); }
  static std::uint32_t low(Value value) { return static_cast<std::uint32_t>(value); }
};
struct F32 : U32 {
  using Value = float;
  static constexpr Type kType = Type::kF32;
  static Value of(std::uint32_t low, std::uint32_t /*high*/) { return std::bit_cast<float>(low); }
  static std::uint32_t low(Value value) { return std::bit_cast<std::uint32_t>(value); }
};
struct U64 {
  using Value = std::uint64_t;
  static constexpr Type kType = Type::kU64;
  static constexpr int kWords = 2;
  static Value of(std::uint32_t low, std::uint32_t high) {
    return low | static_cast<std::uint64_t>(high) << 32;
  }
  static std::uint32_t low(Value value) { return static_cast<std::uint32_t>(value); }
  static std::uint32_t high(Value value) { return static_cast<std::uint32_t>(value >> 32); }
};
struct I64 : U64 {
  using Value = std::int64_t;
  static constexpr Type kType = Type::kI64;
  static Value of(std::uint32_t low, std::uint32_t high) { return static_cast<Value>(U64::of(low, high)); }
  static std::uint32_t low(Value value) { return static_cast<std::uint32_t>(value); }
  static std::uint32_t high(Value value) { return static_cast<std::uint32_t>(value >> 32); }
};
struct F64 : U64 {
  using Value = double;
  static constexpr Type kType = Type::kF64;
  static Value of(std::uint32_t low, std::uint32_t high) { return std::bit_cast<double>(U64::of(low, high)); }
  static std::uint32_t low(Value value) { return U64::low(std::bit_cast<std::uint64_t>(value)); }
  static std::uint32_t high(Value value) { return U64::high(std::bit_cast<std::uint64_t>(value)); }
};
struct U16 : U32 {
  static constexpr Type kType = Type::kU16;
  static Value of(std::uint32_t low, std::uint32_t /*high*/) { return low & 0xffff; }
  static std::uint32_t low(Value value) { return value & 0xffff; }
};
struct I16 : U16 {
  using Value = std::int32_t;
  static Value of(std::uint32_t low, std::uint32_t /*high*/) {
    return static_cast<std::int16_t>(low & 0xffff);
  }
  static std::uint32_t low(Value value) { return static_cast<std::uint32_t>(value) & 0xffff; }
};
// The value as a float: every half is one.
struct F16 : U32 {
  using Value = float;
  static constexpr Type kType = Type::kF16;
  static Value of(std::uint32_t low, std::uint32_t /*high*/) { return half_to_float(low); }
  static std::uint32_t low(Value value) { return float_to_half(value); }
};
// A result of 64 lanes that is a bit each; not a type of a vector operand.
struct Mask {
  static constexpr Type kType = Type::kMask;
};

enum class Control : std::uint8_t { kNone, k32, k64, kMad };

template <class... T>
constexpr Control control_of() {
  if ((((T::kType == Type::kF64) || (T::kType == Type::kF16)) || ...)) return Control::k64;
  return ((T::kType == Type::kF32) || ...) ? Control::k32 : Control::kNone;
}

// Makes the host compute as MODE says.
inline void set_control(Wave& w, std::uint32_t wanted) {
  if (wanted == w.control_now) return;
  _mm_setcsr(wanted);
  w.control_now = wanted;
  asm volatile("" ::: "memory");  // nothing that is computed below moves above
}

inline void apply_control(Wave& w, Control control) {
  if (control == Control::kNone) return;
  const std::uint32_t wanted = control == Control::k32   ? w.mode.control32
                               : control == Control::k64 ? w.mode.control64
                                                         : w.mode.control_mad;
  set_control(w, wanted);
}

extern const Row kAllLanes;

const Row* slow_row(Wave& w, const Instruction& in, const Operand& o, int part, bool top, Row& room);

// Word `part` of a source, in all lanes; `room` holds it where it stands nowhere. `top`: the word with the
// sign.
inline const Row* row(Wave& w, const Instruction& in, const Operand& o, int part, bool top, Row& room) {
  if (!o.modified) {
    if (o.kind == Operand::Kind::kVector) return &w.v[o.index + part];
    if (o.kind == Operand::Kind::kConstant) return o.rows + part;
  }
  return slow_row(w, in, o, part, top, room);
}

// The value of a scalar source of 32 or 64 bits.
std::uint64_t scalar(const Wave& w, const Instruction& in, const Operand& o);

// Which lanes a DPP instruction writes.
void dpp_lanes(const Wave& w, const Instruction& in, Row& lanes);

// Where a result goes: to the register, or first to a room if clamp, omod, SDWA or op_sel have their say.
struct Target {
  Target(Wave& w, const Instruction& in) : low(&w.v[in.op[0].index]), high(low + 1), lanes(&w.lanes) {
    if (in.mods.dpp != DataParallel::kNone) {
      dpp_lanes(w, in, dpp);
      lanes = &dpp;
    }
    written = lanes;
    if (!in.post) return;
    low = &room[0];
    high = &room[1];
    written = &kAllLanes;
  }
  Row* low;
  Row* high;
  const Row* lanes;    // that take part
  const Row* written;  // that the loop writes
  Row dpp;
  Row room[2];
};

void write_back(Wave& w, const Instruction& in, const Target& target, Type type);

// Bits from a row of all ones or zeros.
inline std::uint64_t to_bits(const Row& row) {
  std::uint64_t bits = 0;
  for (int i = 0; i < kLanes; i += 8) {
    const __m256 eight = _mm256_load_ps(reinterpret_cast<const float*>(&row.lane[i]));
    bits |= static_cast<std::uint64_t>(static_cast<unsigned>(_mm256_movemask_ps(eight))) << i;
  }
  return bits;
}

inline void from_bits(std::uint64_t bits, Row& row) {
  for (int byte = 0; byte < 8; ++byte) {
    const std::uint32_t part = static_cast<std::uint32_t>(bits >> (8 * byte)) & 0xff;
    for (int i = 0; i < 8; ++i) row.lane[8 * byte + i] = 0U - (part >> i & 1U);
  }
}

inline std::uint32_t merge(std::uint32_t result, std::uint32_t before, std::uint32_t mask) {
  return (result & mask) | (before & ~mask);
}

template <class... S, std::size_t... K>
void fetch_rows(Wave& w, const Instruction& in, int first, const Row* (&low)[sizeof...(S)],
                const Row* (&high)[sizeof...(S)], Row (&room)[sizeof...(S)][2],
                std::index_sequence<K...> /*k*/) {
  ((low[K] = row(w, in, in.op[first + K], 0, S::kWords == 1, room[K][0]),
    high[K] = S::kWords == 2 ? row(w, in, in.op[first + K], 1, true, room[K][1]) : low[K]),
   ...);
}

// D = Op(S...) in every lane that takes part. Op::kSlow: only these lanes are computed, one after the other.
template <class Op, class D, class... S>
void valu(Wave& w, const Instruction& in) {
  apply_control(w, Op::kControl);
  const Row* low[sizeof...(S)];
  const Row* high[sizeof...(S)];
  Row room[sizeof...(S)][2];
  fetch_rows<S...>(w, in, 1, low, high, room, std::index_sequence_for<S...>{});
  Target target(w, in);
  const std::uint32_t* mask = target.written->lane;
  std::uint32_t* out_low = target.low->lane;
  std::uint32_t* out_high = target.high->lane;
  const Mode mode = w.mode;
  const auto one = [&]<std::size_t... K>(int i, std::index_sequence<K...>) {
    const typename D::Value value = Op::run(mode, S::of(low[K]->lane[i], high[K]->lane[i])...);
    out_low[i] = merge(D::low(value), out_low[i], mask[i]);
    if constexpr (D::kWords == 2) out_high[i] = merge(D::high(value), out_high[i], mask[i]);
  };
  if constexpr (Op::kSlow) {
    for (int i = 0; i < kLanes; ++i) {
      if (target.lanes->lane[i] != 0) one(i, std::index_sequence_for<S...>{});
    }
  } else {
    TF_LANE_LOOP
    for (int i = 0; i < kLanes; ++i) one(i, std::index_sequence_for<S...>{});
  }
  if (in.post) write_back(w, in, target, D::kType);
}

}  // namespace tf::amd::isa
