// SPDX-License-Identifier: Apache-2.0
// Builds and sends the frames of answers and notices.
#include "worker/base/notices.h"

#include "hipcore/wire/gen/messages.h"

namespace tf::worker {
namespace {

template <typename Notice>
void send_notice(Sender& sender, const Notice& notice, std::span<const std::byte> tail = {}) {
  FrameHeader header;
  header.opcode = static_cast<std::uint16_t>(Notice::kOp);
  header.flags = kFlagNoReply;
  sender.send(header, std::as_bytes(std::span(&notice, 1)), tail);
}

}  // namespace

void end_request(Sender& sender, const FrameHeader& request, hipError_t error,
                 std::span<const std::byte> body, std::uint64_t stream) {
  if (request.has(kFlagNoReply)) {
    if (error != hipSuccess && error != hipErrorNotReady) send_fault(sender, request, error, stream);
    return;
  }
  protocol::ReplyPrefix prefix{error, 0};
  if (request.has(kFlagWithOutput)) prefix.output = sender.printed();
  FrameHeader header;
  header.opcode = request.opcode;
  header.request_id = request.request_id;
  header.flags = kFlagResponse | (error == hipSuccess ? 0 : kFlagError);
  sender.send(header, std::as_bytes(std::span(&prefix, 1)), body);
}

void send_fault(Sender& sender, const FrameHeader& request, hipError_t error, std::uint64_t stream) {
  sender.tally().fault(SessionFault::kPostedCall);
  protocol::FaultNotice fault{};
  fault.error = error;
  fault.failed_opcode = request.opcode;
  fault.failed_request_id = request.request_id;
  fault.device = request.device();
  fault.stream = stream;
  send_notice(sender, fault);
}

void send_fault_of_work(Sender& sender, int device, hipError_t error, std::uint64_t stream) {
  sender.tally().fault(SessionFault::kStreamWork);
  protocol::FaultNotice fault{};
  fault.error = error;
  fault.device = static_cast<std::uint32_t>(device);
  fault.stream = stream;
  send_notice(sender, fault);
}

void send_device_failed(Sender& sender, int device, hipError_t error, std::string_view what) {
  sender.tally().fault(SessionFault::kDevice);
  protocol::DeviceFailedNotice notice{};
  notice.error = error;
  notice.device = static_cast<std::uint32_t>(device);
  send_notice(sender, notice, std::as_bytes(std::span(what.substr(0, kFailureTextMax))));
}

void send_executions(Sender& sender, std::span<const protocol::Execution> executions) {
  send_notice(sender, protocol::ExecutionsNotice{}, std::as_bytes(executions));
}

void send_function_named(Sender& sender, std::uint64_t function, std::string_view name) {
  const std::string_view cut = name.substr(0, protocol::kExecutionNameBytes);
  send_notice(sender, protocol::FunctionNamedNotice{function}, std::as_bytes(std::span(cut)));
}

}  // namespace tf::worker
