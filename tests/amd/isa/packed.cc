// SPDX-License-Identifier: Apache-2.0
// VOP3P: two halves, or two floats, at once; mixed precision; dot products [CDNA2 chapter 12.11].
#include "tests/amd/isa/arithmetic.h"
#include "tests/amd/isa/lanes.h"

namespace tf::amd::isa {
namespace {

bool bit(std::uint8_t bits, int which) { return (bits >> which & 1) != 0; }

// Half `high` of source `k`, as op_sel and neg say, in the low 16 bits.
std::uint32_t half_of(const Modifiers& mods, int k, bool high, std::uint32_t word) {
  const bool from_high = bit(high ? mods.op_sel_hi : mods.op_sel, k);
  const std::uint32_t value = from_high ? word >> 16 : word & 0xffff;
  return bit(high ? mods.neg_hi : mods.neg_lo, k) ? value ^ 0x8000 : value;
}

// Op on both halves; T is F16, U16 or I16.
template <class Op, class T, int Sources>
void halves(Wave& w, const Instruction& in) {
  apply_control(w, Control::k64);
  Row room[Sources];
  const Row* source[Sources];
  for (int k = 0; k < Sources; ++k) source[k] = row(w, in, in.op[1 + k], 0, true, room[k]);
  Row& out = w.v[in.op[0].index];
  const Mode mode = w.mode;
  const Modifiers mods = in.mods;
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    std::uint32_t result = 0;
    for (int high = 0; high < 2; ++high) {
      typename T::Value x[3] = {};
      for (int k = 0; k < Sources; ++k) x[k] = T::of(half_of(mods, k, high != 0, source[k]->lane[i]), 0);
      auto value = Op::run(mode, x[0], x[1], x[2]);
      if constexpr (T::kType == Type::kF16) {
        if (mods.clamp)
          value = is_nan(value) ? (mode.dx10_clamp ? 0.0F : value) : std::clamp(value, 0.0F, 1.0F);
      } else if (mods.clamp) {
        unsupported(in, "clamp of packed integers");
      }
      result |= (T::low(value) & 0xffff) << (16 * high);
    }
    out.lane[i] = result;
  }
}

#define TF_PACKED(name, T, ...)                                                         \
  struct name##_op {                                                                    \
    static T::Value run([[maybe_unused]] const Mode& mode, [[maybe_unused]] T::Value a, \
                        [[maybe_unused]] T::Value b, [[maybe_unused]] T::Value c) {     \
      return static_cast<T::Value>(__VA_ARGS__);                                        \
    }                                                                                   \
  };
TF_PACKED(pk_add_f16, F16, a + b)
TF_PACKED(pk_mul_f16, F16, a* b)
TF_PACKED(pk_fma_f16, F16, half_fma(a, b, c))
TF_PACKED(pk_min_f16, F16, min_number(mode, a, b))
TF_PACKED(pk_max_f16, F16, max_number(mode, a, b))
TF_PACKED(pk_add_u16, U16, a + b)
TF_PACKED(pk_sub_u16, U16, a - b)
TF_PACKED(pk_mul_lo_u16, U16, a* b)
TF_PACKED(pk_mad_u16, U16, a* b + c)
TF_PACKED(pk_min_u16, U16, std::min(a, b))
TF_PACKED(pk_max_u16, U16, std::max(a, b))
TF_PACKED(pk_min_i16, I16, std::min(a, b))
TF_PACKED(pk_max_i16, I16, std::max(a, b))
TF_PACKED(pk_lshlrev_b16, U16, b << (a & 15))
TF_PACKED(pk_lshrrev_b16, U16, b >> (a & 15))
TF_PACKED(pk_ashrrev_i16, I16, b >> (a & 15))

// Float `high` of a pair in source `k`: op_sel picks a word, neg flips it.
struct PairSource {
  const Row* word[2];
  std::uint32_t flip[2];
};

PairSource pair_source(Wave& w, const Instruction& in, int k, Row (&room)[2], bool floats) {
  const Operand& o = in.op[1 + k];
  const Row* words[2] = {row(w, in, o, 0, false, room[0]), row(w, in, o, 1, true, room[1])};
  // A constant is the same in both words.
  if (o.kind == Operand::Kind::kConstant) words[1] = words[0];
  PairSource source{};
  source.word[0] = words[bit(in.mods.op_sel, k) ? 1 : 0];
  source.word[1] = words[bit(in.mods.op_sel_hi, k) ? 1 : 0];
  source.flip[0] = floats && bit(in.mods.neg_lo, k) ? 0x80000000 : 0;
  source.flip[1] = floats && bit(in.mods.neg_hi, k) ? 0x80000000 : 0;
  return source;
}

enum class PairOp : std::uint8_t { kAdd, kMul, kFma };
template <PairOp Op, int Sources>
void pairs(Wave& w, const Instruction& in) {
  apply_control(w, Control::k32);
  Row room[3][2];
  PairSource s[3] = {};
  for (int k = 0; k < Sources; ++k) s[k] = pair_source(w, in, k, room[k], true);
  Row result[2];
  for (int half = 0; half < 2; ++half) {
    const auto at = [&](int k, int i) {
      return std::bit_cast<float>(s[k].word[half]->lane[i] ^ s[k].flip[half]);
    };
    TF_LANE_LOOP
    for (int i = 0; i < kLanes; ++i) {
      float value = 0;
      if constexpr (Op == PairOp::kAdd) value = at(0, i) + at(1, i);
      if constexpr (Op == PairOp::kMul) value = at(0, i) * at(1, i);
      if constexpr (Op == PairOp::kFma) value = madd(at(0, i), at(1, i), at(2, i));
      result[half].lane[i] = std::bit_cast<std::uint32_t>(value);
    }
  }
  Row* out = &w.v[in.op[0].index];
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < kLanes; ++i) {
      if (in.mods.clamp) {
        const float value = std::bit_cast<float>(result[half].lane[i]);
        const float limited =
            is_nan(value) ? (w.mode.dx10_clamp ? 0.0F : value) : std::clamp(value, 0.0F, 1.0F);
        result[half].lane[i] = std::bit_cast<std::uint32_t>(limited);
      }
      out[half].lane[i] = merge(result[half].lane[i], out[half].lane[i], w.lanes.lane[i]);
    }
  }
}

// The low word comes of the first source, the high one of the second; op_sel of each says which of its words.
void pair_move(Wave& w, const Instruction& in) {
  Row room[2][2];
  const auto word = [&](int k) {
    const Operand& o = in.op[1 + k];
    const int part = o.kind != Operand::Kind::kConstant && bit(in.mods.op_sel, k) ? 1 : 0;
    return *row(w, in, o, part, true, room[k][part]);
  };
  const Row low = word(0);
  const Row high = word(1);
  Row* out = &w.v[in.op[0].index];
  for (int i = 0; i < kLanes; ++i) {
    out[0].lane[i] = merge(low.lane[i], out[0].lane[i], w.lanes.lane[i]);
    out[1].lane[i] = merge(high.lane[i], out[1].lane[i], w.lanes.lane[i]);
  }
}

std::uint32_t unmodified(const Wave& w, const Instruction& in, const Operand& o, int lane) {
  if (o.kind == Operand::Kind::kVector) return w.v[o.index].lane[lane];
  return static_cast<std::uint32_t>(scalar(w, in, o));
}

enum class MixTo : std::uint8_t { kFloat, kLow, kHigh };

// op_sel_hi: a source is a half, op_sel says which; neg_hi is abs here.
template <MixTo To>
void mix(Wave& w, const Instruction& in) {
  apply_control(w, Control::k32);
  Row room[3];
  const Row* source[3];
  for (int k = 0; k < 3; ++k) source[k] = row(w, in, in.op[1 + k], 0, true, room[k]);
  const std::uint8_t is_half = (in.mods.present & kOpSelHi) != 0 ? in.mods.op_sel_hi : 0;
  Row& out = w.v[in.op[0].index];
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    float x[3];
    for (int k = 0; k < 3; ++k) {
      const std::uint32_t word = source[k]->lane[i];
      x[k] = std::bit_cast<float>(word);
      // neg and abs of a half stand around the operand, where row() took them for a float's.
      if (bit(is_half, k)) {
        const std::uint32_t raw = in.op[1 + k].modified ? unmodified(w, in, in.op[1 + k], i) : word;
        x[k] = half_to_float(bit(in.mods.op_sel, k) ? raw >> 16 : raw & 0xffff);
        if (in.op[1 + k].keep != ~0U) x[k] = std::abs(x[k]);
        if (in.op[1 + k].flip != 0) x[k] = -x[k];
      }
    }
    float value = madd(x[0], x[1], x[2]);
    if (in.mods.clamp)
      value = is_nan(value) ? (w.mode.dx10_clamp ? 0.0F : value) : std::clamp(value, 0.0F, 1.0F);
    std::uint32_t& word = out.lane[i];
    if (To == MixTo::kFloat) word = std::bit_cast<std::uint32_t>(value);
    if (To == MixTo::kLow) word = (word & 0xffff0000) | float_to_half(value);
    if (To == MixTo::kHigh) word = (word & 0xffff) | float_to_half(value) << 16;
  }
}

// Both halves of source `k` as op_sel and neg say.
std::uint32_t chosen_halves(const Modifiers& mods, int k, std::uint32_t word) {
  return half_of(mods, k, true, word) << 16 | half_of(mods, k, false, word);
}

// Whether op_sel leaves the halves of both factors where they are. That of the sum, a word, says nothing.
bool factors_as_they_are(const Modifiers& mods) {
  constexpr unsigned kFactors = 0b11;
  return ((mods.present & kOpSel) == 0 || (mods.op_sel & kFactors) == 0) &&
         ((mods.present & kOpSelHi) == 0 || (mods.op_sel_hi & kFactors) == kFactors);
}

// d = c + products of parts. The third source is a word.
template <class Op>
void dots(Wave& w, const Instruction& in) {
  apply_control(w, Control::k32);
  const Modifiers mods = in.mods;
  if (Op::kParts != 2 && !factors_as_they_are(mods))
    unsupported(in, "op_sel of a dot product of small parts");
  if (!Op::kNegates && (mods.present & kNegLoHi) != 0) unsupported(in, "neg of a dot product of integers");
  if (bit(mods.neg_lo, 2) || bit(mods.neg_hi, 2)) unsupported(in, "neg of the sum of a dot product");
  Row room[3];
  const Row* source[3];
  for (int k = 0; k < 3; ++k) source[k] = row(w, in, in.op[1 + k], 0, true, room[k]);
  Row& out = w.v[in.op[0].index];
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    std::uint32_t a = source[0]->lane[i], b = source[1]->lane[i];
    if constexpr (Op::kParts == 2) {
      a = chosen_halves(mods, 0, a);
      b = chosen_halves(mods, 1, b);
    }
    out.lane[i] = Op::run(a, b, source[2]->lane[i], mods.clamp);
  }
}

// neg says of which source the parts have a sign.
template <int Bits>
void mixed_dots(Wave& w, const Instruction& in) {
  const Modifiers& mods = in.mods;
  if ((mods.present & (kOpSel | kOpSelHi)) != 0 || (mods.neg_lo & 4) != 0 || mods.neg_hi != 0) {
    unsupported(in, "op_sel, or neg of the sum");
  }
  Row room[3];
  const Row* source[3];
  for (int k = 0; k < 3; ++k) source[k] = row(w, in, in.op[1 + k], 0, true, room[k]);
  const auto part = [&](int k, int lane, int at) {
    const std::uint32_t value = source[k]->lane[lane] >> at & ((1U << Bits) - 1);
    return bit(mods.neg_lo, k) ? sign_bits(value, Bits) : static_cast<std::int32_t>(value);
  };
  Row& out = w.v[in.op[0].index];
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    std::int64_t sum = sign_bits(source[2]->lane[i], 32);
    for (int at = 0; at < 32; at += Bits) sum += static_cast<std::int64_t>(part(0, i, at)) * part(1, i, at);
    out.lane[i] = static_cast<std::uint32_t>(mods.clamp ? saturate_i32(sum) : sum);
  }
}

template <bool Signed, int Bits>
struct IntegerDot {
  static constexpr int kParts = 32 / Bits;
  static constexpr bool kNegates = false;
  static std::uint32_t run(std::uint32_t a, std::uint32_t b, std::uint32_t c, bool clamp) {
    const std::int64_t sum =
        dot<Signed>(a, b, Bits) + (Signed ? sign_bits(c, 32) : static_cast<std::int64_t>(c));
    if (!clamp) return static_cast<std::uint32_t>(sum);
    return Signed ? static_cast<std::uint32_t>(saturate_i32(sum)) : saturate_u32(sum);
  }
};
struct HalfDot {
  static constexpr int kParts = 2;
  static constexpr bool kNegates = true;
  static std::uint32_t run(std::uint32_t a, std::uint32_t b, std::uint32_t c, bool clamp) {
    float sum = madd(half_to_float(a & 0xffff), half_to_float(b & 0xffff), std::bit_cast<float>(c));
    sum = madd(half_to_float(a >> 16), half_to_float(b >> 16), sum);
    if (clamp) sum = std::clamp(sum, 0.0F, 1.0F);
    return std::bit_cast<std::uint32_t>(sum);
  }
};

constexpr Type kP = Type::kPacked;
constexpr std::uint32_t kMods = kOpSel | kOpSelHi | kNegLoHi | kClamp | kSaturates;
#define TF_HALVES2(name, T) {"v_" #name, &halves<name##_op, T, 2>, kMods, {kP, kP, kP}},
#define TF_HALVES3(name, T) {"v_" #name, &halves<name##_op, T, 3>, kMods, {kP, kP, kP, kP}},
#define TF_DOT(name, ...) {name, &dots<__VA_ARGS__>, kMods, {Type::kU32, kP, kP, Type::kU32}},
#define TF_MIX(name, to) {name, &mix<MixTo::to>, kMods, {Type::kU32, Type::kF32, Type::kF32, Type::kF32}},

constexpr TableRow kRows[] = {
    TF_HALVES2(pk_add_f16, F16) TF_HALVES2(pk_mul_f16, F16) TF_HALVES3(pk_fma_f16, F16) TF_HALVES2(
        pk_min_f16, F16) TF_HALVES2(pk_max_f16, F16) TF_HALVES2(pk_add_u16, U16) TF_HALVES2(pk_sub_u16, U16)
        TF_HALVES2(pk_mul_lo_u16, U16) TF_HALVES3(pk_mad_u16, U16) TF_HALVES2(pk_min_u16, U16)
            TF_HALVES2(pk_max_u16, U16) TF_HALVES2(pk_min_i16, I16) TF_HALVES2(pk_max_i16, I16)
                TF_HALVES2(pk_lshlrev_b16, U16) TF_HALVES2(pk_lshrrev_b16, U16) TF_HALVES2(
                    pk_ashrrev_i16, I16){"v_pk_add_i16", &halves<pk_add_u16_op, U16, 2>, kMods, {kP, kP, kP}},
    {"v_pk_sub_i16", &halves<pk_sub_u16_op, U16, 2>, kMods, {kP, kP, kP}},
    {"v_pk_mad_i16", &halves<pk_mad_u16_op, U16, 3>, kMods, {kP, kP, kP, kP}},
    {"v_pk_add_f32", &pairs<PairOp::kAdd, 2>, kMods, {Type::kPair, Type::kPair, Type::kPair}},
    {"v_pk_mul_f32", &pairs<PairOp::kMul, 2>, kMods, {Type::kPair, Type::kPair, Type::kPair}},
    {"v_pk_fma_f32", &pairs<PairOp::kFma, 3>, kMods, {Type::kPair, Type::kPair, Type::kPair, Type::kPair}},
    {"v_pk_mov_b32", &pair_move, kOpSel | kOpSelHi, {Type::kPair, Type::kPair, Type::kPair}},
    TF_MIX("v_fma_mix_f32", kFloat) TF_MIX("v_fma_mixlo_f16", kLow) TF_MIX("v_fma_mixhi_f16", kHigh)
        TF_DOT("v_dot2_i32_i16", IntegerDot<true, 16>) TF_DOT("v_dot2_u32_u16", IntegerDot<false, 16>)
            TF_DOT("v_dot4_i32_i8", IntegerDot<true, 8>) TF_DOT("v_dot4_u32_u8", IntegerDot<false, 8>)
                TF_DOT("v_dot8_i32_i4", IntegerDot<true, 4>) TF_DOT("v_dot8_u32_u4", IntegerDot<false, 4>)
                    TF_DOT("v_dot2_f32_f16", HalfDot){
                        "v_dot4_i32_iu8", &mixed_dots<8>, kMods, {Type::kU32, kP, kP, Type::kU32}},
    {"v_dot8_i32_iu4", &mixed_dots<4>, kMods, {Type::kU32, kP, kP, Type::kU32}}};

}  // namespace

std::span<const TableRow> packed_rows() { return kRows; }

}  // namespace tf::amd::isa
