// SPDX-License-Identifier: Apache-2.0
// VOP1: one source.
#include "tests/amd/isa/rows.h"

namespace tf::amd::isa {
namespace {

// MODE's rounding does not count here.
float nearest_even(float x) {
  return std::bit_cast<float>(_mm_cvtsi128_si32(_mm_castps_si128(
      _mm_round_ss(_mm_set_ss(x), _mm_set_ss(x), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC))));
}
double nearest_even(double x) {
  return _mm_cvtsd_f64(
      _mm_round_sd(_mm_set_sd(x), _mm_set_sd(x), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
std::uint32_t saturate_u8(std::int32_t x) { return static_cast<std::uint32_t>(std::clamp(x, 0, 255)); }

#define V1(name, D, A, ...) TF_OPERATION(name, TF_RUN1(D, A), (control_of<D, A>()), false, D, __VA_ARGS__)
#define S1(name, D, A, ...) TF_OPERATION(name, TF_RUN1(D, A), (control_of<D, A>()), true, D, __VA_ARGS__)
#include "tests/amd/isa/vector1.inc"
#undef V1
#undef S1

#define V1(name, D, A, ...)                                       \
  {#name,                                                         \
   &valu<name##_op, D, A>,                                        \
   kSdwa | kDpp | result_modifiers<D>() | half_modifiers<D, A>(), \
   {D::kType, A::kType},                                          \
   PlainLanes<name##_op, D, A>::handler()},
#define S1 V1
constexpr TableRow kRows[] = {
#include "tests/amd/isa/vector1.inc"
};

}  // namespace

std::span<const TableRow> vector1_rows() { return kRows; }

}  // namespace tf::amd::isa
