// SPDX-License-Identifier: Apache-2.0
// Conversions from and to floats of 8 bits [CDNA3 chapter 13, V_CVT_F32_FP8 to V_CVT_SR_BF8_F32].
#include "tests/amd/isa/float8.h"
#include "tests/amd/isa/names.h"
#include "tests/amd/isa/rows.h"

namespace tf::amd::isa {
namespace {

bool saturates(const Mode& mode) { return (mode.bits >> 23 & 1) != 0; }  // FP16_OVFL
template <class F>
std::uint64_t two_floats(std::uint32_t word) {
  const auto bits = [](std::uint32_t byte) { return std::bit_cast<std::uint32_t>(F::to_float(byte & 0xff)); };
  return bits(word) | static_cast<std::uint64_t>(bits(word >> 8)) << 32;
}

TF_OPERATION(from_fp8, TF_RUN1(F32, U32), Control::kNone, true, F32, Fp8::to_float(a & 0xff))
TF_OPERATION(from_bf8, TF_RUN1(F32, U32), Control::kNone, true, F32, Bf8::to_float(a & 0xff))
TF_OPERATION(two_from_fp8, TF_RUN1(U64, U32), Control::kNone, true, U64, two_floats<Fp8>(a))
TF_OPERATION(two_from_bf8, TF_RUN1(U64, U32), Control::kNone, true, U64, two_floats<Bf8>(a))
TF_OPERATION(two_to_fp8, TF_RUN2(U16, F32, F32), Control::k32, true, U16,
             Fp8::nearest(a, saturates(mode)) | Fp8::nearest(b, saturates(mode)) << 8)
TF_OPERATION(two_to_bf8, TF_RUN2(U16, F32, F32), Control::k32, true, U16,
             Bf8::nearest(a, saturates(mode)) | Bf8::nearest(b, saturates(mode)) << 8)

// d, value, seed. op_sel's third and fourth bit say which byte; the others stay.
template <class F>
void random_byte(Wave& w, const Instruction& in) {
  Row room[2];
  const Row* value = row(w, in, in.op[1], 0, true, room[0]);
  const Row* seed = row(w, in, in.op[2], 0, true, room[1]);
  if ((in.mods.op_sel & 3) != 0) unsupported(in, "op_sel of a source");
  const int shift = 8 * (in.mods.op_sel >> 2 & 3);
  Row& out = w.v[in.op[0].index];
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    const float from = std::bit_cast<float>(value->lane[i]);
    const std::uint32_t byte = F::random(from, seed->lane[i], saturates(w.mode));
    out.lane[i] = (out.lane[i] & ~(0xffU << shift)) | byte << shift;
  }
}

// op_sel's third bit says which half of the result; the sources are no halves.
template <class Op>
void pair(Wave& w, const Instruction& in) {
  if ((in.mods.op_sel & 3) != 0) unsupported(in, "op_sel of a source");
  valu<Op, U16, F32, F32>(w, in);
}

constexpr Type kU = Type::kU32;
constexpr Type kF = Type::kF32;
constexpr std::uint32_t kFrom = kSdwa | kDpp | kClamp | kOmod;
constexpr std::uint32_t kTo = kOpSel | kKeepsHigh;
constexpr TableRow kRows[] = {
    {"v_cvt_f32_fp8", &valu<from_fp8_op, F32, U32>, kFrom, {kF, kU}},
    {"v_cvt_f32_bf8", &valu<from_bf8_op, F32, U32>, kFrom, {kF, kU}},
    {"v_cvt_pk_f32_fp8", &valu<two_from_fp8_op, U64, U32>, kSdwa | kDpp, {Type::kU64, kU}},
    {"v_cvt_pk_f32_bf8", &valu<two_from_bf8_op, U64, U32>, kSdwa | kDpp, {Type::kU64, kU}},
    {"v_cvt_pk_fp8_f32", &pair<two_to_fp8_op>, kTo, {Type::kU16, kF, kF}},
    {"v_cvt_pk_bf8_f32", &pair<two_to_bf8_op>, kTo, {Type::kU16, kF, kF}},
    {"v_cvt_sr_fp8_f32", &random_byte<Fp8>, kOpSel, {kU, kF, kU}},
    {"v_cvt_sr_bf8_f32", &random_byte<Bf8>, kOpSel, {kU, kF, kU}},
};

}  // namespace

std::span<const TableRow> conversion8_rows() { return kRows; }

}  // namespace tf::amd::isa
