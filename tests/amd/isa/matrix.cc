// SPDX-License-Identifier: Apache-2.0
// MFMA: D = A * B + C on small matrices that all lanes hold together; EXEC has no say [CDNA2 chapter 7
// "Matrix Core"].
#include "tests/amd/isa/arithmetic.h"
#include "tests/amd/isa/elements.h"
#include "tests/amd/isa/lanes.h"

namespace tf::amd::isa {
namespace {

// The lane whose part of B a lane gets [CDNA3 chapter 7.1 "BLGP"].
int lane_of_pattern(int pattern, int lane) {
  if (pattern == 1 || pattern == 2) return lane % 32 + 32 * (pattern - 1);
  if (pattern == 3) return (lane + 16) % kLanes;
  return pattern == 0 ? lane : lane % 16 + 16 * (pattern - 4);
}

// Size x Size results, `Depth` products each, of `Blocks` pairs of matrices.
template <class Element, int Size, int Depth, int Blocks, class ElementB = Element>
struct Matrix {
  using Sum = typename Element::Sum;

  static constexpr bool kDouble = sizeof(Sum) == 8;
  static constexpr int kGroups = Depth / Element::kPerLane;  // lanes that hold one row of A
  static constexpr int kWords = 4;                           // registers of A or B, at most

  // Row i of a block of C and D: `Size` lanes from `lane` on of register r.
  struct Place {
    int r, lane;
  };
  static Place place(int block, int i) {
    if constexpr (kDouble && Size == 4) return {0, 16 * i + 4 * block};
    if constexpr (kDouble) return {i / 4, 16 * (i % 4)};
    if constexpr (Size == 4) return {i, 4 * block};
    constexpr int kPerBlock = Size * Size / kLanes;
    constexpr int kHeight = 4 * kLanes / Size;
    return {block * kPerBlock + 4 * (i / kHeight) + i % 4, Size * (i % kHeight / 4)};
  }
  // The lane that holds elements [group * kPerLane, ...) of row `i` of A, or of column `i` of B.
  static int lane_of(int block, int i, int group) {
    if constexpr (kDouble && Size == 4) return 16 * group + 4 * block + i;
    return Size * (block * kGroups + group) + i;
  }

  // CDNA2 takes a pattern of lanes everywhere, but of doubles; CDNA3 of floats and of several blocks, and of
  // doubles the field says which matrices are negated (AMD's matrix instruction calculator).
  static void check_form(const Wave& w, const Instruction& in) {
    using Kind = Operand::Kind;
    const bool takes_field = w.processor->moves_lanes_of_b
                                 ? !kDouble
                                 : kDouble || Blocks > 1 || std::is_same_v<Element, FloatElement>;
    if (in.mods.blgp != 0 && !takes_field) unsupported(in, "blgp");
    const int group = 1 << in.mods.cbsz;
    if (group > Blocks || in.mods.abid >= group || (kDouble && (in.mods.cbsz != 0 || in.mods.abid != 0)))
      unsupported(in, "cbsz or abid");
    if (in.op[1].kind != Kind::kVector || in.op[2].kind != Kind::kVector) {
      unsupported(in, "A or B in no vector register");
    }
    const Operand& c = in.op[3];
    if (kDouble && c.kind == Kind::kConstant && c.value != 0) unsupported(in, "constant C");
  }

  static void run(Wave& w, const Instruction& in) {
    apply_control(w, kDouble ? Control::k64 : Control::k32);
    check_form(w, in);
    Row moved[kWords];
    const Row* b = &w.v[in.op[2].index];
    if (!kDouble && in.mods.blgp != 0) {
      for (int k = 0; k < in.op[2].count; ++k) {
        for (int lane = 0; lane < kLanes; ++lane)
          moved[k].lane[lane] = b[k].lane[lane_of_pattern(in.mods.blgp, lane)];
      }
      b = moved;
    }
    Sum result[Blocks][Size][Size];
    for (int block = 0; block < Blocks; ++block) multiply(w, in, b, block, result[block]);
    Row* out = &w.v[in.op[0].index];
    for (int block = 0; block < Blocks; ++block) {
      for (int i = 0; i < Size; ++i) {
        const Place to = place(block, i);
        for (int j = 0; j < Size; ++j) put(out, to.lane + j, to.r, result[block][i][j]);
      }
    }
  }

  // The products of one block, in order of k.
  static void multiply(const Wave& w, const Instruction& in, const Row* b, int block,
                       Sum (&result)[Size][Size]) {
    const unsigned negated = kDouble ? in.mods.blgp : 0;
    const int group_blocks = 1 << in.mods.cbsz;
    const int block_a = (block & ~(group_blocks - 1)) + (group_blocks > 1 ? in.mods.abid : 0);
    const Row* a = &w.v[in.op[1].index];
    Sum columns[Depth][Size];
    for (int k = 0; k < Depth; ++k) {
      const int lane = lane_of(block, 0, k / Element::kPerLane);
      for (int j = 0; j < Size; ++j) {
        const Sum value = ElementB::get(b, lane + j, k % Element::kPerLane);
        columns[k][j] = (negated & 2) != 0 ? -value : value;
      }
    }
    for (int i = 0; i < Size; ++i) {
      const Place from = place(block, i);
      Sum sum[Size];
      for (int j = 0; j < Size; ++j) {
        const Sum value = addend(w, in, in.op[3], from.lane + j, from.r);
        sum[j] = (negated & 4) != 0 ? -value : value;
      }
      for (int k = 0; k < Depth; ++k) {
        const Sum value = Element::get(a, lane_of(block_a, i, k / Element::kPerLane), k % Element::kPerLane);
        const Sum factor = (negated & 1) != 0 ? -value : value;
        for (int j = 0; j < Size; ++j) sum[j] = multiply_add(factor, columns[k][j], sum[j]);
      }
      for (int j = 0; j < Size; ++j) result[i][j] = sum[j];
    }
  }

  static Sum addend(const Wave& w, const Instruction& in, const Operand& c, int lane, int r) {
    if (c.kind == Operand::Kind::kConstant) {
      if constexpr (kDouble) {
        return 0;
      } else {
        return std::bit_cast<Sum>(static_cast<std::uint32_t>(c.value));
      }
    }
    if (c.kind != Operand::Kind::kVector) unsupported(in, "C in no vector register");
    const Row* from = &w.v[c.index];
    if constexpr (kDouble) {
      return F64::of(from[2 * r].lane[lane], from[2 * r + 1].lane[lane]);
    } else {
      return std::bit_cast<Sum>(from[r].lane[lane]);
    }
  }
  static void put(Row* out, int lane, int r, Sum value) {
    if constexpr (kDouble) {
      out[2 * r].lane[lane] = F64::low(value);
      out[2 * r + 1].lane[lane] = F64::high(value);
    } else {
      out[r].lane[lane] = std::bit_cast<std::uint32_t>(value);
    }
  }
};

constexpr Type kA = Type::kAny;
#define TF_MATRIX(name, ...) {"v_mfma_" name, &Matrix<__VA_ARGS__>::run, kMatrix, {kA, kA, kA, kA}},
// clang-format off
constexpr TableRow kRows[] = {
    TF_MATRIX("f32_32x32x1f32", FloatElement, 32, 1, 2)
    TF_MATRIX("f32_16x16x1f32", FloatElement, 16, 1, 4)
    TF_MATRIX("f32_4x4x1f32", FloatElement, 4, 1, 16)
    TF_MATRIX("f32_32x32x2f32", FloatElement, 32, 2, 1)
    TF_MATRIX("f32_16x16x4f32", FloatElement, 16, 4, 1)
    TF_MATRIX("f32_32x32x4f16", HalfElement, 32, 4, 2)
    TF_MATRIX("f32_16x16x4f16", HalfElement, 16, 4, 4)
    TF_MATRIX("f32_4x4x4f16", HalfElement, 4, 4, 16)
    TF_MATRIX("f32_32x32x8f16", HalfElement, 32, 8, 1)
    TF_MATRIX("f32_16x16x16f16", HalfElement, 16, 16, 1)
    TF_MATRIX("i32_32x32x4i8", ByteElement<4>, 32, 4, 2)
    TF_MATRIX("i32_16x16x4i8", ByteElement<4>, 16, 4, 4)
    TF_MATRIX("i32_4x4x4i8", ByteElement<4>, 4, 4, 16)
    TF_MATRIX("i32_32x32x8i8", ByteElement<4>, 32, 8, 1)
    TF_MATRIX("i32_16x16x16i8", ByteElement<4>, 16, 16, 1)
    TF_MATRIX("i32_32x32x16_i8", ByteElement<8>, 32, 16, 1)
    TF_MATRIX("i32_16x16x32_i8", ByteElement<8>, 16, 32, 1)
    TF_MATRIX("f32_32x32x2bf16", BrainElement<2>, 32, 2, 2)
    TF_MATRIX("f32_16x16x2bf16", BrainElement<2>, 16, 2, 4)
    TF_MATRIX("f32_4x4x2bf16", BrainElement<2>, 4, 2, 16)
    TF_MATRIX("f32_32x32x4bf16", BrainElement<2>, 32, 4, 1)
    TF_MATRIX("f32_16x16x8bf16", BrainElement<2>, 16, 8, 1)
    TF_MATRIX("f32_32x32x4bf16_1k", BrainElement<4>, 32, 4, 2)
    TF_MATRIX("f32_16x16x4bf16_1k", BrainElement<4>, 16, 4, 4)
    TF_MATRIX("f32_4x4x4bf16_1k", BrainElement<4>, 4, 4, 16)
    TF_MATRIX("f32_32x32x8bf16_1k", BrainElement<4>, 32, 8, 1)
    TF_MATRIX("f32_16x16x16bf16_1k", BrainElement<4>, 16, 16, 1)
    TF_MATRIX("f32_32x32x4_xf32", ShortFloatElement, 32, 4, 1)
    TF_MATRIX("f32_16x16x8_xf32", ShortFloatElement, 16, 8, 1)
    TF_MATRIX("f64_16x16x4f64", DoubleElement, 16, 4, 1)
    TF_MATRIX("f64_4x4x4f64", DoubleElement, 4, 4, 4)
    TF_MATRIX("f32_32x32x16_fp8_fp8", Float8Element<Fp8>, 32, 16, 1, Float8Element<Fp8>)
    TF_MATRIX("f32_16x16x32_fp8_fp8", Float8Element<Fp8>, 16, 32, 1, Float8Element<Fp8>)
    TF_MATRIX("f32_32x32x16_fp8_bf8", Float8Element<Fp8>, 32, 16, 1, Float8Element<Bf8>)
    TF_MATRIX("f32_16x16x32_fp8_bf8", Float8Element<Fp8>, 16, 32, 1, Float8Element<Bf8>)
    TF_MATRIX("f32_32x32x16_bf8_fp8", Float8Element<Bf8>, 32, 16, 1, Float8Element<Fp8>)
    TF_MATRIX("f32_16x16x32_bf8_fp8", Float8Element<Bf8>, 16, 32, 1, Float8Element<Fp8>)
    TF_MATRIX("f32_32x32x16_bf8_bf8", Float8Element<Bf8>, 32, 16, 1, Float8Element<Bf8>)
    TF_MATRIX("f32_16x16x32_bf8_bf8", Float8Element<Bf8>, 16, 32, 1, Float8Element<Bf8>)
};
// clang-format on

}  // namespace

std::span<const TableRow> matrix_rows() { return kRows; }

}  // namespace tf::amd::isa
