// SPDX-License-Identifier: Apache-2.0
// VOPC: a bit of each lane; v_cmpx also writes EXEC [CDNA2 chapter 12.10 "VOPC Instructions"], and nothing
// else in RDNA [RDNA3 chapter 16.9 "VOPC Instructions"].
#include "tests/amd/isa/rows.h"

namespace tf::amd::isa {
namespace {

enum class Writes : std::uint8_t { kMask, kMaskAndExec, kExec };

template <class Op, class A, class B, Writes What>
void compare(Wave& w, const Instruction& in) {
  apply_control(w, control_of<A>());
  const Row* low[2];
  const Row* high[2];
  Row room[2][2];
  fetch_rows<A, B>(w, in, in.row->first_source(), low, high, room, std::make_index_sequence<2>{});
  Row result;
  TF_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) {
    const bool is =
        Op::run(A::of(low[0]->lane[i], high[0]->lane[i]), B::of(low[1]->lane[i], high[1]->lane[i]));
    result.lane[i] = is ? ~0U : 0U;
  }
  std::uint64_t bits = to_bits(result) & w.exec();
  if (in.mods.dpp != DataParallel::kNone) {
    Row lanes;
    dpp_lanes(w, in, lanes);
    bits &= to_bits(lanes);
  }
  if (What != Writes::kExec) w.set_mask(in.op[0].index, bits);
  if (What != Writes::kMask) w.set_mask(kExecLo, bits);
}

template <class Op, class A, class B, Writes What>
void plain_compare(Wave& w, const Instruction& in) {
  apply_control(w, control_of<A>());
  constexpr std::size_t kFirst = What == Writes::kExec ? 0 : 1;
  alignas(64) std::uint32_t room[2][2][kBlock];
  Lanes a = lanes_at<A::kWords>(w, in, kFirst, room[0]);
  Lanes b = lanes_at<B::kWords>(w, in, kFirst + 1, room[1]);
  const std::uint64_t exec = w.exec();
  std::uint64_t bits = 0;
  TF_LOOP_STAYS
  for (int at = 0; at < kLanes; at += kBlock) {
    alignas(64) std::uint32_t is[kBlock];
    TF_LANE_LOOP
    for (int i = 0; i < kBlock; ++i) {
      is[i] = Op::run(A::of(a.low[i], a.high[i]), B::of(b.low[i], b.high[i])) ? ~0U : 0U;
    }
    bits |= bits_of(is) << at;
    a = {a.low + a.step, a.high + a.step, a.step};
    b = {b.low + b.step, b.high + b.step, b.step};
  }
  bits &= exec;
  if (What != Writes::kExec) w.set_mask(in.op[0].index, bits);
  if (What != Writes::kMask) w.set_mask(kExecLo, bits);
}

#define TF_COMPARE(name, expression)                              \
  struct name##_is {                                              \
    template <class T>                                            \
    static bool run([[maybe_unused]] T a, [[maybe_unused]] T b) { \
      return expression;                                          \
    }                                                             \
  };
TF_COMPARE(f, false)
TF_COMPARE(t, true)
TF_COMPARE(tru, true)
TF_COMPARE(lt, a < b)
TF_COMPARE(eq, a == b)
TF_COMPARE(le, a <= b)
TF_COMPARE(gt, a > b)
TF_COMPARE(lg, a<b || a> b)
TF_COMPARE(ge, a >= b)
TF_COMPARE(ne, a != b)
TF_COMPARE(o, a == a && b == b)
TF_COMPARE(u, a != a || b != b)
TF_COMPARE(nge, !(a >= b))
TF_COMPARE(nlg, !(a < b || a > b))
TF_COMPARE(ngt, !(a > b))
TF_COMPARE(nle, !(a <= b))
TF_COMPARE(neq, a != b)
TF_COMPARE(nlt, !(a < b))

// Bits of b name classes of floats [CDNA2 V_CMP_CLASS_F32]. `Bits` and `Mantissa` of the format.
template <class Bits, int Mantissa, int Exponent>
bool in_class(Bits value, std::uint32_t classes) {
  const bool negative = (value >> (Mantissa + Exponent) & 1) != 0;
  const Bits exponent = value >> Mantissa & ((Bits{1} << Exponent) - 1);
  const Bits mantissa = value & ((Bits{1} << Mantissa) - 1);
  std::uint32_t bit = 0;
  if (exponent == (Bits{1} << Exponent) - 1) {
    const bool quiet_nan = (mantissa >> (Mantissa - 1) & 1) != 0;
    bit = mantissa != 0 ? (quiet_nan ? 1 : 0) : negative ? 2 : 9;
  } else if (exponent != 0) {
    bit = negative ? 3 : 8;
  } else if (mantissa != 0) {
    bit = negative ? 4 : 7;
  } else {
    bit = negative ? 5 : 6;
  }
  return (classes >> bit & 1) != 0;
}
// Sources as bits, with the modifiers and constants of floats.
struct Class32 : F32 {
  using Value = std::uint32_t;
  static Value of(std::uint32_t low, std::uint32_t /*high*/) { return low; }
};
struct Class64 : F64 {
  using Value = std::uint64_t;
  static Value of(std::uint32_t low, std::uint32_t high) { return U64::of(low, high); }
};
struct Class16 : F16 {
  using Value = std::uint32_t;
  static Value of(std::uint32_t low, std::uint32_t /*high*/) { return low & 0xffff; }
};
struct ClassOp32 {
  static bool run(std::uint32_t a, std::uint32_t b) { return in_class<std::uint32_t, 23, 8>(a, b); }
};
struct ClassOp64 {
  static bool run(std::uint64_t a, std::uint32_t b) { return in_class<std::uint64_t, 52, 11>(a, b); }
};
struct ClassOp16 {
  static bool run(std::uint32_t a, std::uint32_t b) { return in_class<std::uint32_t, 10, 5>(a, b); }
};

// " rdna" marks what that family has in place of the row of this name.
#define TF_ROWS(name, suffix, Op, A, B, modifiers)      \
  {"v_cmp_" name "_" suffix,                            \
   &compare<Op, A, B, Writes::kMask>,                   \
   modifiers,                                           \
   {Type::kMask, A::kType, B::kType},                   \
   &plain_compare<Op, A, B, Writes::kMask>},            \
      {"v_cmpx_" name "_" suffix,                       \
       &compare<Op, A, B, Writes::kMaskAndExec>,        \
       modifiers,                                       \
       {Type::kMask, A::kType, B::kType},               \
       &plain_compare<Op, A, B, Writes::kMaskAndExec>}, \
      {"v_cmpx_" name "_" suffix " rdna",               \
       &compare<Op, A, B, Writes::kExec>,               \
       kNoResult | (modifiers),                         \
       {A::kType, B::kType},                            \
       &plain_compare<Op, A, B, Writes::kExec>},
#define TF_ROW(op, suffix, T) TF_ROWS(#op, #suffix, op##_is, T, T, kSdwa | kDpp | half_modifiers<T>())
#define TF_INTEGERS(suffix, T) \
  TF_ROW(f, suffix, T)         \
  TF_ROW(t, suffix, T)         \
  TF_ROW(lt, suffix, T)        \
  TF_ROW(eq, suffix, T)        \
  TF_ROW(le, suffix, T) TF_ROW(gt, suffix, T) TF_ROW(ne, suffix, T) TF_ROW(ge, suffix, T)
#define TF_FLOATS(suffix, T)                                                                      \
  TF_ROW(f, suffix, T)                                                                            \
  TF_ROW(lt, suffix, T)                                                                           \
  TF_ROW(eq, suffix, T)                                                                           \
  TF_ROW(le, suffix, T)                                                                           \
  TF_ROW(gt, suffix, T)                                                                           \
  TF_ROW(lg, suffix, T)                                                                           \
  TF_ROW(ge, suffix, T)                                                                           \
  TF_ROW(o, suffix, T) TF_ROW(u, suffix, T) TF_ROW(nge, suffix, T) TF_ROW(nlg, suffix, T)         \
      TF_ROW(ngt, suffix, T) TF_ROW(nle, suffix, T) TF_ROW(neq, suffix, T) TF_ROW(nlt, suffix, T) \
          TF_ROW(tru, suffix, T)
#define TF_CLASS(suffix, bits, B) TF_ROWS("class", #suffix, ClassOp##bits, Class##bits, B, kSdwa | kDpp)

constexpr TableRow kRows[] = {
    TF_INTEGERS(i32, I32) TF_INTEGERS(u32, U32) TF_INTEGERS(i64, I64) TF_INTEGERS(u64, U64)
        TF_INTEGERS(i16, I16) TF_INTEGERS(u16, U16) TF_FLOATS(f32, F32) TF_FLOATS(f64, F64)
            TF_FLOATS(f16, F16) TF_CLASS(f32, 32, U32) TF_CLASS(f64, 64, U32) TF_CLASS(f16, 16, U16)};

}  // namespace

std::span<const TableRow> compare_rows() { return kRows; }

}  // namespace tf::amd::isa
