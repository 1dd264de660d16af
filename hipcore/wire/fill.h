// SPDX-License-Identifier: Apache-2.0
// FillRequest::form: the bytes of an element, and flags.
#pragma once

#include <cstdint>

namespace tf::protocol {

// The form of hipMemset without a stream: it is work of the null stream, and done before any later request of
// any stream.
inline constexpr std::uint32_t kFillSynchronous = 8;

constexpr bool is_synchronous(std::uint32_t form) { return (form & kFillSynchronous) != 0; }
constexpr std::uint32_t element_bytes(std::uint32_t form) { return form & ~kFillSynchronous; }

}  // namespace tf::protocol
