// SPDX-License-Identifier: Apache-2.0
// Traits and fixed-width types that HIP 6 has for sources without the C++ library (hiprtc's), where its headers are
// older. They are the library's own, which is there.
#pragma once

#include <cstdint>
#include <type_traits>

namespace __hip_internal {
using std::conditional;
using std::enable_if;
using std::false_type;
using std::integral_constant;
using std::is_arithmetic;
using std::is_floating_point;
using std::is_integral;
using std::is_same;
using std::is_signed;
using std::is_standard_layout;
using std::is_trivial;
using std::true_type;
template <bool value>
using bool_constant = integral_constant<bool, value>;

using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;
}  // namespace __hip_internal

using __hip_int8_t = __hip_internal::int8_t;
using __hip_int16_t = __hip_internal::int16_t;
using __hip_int32_t = __hip_internal::int32_t;
using __hip_int64_t = __hip_internal::int64_t;
using __hip_uint8_t = __hip_internal::uint8_t;
using __hip_uint16_t = __hip_internal::uint16_t;
using __hip_uint32_t = __hip_internal::uint32_t;
using __hip_uint64_t = __hip_internal::uint64_t;
