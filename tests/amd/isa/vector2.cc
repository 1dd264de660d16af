// SPDX-License-Identifier: Apache-2.0
// VOP2 and VOP3 of two sources.
#include "tests/amd/isa/rows.h"
#include "tests/amd/isa/trig_preop.h"

namespace tf::amd::isa {
namespace {

std::uint32_t low16(std::int32_t x) { return static_cast<std::uint32_t>(x) & 0xffff; }
std::uint32_t normal_i16(float x) {
  return is_nan(x) ? 0 : low16(static_cast<std::int32_t>(std::nearbyint(std::clamp(x, -1.0F, 1.0F) * 32767)));
}
std::uint32_t normal_u16(float x) {
  return is_nan(x) ? 0 : static_cast<std::uint32_t>(std::nearbyint(std::clamp(x, 0.0F, 1.0F) * 65535));
}
// Products of halves are exact in a float.
float dot_halves(std::uint32_t a, std::uint32_t b, float c) {
  c = madd(half_to_float(a & 0xffff), half_to_float(b & 0xffff), c);
  return madd(half_to_float(a >> 16), half_to_float(b >> 16), c);
}

#define V2(name, D, A, B, ...) \
  TF_OPERATION(name, TF_RUN2(D, A, B), (control_of<D, A, B>()), false, D, __VA_ARGS__)
#define S2(name, D, A, B, ...) \
  TF_OPERATION(name, TF_RUN2(D, A, B), (control_of<D, A, B>()), true, D, __VA_ARGS__)
#define A2(name, D, A, B, ...) \
  TF_OPERATION(name, TF_RUN3(D, A, B, D), (control_of<D, A, B>()), false, D, __VA_ARGS__)
#define V2C(text, name, D, A, B, ...) V2(name, D, A, B, __VA_ARGS__)
#include "tests/amd/isa/vector2.inc"
#undef V2
#undef S2
#undef A2
#undef V2C

#define V2(name, D, A, B, ...)                                       \
  {#name,                                                            \
   &valu<name##_op, D, A, B>,                                        \
   kSdwa | kDpp | result_modifiers<D>() | half_modifiers<D, A, B>(), \
   {D::kType, A::kType, B::kType},                                   \
   PlainLanes<name##_op, D, A, B>::handler()},
#define S2 V2
#define A2(name, D, A, B, ...)                                                      \
  {#name,                                                                           \
   &valu<name##_op, D, A, B, D>,                                                    \
   kAccumulates | kSdwa | kDpp | result_modifiers<D>() | half_modifiers<D, A, B>(), \
   {D::kType, A::kType, B::kType},                                                  \
   PlainLanes<name##_op, D, A, B, D>::handler()},
#define V2C(text, name, D, A, B, ...) \
  {text, &valu<name##_op, D, A, B>, kSaturates | kSdwa | kClamp, {D::kType, A::kType, B::kType}},
constexpr TableRow kRows[] = {
#include "tests/amd/isa/vector2.inc"
};

}  // namespace

std::span<const TableRow> vector2_rows() { return kRows; }

}  // namespace tf::amd::isa
