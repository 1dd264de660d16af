// SPDX-License-Identifier: Apache-2.0
// VOP3 of three sources.
#include "tests/amd/isa/division.h"
#include "tests/amd/isa/rows.h"

namespace tf::amd::isa {
namespace {

std::uint32_t replace_byte(std::uint32_t word, std::uint32_t byte, std::uint32_t value) {
  const std::uint32_t shift = 8 * (byte & 3);
  return (word & ~(0xffU << shift)) | value << shift;
}
std::uint32_t average_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t result = 0;
  for (int i = 0; i < 32; i += 8)
    result |= (((a >> i & 0xff) + (b >> i & 0xff) + (c >> i & 1)) >> 1 & 0xff) << i;
  return result;
}
// Halves are exact floats, and have no exponents at which a quotient leaves the floats.
float division_fixup_half(float quotient, float denominator, float numerator) {
  return division_fixup<float, std::uint32_t>(quotient, denominator, numerator);
}
// A direction's face of a cube, its coordinates on that, and twice the component along the axis that is the
// largest; of equal ones z comes before y before x.
int cube_axis(float x, float y, float z) {
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  return az >= ax && az >= ay ? 2 : ay >= ax ? 1 : 0;
}
float cube_major(float x, float y, float z) {
  const int axis = cube_axis(x, y, z);
  return axis == 2 ? z : axis == 1 ? y : x;
}
float cube_face(float x, float y, float z) {
  return static_cast<float>(2 * cube_axis(x, y, z) + (cube_major(x, y, z) < 0 ? 1 : 0));
}
float cube_s(float x, float y, float z) {
  const int axis = cube_axis(x, y, z);
  return axis == 2 ? (z < 0 ? -x : x) : axis == 1 ? x : x < 0 ? z : -z;
}
float cube_t(float x, float y, float z) { return cube_axis(x, y, z) != 1 ? -y : y < 0 ? -z : z; }

#define TF_V3(name, D, A, B, C, control, slow, ...) \
  TF_OPERATION(name, TF_RUN3(D, A, B, C), control, slow, D, __VA_ARGS__)
#define V3(name, D, A, B, C, ...) TF_V3(name, D, A, B, C, (control_of<D, A, B, C>()), false, __VA_ARGS__)
#define S3(name, D, A, B, C, ...) TF_V3(name, D, A, B, C, (control_of<D, A, B, C>()), true, __VA_ARGS__)
#define M3(name, D, A, B, C, ...) TF_V3(name, D, A, B, C, Control::kMad, false, __VA_ARGS__)
#define H3 V3
#define H3S S3
#include "tests/amd/isa/vector3.inc"
#undef V3
#undef S3
#undef M3
#undef H3
#undef H3S

// v_mac_f32 adds to its destination.
TF_V3(v_mac_f32, F32, F32, F32, F32, Control::kMad, false, a* b + c)

#define TF_ROW3(name, D, A, B, C, more)                                \
  {#name,                                                              \
   &valu<name##_op, D, A, B, C>,                                       \
   kDpp | more | result_modifiers<D>() | half_modifiers<D, A, B, C>(), \
   {D::kType, A::kType, B::kType, C::kType},                           \
   PlainLanes<name##_op, D, A, B, C>::handler()},
#define V3(name, D, A, B, C, ...) TF_ROW3(name, D, A, B, C, 0)
#define S3 V3
#define M3 V3
#define H3(name, D, A, B, C, ...) TF_ROW3(name, D, A, B, C, kKeepsHigh)
#define H3S H3
constexpr TableRow kRows[] = {
#include "tests/amd/isa/vector3.inc"
    {"v_mac_f32",
     &valu<v_mac_f32_op, F32, F32, F32, F32>,
     kAccumulates | kSdwa | kDpp | kClamp | kOmod,
     {Type::kF32, Type::kF32, Type::kF32},
     PlainLanes<v_mac_f32_op, F32, F32, F32, F32>::handler()}};

}  // namespace

std::span<const TableRow> vector3_rows() { return kRows; }

}  // namespace tf::amd::isa
