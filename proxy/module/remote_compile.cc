// SPDX-License-Identifier: Apache-2.0
// Sends a program to the worker to be compiled, and takes its result.
#include "proxy/module/remote_compile.h"

#include <hip/hiprtc.h>

#include <string>

#include "hipcore/wire/rtc_program.h"
#include "proxy/session/payload.h"

namespace tf::proxy {
namespace {

std::vector<std::byte> no_result(Connection& connection, hipError_t error) {
  protocol::RtcResult result;
  result.result = error == hipErrorOutOfMemory ? HIPRTC_ERROR_OUT_OF_MEMORY : HIPRTC_ERROR_INTERNAL_ERROR;
  result.log = "hiprtc: compiling on the worker: ";
  if (error == kLostError)
    result.log += "the worker is lost: " + connection.status().to_string();
  else if (error == hipErrorOutOfMemory)
    result.log += "too much is being compiled at once, or the program is too large";
  else
    result.log += "it failed with HIP error " + std::to_string(static_cast<int>(error));
  auto bytes = protocol::encode(result);
  return bytes ? std::move(*bytes) : std::vector<std::byte>();
}

}  // namespace

std::vector<std::byte> compile_remotely(Connection& connection, int device,
                                        std::span<const std::byte> program) {
  protocol::SendProgramRequest sent{};
  sent.bytes = program.size();
  hipError_t error = send_payload(connection, device, sent, program);
  if (error != hipSuccess) return no_result(connection, error);
  protocol::CompileProgramRequest request{};
  request.program = sent.tag;  // by which the worker knows it
  protocol::CompileProgramReply reply{};
  error = connection.call(device, request, reply);
  if (error == hipSuccess && (reply.bytes == 0 || reply.bytes > protocol::kRtcResultBytesMax))
    error = hipErrorUnknown;
  if (error != hipSuccess) return no_result(connection, error);
  std::vector<std::byte> result(static_cast<std::size_t>(reply.bytes));
  protocol::FetchProgramRequest fetched{};
  fetched.program = request.program;
  error = receive_payload(connection, device, fetched, std::span(result));
  return error == hipSuccess ? result : no_result(connection, error);
}

}  // namespace tf::proxy
