// SPDX-License-Identifier: Apache-2.0
// Operations on streams, as batches hold them.
#pragma once

#include <cstdint>

#include "hipcore/newer/hip_types.h"

namespace tf::majors {

inline hipStreamBatchMemOpParams wait_for(void* address, std::uint32_t value,
                                          unsigned condition = hipStreamWaitValueEq) {
  hipStreamBatchMemOpParams operation{};
  operation.operation = hipStreamMemOpWaitValue32;
  operation.waitValue.address = address;
  operation.waitValue.value = value;
  operation.waitValue.flags = condition;
  return operation;
}

inline hipStreamBatchMemOpParams write_to(void* address, std::uint64_t value, hipStreamBatchMemOpType type) {
  hipStreamBatchMemOpParams operation{};
  operation.operation = type;
  operation.writeValue.address = address;
  operation.writeValue.value64 = value;
  return operation;
}

}  // namespace tf::majors
