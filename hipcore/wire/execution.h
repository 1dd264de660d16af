// SPDX-License-Identifier: Apache-2.0
// The tail of Executions: when the worker's runtime has executed what. Plain wire values; a reader believes
// none of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tf::protocol {

inline constexpr std::size_t kExecutionsInNotice = 512;
inline constexpr std::size_t kExecutionNameBytes = 120;  // of a kernel

struct Execution {
  std::uint64_t begin_ns = 0;    // the worker's CLOCK_MONOTONIC
  std::uint64_t end_ns = 0;      // not before begin_ns
  std::uint64_t stream = 0;      // the client's handle, 0: a null stream
  std::uint64_t subject = 0;     // a kernel's or an executable graph's handle; of other requests the bytes
  std::uint32_t request_id = 0;  // of the request that asked for it
  std::uint16_t opcode = 0;
  std::uint16_t device = 0;  // the worker's ordinal
};
static_assert(sizeof(Execution) == 40 && offsetof(Execution, request_id) == 32);
static_assert(std::is_trivially_copyable_v<Execution> && std::has_unique_object_representations_v<Execution>);

}  // namespace tf::protocol
