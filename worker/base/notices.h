// SPDX-License-Identifier: Apache-2.0
// A session's messages to its client: answers to requests, and notices that no request asked for. Any thread;
// Sender's rules on threads and failures hold.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "hipcore/wire/execution.h"
#include "transport/frame.h"
#include "worker/base/sender.h"

namespace tf::worker {

inline constexpr std::size_t kFailureTextMax = 1024;  // about a device, sent to the client

// Ends `request`. Its flags, not its kind, say whether the client waits for an answer: ReplyPrefix +
// body. If it does not wait, success sends nothing and failure sends a Fault with `stream`, the client's raw
// handle; hipErrorNotReady is not a failure.
void end_request(Sender& sender, const FrameHeader& request, hipError_t error,
                 std::span<const std::byte> body = {}, std::uint64_t stream = 0);
// The posted `request` failed later.
void send_fault(Sender& sender, const FrameHeader& request, hipError_t error, std::uint64_t stream);
// Earlier work of the stream failed; 0: of any stream of the device.
void send_fault_of_work(Sender& sender, int device, hipError_t error, std::uint64_t stream);
// What was executed, and what kernels are called, for a client that traces.
void send_executions(Sender& sender, std::span<const protocol::Execution> executions);
void send_function_named(Sender& sender, std::uint64_t function, std::string_view name);
// A device has failed; says why, in words for the program's user.
void send_device_failed(Sender& sender, int device, hipError_t error, std::string_view what);

}  // namespace tf::worker
