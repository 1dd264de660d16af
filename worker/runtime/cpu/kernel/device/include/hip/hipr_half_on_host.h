// SPDX-License-Identifier: Apache-2.0
// The operators of __half and __half2 for host code, where HIP 6 has them and HIP 5 has them in kernels only.
// Every result is rounded to half precision.
#pragma once

#define HIPR_HALF_ON_HOST __host__ inline

namespace hipr {
HIPR_HALF_ON_HOST _Float16 number(const __half& value) { return static_cast<__half_raw>(value).data; }
HIPR_HALF_ON_HOST _Float16_2 number(const __half2& value) { return value.data; }
}  // namespace hipr

#define HIPR_HALF_ARITHMETIC(type, op)                               \
  HIPR_HALF_ON_HOST type operator op(const type& a, const type& b) { \
    return type(hipr::number(a) op hipr::number(b));                 \
  }                                                                  \
  HIPR_HALF_ON_HOST type& operator op##=(type& a, const type& b) { return a = a op b; }
#define HIPR_HALF_STEP(type, op)                                                           \
  HIPR_HALF_ON_HOST type& operator op##op(type& a) { return a = a op type(hipr::one(a)); } \
  HIPR_HALF_ON_HOST type operator op##op(type& a, int) {                                   \
    const type before = a;                                                                 \
    a = a op type(hipr::one(a));                                                           \
    return before;                                                                         \
  }
namespace hipr {
HIPR_HALF_ON_HOST _Float16 one(const __half&) { return static_cast<_Float16>(1); }
HIPR_HALF_ON_HOST _Float16_2 one(const __half2&) {
  return _Float16_2{static_cast<_Float16>(1), static_cast<_Float16>(1)};
}
}  // namespace hipr

#define HIPR_HALF_OPERATORS(type)                               \
  HIPR_HALF_ARITHMETIC(type, +)                                 \
  HIPR_HALF_ARITHMETIC(type, -)                                 \
  HIPR_HALF_ARITHMETIC(type, *)                                 \
  HIPR_HALF_ARITHMETIC(type, /)                                 \
  HIPR_HALF_STEP(type, +)                                       \
  HIPR_HALF_STEP(type, -)                                       \
  HIPR_HALF_ON_HOST type operator+(const type& a) { return a; } \
  HIPR_HALF_ON_HOST type operator-(const type& a) { return type(-hipr::number(a)); }
HIPR_HALF_OPERATORS(__half)
HIPR_HALF_OPERATORS(__half2)
#undef HIPR_HALF_OPERATORS
#undef HIPR_HALF_STEP
#undef HIPR_HALF_ARITHMETIC

// Of pairs: for both.
#define HIPR_HALF_COMPARE(op)                                              \
  HIPR_HALF_ON_HOST bool operator op(const __half& a, const __half& b) {   \
    return hipr::number(a) op hipr::number(b);                             \
  }                                                                        \
  HIPR_HALF_ON_HOST bool operator op(const __half2& a, const __half2& b) { \
    const _Float16_2 x = hipr::number(a), y = hipr::number(b);             \
    return x.x op y.x && x.y op y.y;                                       \
  }
HIPR_HALF_COMPARE(==)
HIPR_HALF_COMPARE(!=)
HIPR_HALF_COMPARE(<)
HIPR_HALF_COMPARE(>)
HIPR_HALF_COMPARE(<=)
HIPR_HALF_COMPARE(>=)
#undef HIPR_HALF_COMPARE
#undef HIPR_HALF_ON_HOST
