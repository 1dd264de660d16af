// SPDX-License-Identifier: Apache-2.0
// What linear and strided copies have in common: waiting as the call promised, counting, capture.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <optional>

#include "proxy/copy/copy_engine.h"

namespace tf::proxy {

// Waits for the stream.
hipError_t synchronize(Connection& connection, const CopyMode& mode);
// The same, looking at shared memory where there is some.
hipError_t await_stream(CopyEngine& engine, const CopyMode& mode);
// A synchronous copy has happened when it returns. Only streams that do not order themselves after the null
// stream could tell the difference, and processes that share the memory; without any of them it stays posted.
hipError_t settle(Connection& connection, const CopyMode& mode, hipError_t posted);
// The same of a copy between addresses that the worker reaches. One that reads or writes host memory has done
// so when a synchronous call returns.
hipError_t settle_on_device(CopyEngine& engine, const CopyMode& mode, std::uint64_t target,
                            std::uint64_t source, hipError_t posted);
// For TF_STATS, when the copy is about to be made.
void count_copy(CopyEngine& engine, std::uint64_t target, std::uint64_t source, std::uint64_t bytes);
// Is the copy captured instead of made?
std::optional<hipError_t> offer(CopyEngine& engine, const CopyMode& mode, const Box& box, hipMemcpyKind kind);

}  // namespace tf::proxy
