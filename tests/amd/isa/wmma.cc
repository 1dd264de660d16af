// SPDX-License-Identifier: Apache-2.0
// WMMA: D = A * B + C on matrices of 16 x 16 that a wave holds together; EXEC has no say [RDNA3 chapter 7.9
// "Wave Matrix Multiply Accumulate"].
//
// Lane l of the first 16 holds row l of A and column l of B; the other lanes have to hold the same, and are
// not read. Of C and D, register r of lane l holds row r * (lanes / 16) + l / 16 and column l % 16.
#include "tests/amd/isa/arithmetic.h"
#include "tests/amd/isa/lanes.h"

namespace tf::amd::isa {
namespace {

constexpr int kSize = 16;

// Element k of a row of A, or of a column of B.
struct HalfFactor {
  using Sum = float;
  static float get(const Row* from, int lane, int k, bool /*is_signed*/) {
    return half_to_float(from[k / 2].lane[lane] >> (16 * (k % 2)) & 0xffff);
  }
};
struct BrainFactor {
  using Sum = float;
  static float get(const Row* from, int lane, int k, bool /*is_signed*/) {
    return std::bit_cast<float>(from[k / 2].lane[lane] >> (16 * (k % 2)) << 16);
  }
};
template <int Bits>
struct IntegerFactor {
  using Sum = std::int64_t;
  static std::int64_t get(const Row* from, int lane, int k, bool is_signed) {
    constexpr int kInWord = 32 / Bits;
    const std::uint32_t part = from[k / kInWord].lane[lane] >> (Bits * (k % kInWord)) & ((1U << Bits) - 1);
    return is_signed ? sign_bits(part, Bits) : static_cast<std::int64_t>(part);
  }
};

// Elements of C and D: in a whole register, or in the half that op_sel says; the other one stays.
struct FloatResult {
  static constexpr bool kHalves = false;
  static float get(std::uint32_t word, bool /*high*/) { return std::bit_cast<float>(word); }
  static std::uint32_t put(std::uint32_t /*before*/, bool /*high*/, float value, bool /*clamp*/) {
    return std::bit_cast<std::uint32_t>(value);
  }
};
struct IntegerResult {
  static constexpr bool kHalves = false;
  static std::int64_t get(std::uint32_t word, bool /*high*/) { return static_cast<std::int32_t>(word); }
  static std::uint32_t put(std::uint32_t /*before*/, bool /*high*/, std::int64_t value, bool clamp) {
    return static_cast<std::uint32_t>(clamp ? saturate_i32(value) : value);
  }
};
std::uint32_t into_half(std::uint32_t before, bool high, std::uint32_t bits) {
  return high ? (before & 0xffff) | bits << 16 : (before & 0xffff0000) | bits;
}
struct HalfResult {
  static constexpr bool kHalves = true;
  static float get(std::uint32_t word, bool high) { return half_to_float(high ? word >> 16 : word & 0xffff); }
  static std::uint32_t put(std::uint32_t before, bool high, float value, bool /*clamp*/) {
    return into_half(before, high, float_to_half(value));
  }
};
struct BrainResult {
  static constexpr bool kHalves = true;
  static float get(std::uint32_t word, bool high) {
    return std::bit_cast<float>(high ? word & 0xffff0000 : word << 16);
  }
  static std::uint32_t put(std::uint32_t before, bool high, float value, bool /*clamp*/) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t nearest = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return into_half(before, high, is_nan(value) ? bits >> 16 | 0x40 : nearest);
  }
};

inline float add_product(float a, float b, float c) { return madd(a, b, c); }
inline std::int64_t add_product(std::int64_t a, std::int64_t b, std::int64_t c) { return a * b + c; }

// Refuses what is not executed. `Halves`: op_sel says of C and D which half of a register holds an element.
template <bool Floats, bool Halves>
void check_form(const Instruction& in) {
  using Kind = Operand::Kind;
  constexpr unsigned kAll = 0b111;
  constexpr unsigned kFactors = 0b011;
  constexpr unsigned kSum = 0b100;
  const Modifiers& mods = in.mods;
  if (in.op[1].kind != Kind::kVector || in.op[2].kind != Kind::kVector)
    unsupported(in, "A or B outside of vector registers");
  const Operand& c = in.op[3];
  if (c.kind != Kind::kVector && c.kind != Kind::kConstant) unsupported(in, "C in scalar registers");
  // What a constant of a float's bits means as a half is not known.
  if (Halves && c.kind == Kind::kConstant && c.value != 0) unsupported(in, "C is a constant other than 0");
  for (int i = 1; i <= 3; ++i) {
    if (in.op[i].modified) unsupported(in, "neg or abs around a matrix");
  }
  if ((mods.op_sel & (Halves ? kFactors : kAll)) != 0) unsupported(in, "op_sel");
  if ((mods.present & kOpSelHi) != 0 && (mods.op_sel_hi & kAll) != kAll) unsupported(in, "op_sel_hi");
  // Of integers, neg_lo says which factors have a sign.
  const unsigned negated = (mods.neg_lo & (Floats ? kAll : kSum)) | mods.neg_hi;
  if (negated != 0 || (Floats && mods.clamp)) unsupported(in, "neg or clamp");
}

// d, A, B, C.
template <class Factor, class Result>
void multiply(Wave& w, const Instruction& in) {
  using Sum = typename Factor::Sum;
  check_form<std::is_same_v<Sum, float>, Result::kHalves>(in);
  apply_control(w, Control::k32);
  const Modifiers& mods = in.mods;
  const Operand& c = in.op[3];
  const Row* a = &w.v[in.op[1].index];
  const Row* b = &w.v[in.op[2].index];
  const bool high = (mods.op_sel >> 2 & 1) != 0;
  const int lanes = w.lane_count();
  Row result[8];
  for (int r = 0; r < kSize * kSize / lanes; ++r) {
    for (int lane = 0; lane < lanes; ++lane) {
      const int i = r * (lanes / kSize) + lane / kSize;
      const int j = lane % kSize;
      const bool constant = c.kind == Operand::Kind::kConstant;
      Sum sum = Result::get(constant ? static_cast<std::uint32_t>(c.value) : w.v[c.index + r].lane[lane],
                            high && !constant);
      for (int k = 0; k < kSize; ++k) {
        sum = add_product(Factor::get(a, i, k, (mods.neg_lo & 1) != 0),
                          Factor::get(b, j, k, (mods.neg_lo & 2) != 0), sum);
      }
      result[r].lane[lane] = Result::put(w.v[in.op[0].index + r].lane[lane], high, sum, mods.clamp);
    }
  }
  for (int r = 0; r < kSize * kSize / lanes; ++r) {
    for (int lane = 0; lane < lanes; ++lane) w.v[in.op[0].index + r].lane[lane] = result[r].lane[lane];
  }
}

constexpr Type kA = Type::kAny;
constexpr std::uint32_t kMods = kOpSel | kOpSelHi | kNegLoHi | kClamp | kSaturates;
#define TF_WMMA(name, ...)                                            \
  {                                                                   \
    "v_wmma_" name, &multiply<__VA_ARGS__>, kMods, { kA, kA, kA, kA } \
  }

constexpr TableRow kRows[] = {
    TF_WMMA("f32_16x16x16_f16", HalfFactor, FloatResult),
    TF_WMMA("f32_16x16x16_bf16", BrainFactor, FloatResult),
    TF_WMMA("f16_16x16x16_f16", HalfFactor, HalfResult),
    TF_WMMA("bf16_16x16x16_bf16", BrainFactor, BrainResult),
    TF_WMMA("i32_16x16x16_iu8", IntegerFactor<8>, IntegerResult),
    TF_WMMA("i32_16x16x16_iu4", IntegerFactor<4>, IntegerResult),
};

}  // namespace

std::span<const TableRow> wmma_rows() { return kRows; }

}  // namespace tf::amd::isa
