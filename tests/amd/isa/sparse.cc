// SPDX-License-Identifier: Apache-2.0
// SMFMAC: D += A * B, where of each four elements of a row of A two are not 0 and are stored. A register says
// which two: two bits for each stored element [CDNA3 chapter 7.4 "Sparse Matrix"; layouts as AMD's matrix
// instruction calculator prints them].
#include "tests/amd/isa/elements.h"
#include "tests/amd/isa/names.h"

namespace tf::amd::isa {
namespace {

// Size x Size results of `Depth` products, of which half are with 0.
template <class A, int Size, int Depth, class B = A>
void multiply(Wave& w, const Instruction& in) {
  using Sum = typename A::Sum;
  using Kind = Operand::Kind;
  constexpr int kStored = Size * Depth / 2 / kLanes;  // elements of A of a lane
  constexpr int kSets = 32 / (2 * kStored);           // of indices in a register
  constexpr int kResults = Size * Size / kLanes;
  apply_control(w, Control::k32);
  for (int i = 1; i <= 3; ++i) {
    if (in.op[i].kind != Kind::kVector || in.op[i].modified)
      unsupported(in, "a source in no vector register");
  }
  if (in.mods.blgp != 0) unsupported(in, "blgp");
  if (in.mods.cbsz == 0 && in.mods.abid >= kSets) unsupported(in, "abid");
  const Row* a = &w.v[in.op[1].index];
  const Row* b = &w.v[in.op[2].index];
  const Row* indices = &w.v[in.op[3].index];
  const int shift = in.mods.cbsz == 0 ? in.mods.abid * 2 * kStored : 0;
  Row* out = &w.v[in.op[0].index];
  Row result[kResults];
  for (int r = 0; r < kResults; ++r) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const int i = 4 * kLanes / Size * (r / 4) + 4 * (lane / Size) + r % 4;
      Sum sum = std::bit_cast<Sum>(out[r].lane[lane]);
      for (int group = 0; group < kLanes / Size; ++group) {
        const int from_a = Size * group + i;
        const int from_b = Size * group + lane % Size;
        for (int e = 0; e < kStored; ++e) {
          const int place = static_cast<int>(indices->lane[from_a] >> (shift + 2 * e) & 3);
          sum = multiply_add(A::get(a, from_a, e), B::get(b, from_b, 4 * (e / 2) + place), sum);
        }
      }
      result[r].lane[lane] = std::bit_cast<std::uint32_t>(sum);
    }
  }
  for (int r = 0; r < kResults; ++r) out[r] = result[r];
}

constexpr Type kA = Type::kAny;
#define TF_SPARSE(name, ...) {"v_smfmac_" name, &multiply<__VA_ARGS__>, kMatrix, {kA, kA, kA, kA}},
// clang-format off
constexpr TableRow kRows[] = {
    TF_SPARSE("f32_16x16x32_f16", HalfElement, 16, 32)
    TF_SPARSE("f32_32x32x16_f16", HalfElement, 32, 16)
    TF_SPARSE("f32_16x16x32_bf16", BrainElement<4>, 16, 32)
    TF_SPARSE("f32_32x32x16_bf16", BrainElement<4>, 32, 16)
    TF_SPARSE("i32_16x16x64_i8", ByteElement<8>, 16, 64)
    TF_SPARSE("i32_32x32x32_i8", ByteElement<8>, 32, 32)
    TF_SPARSE("f32_16x16x64_fp8_fp8", Float8Element<Fp8>, 16, 64)
    TF_SPARSE("f32_32x32x32_fp8_fp8", Float8Element<Fp8>, 32, 32)
    TF_SPARSE("f32_16x16x64_fp8_bf8", Float8Element<Fp8>, 16, 64, Float8Element<Bf8>)
    TF_SPARSE("f32_32x32x32_fp8_bf8", Float8Element<Fp8>, 32, 32, Float8Element<Bf8>)
    TF_SPARSE("f32_16x16x64_bf8_fp8", Float8Element<Bf8>, 16, 64, Float8Element<Fp8>)
    TF_SPARSE("f32_32x32x32_bf8_fp8", Float8Element<Bf8>, 32, 32, Float8Element<Fp8>)
    TF_SPARSE("f32_16x16x64_bf8_bf8", Float8Element<Bf8>, 16, 64)
    TF_SPARSE("f32_32x32x32_bf8_bf8", Float8Element<Bf8>, 32, 32)
};
// clang-format on

}  // namespace

std::span<const TableRow> sparse_rows() { return kRows; }

}  // namespace tf::amd::isa
