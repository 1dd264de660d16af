// SPDX-License-Identifier: Apache-2.0
// Which batches of stream operations are possible: one rule for hipStreamBatchMemOp and for nodes of graphs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hipcore/newer/hip_types.h"

namespace tf {

inline constexpr unsigned kBatchMax = 256;  // AMD's limit

namespace internal {

inline bool is_aligned(hipDeviceptr_t address, std::uintptr_t bytes) {
  return address != nullptr && reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

}  // namespace internal

inline bool is_wait(const hipStreamBatchMemOpParams& operation) {
  return operation.operation == hipStreamMemOpWaitValue32 || operation.operation == hipStreamMemOpWaitValue64;
}
// Of the value that is waited for or written.
inline std::size_t value_bytes(const hipStreamBatchMemOpParams& operation) {
  const bool is_short =
      operation.operation == hipStreamMemOpWaitValue32 || operation.operation == hipStreamMemOpWriteValue32;
  return is_short ? 4 : 8;
}
// Waits and writes have it in the same place.
inline hipDeviceptr_t value_address(const hipStreamBatchMemOpParams& operation) {
  return is_wait(operation) ? operation.waitValue.address : operation.writeValue.address;
}

// Barriers and flushes are refused, as by AMD's runtime.
inline bool is_possible(const hipStreamBatchMemOpParams& operation) {
  switch (operation.operation) {
    case hipStreamMemOpWaitValue32:
    case hipStreamMemOpWaitValue64:
      if (operation.waitValue.flags > hipStreamWaitValueNor) return false;
      break;
    case hipStreamMemOpWriteValue32:
    case hipStreamMemOpWriteValue64: break;
    default: return false;
  }
  return internal::is_aligned(value_address(operation), value_bytes(operation));
}

inline bool is_possible_batch(const hipStreamBatchMemOpParams* operations, unsigned count, unsigned flags) {
  if (operations == nullptr || flags != 0 || count == 0 || count > kBatchMax) return false;
  for (unsigned i = 0; i < count; ++i)
    if (!is_possible(operations[i])) return false;
  return true;
}

}  // namespace tf
