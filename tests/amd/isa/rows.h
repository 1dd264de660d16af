// SPDX-License-Identifier: Apache-2.0
// Makes an operation and a row of the table of one line: name, result, sources, expression of a, b, c.
#pragma once

#include "tests/amd/isa/arithmetic.h"
#include "tests/amd/isa/plain.h"

#define TF_RUN1(D, A) static D::Value run([[maybe_unused]] const Mode& mode, [[maybe_unused]] A::Value a)
#define TF_RUN2(D, A, B)                                                              \
  static D::Value run([[maybe_unused]] const Mode& mode, [[maybe_unused]] A::Value a, \
                      [[maybe_unused]] B::Value b)
#define TF_RUN3(D, A, B, C)                                                           \
  static D::Value run([[maybe_unused]] const Mode& mode, [[maybe_unused]] A::Value a, \
                      [[maybe_unused]] B::Value b, [[maybe_unused]] C::Value c)

// `control`: MODE's part that the operation obeys; `slow`: lanes one by one, as a library function needs it.
#define TF_OPERATION(name, RUN, control, slow, D, ...) \
  struct name##_op {                                   \
    static constexpr bool kSlow = slow;                \
    static constexpr Control kControl = control;       \
    RUN { return static_cast<D::Value>(__VA_ARGS__); } \
  };

namespace tf::amd::isa {
// Modifiers that a result of this type takes.
template <class D>
constexpr std::uint32_t result_modifiers() {
  const bool is_float = D::kType == Type::kF32 || D::kType == Type::kF64 || D::kType == Type::kF16;
  return is_float ? std::uint32_t{kClamp | kOmod} : 0;
}
template <class... T>
constexpr std::uint32_t half_modifiers() {
  return ((T::kType == Type::kF16 || T::kType == Type::kU16) || ...) ? std::uint32_t{kOpSel} : 0;
}
}  // namespace tf::amd::isa
