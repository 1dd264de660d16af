// SPDX-License-Identifier: Apache-2.0
// See remote_compile.h.
#include "proxy/rtc/remote_compile.h"

#include <hip/hiprtc.h>

#include <mutex>
#include <string>

#include "protocol/rtc_program.h"
#include "proxy/custom/copy_steps.h"
#include "proxy/session.h"

namespace tf::proxy {
namespace {

std::vector<std::byte> no_result(Session& session, hipError_t error) {
  protocol::RtcResult result;
  result.result = error == hipErrorOutOfMemory ? HIPRTC_ERROR_OUT_OF_MEMORY : HIPRTC_ERROR_INTERNAL_ERROR;
  result.log = "hiprtc: compiling on the worker: ";
  if (error == kLostError)
    result.log += "the worker is lost: " + session.queue().endpoint().status().to_string();
  else if (error == hipErrorOutOfMemory)
    result.log += "too much is being compiled at once, or the program is too large";
  else
    result.log += "it failed with HIP error " + std::to_string(static_cast<int>(error));
  auto bytes = protocol::encode(result);
  return bytes ? std::move(*bytes) : std::vector<std::byte>();
}

hipError_t lost(Session& session, const Status& status) {
  session.lose(status);
  return kLostError;
}

// The tag, by which the worker knows the program then.
hipError_t send(Session& session, int device, std::span<const std::byte> program, std::uint64_t& tag) {
  protocol::SendProgramRequest request{};
  request.bytes = program.size();
  BulkCompletion completion;
  hipError_t error = hipSuccess;
  {
    std::lock_guard order(session.send_order());
    tag = request.tag = session.next_tag();
    const Status started = start(
        session, [&] { return session.queue().endpoint().bulk().send(request.tag, program, completion); });
    if (!started) return lost(session, started);
    error = session.post(device, request);
  }
  // Also when posting failed: the session is lost then, which ends the transfer and frees the memory.
  const Status sent = session.queue().await(completion, Deadline::never());
  return error != hipSuccess ? error : session.transferred(sent);
}

hipError_t fetch(Session& session, int device, std::uint64_t program, std::span<std::byte> result) {
  protocol::FetchProgramRequest request{};
  request.program = program;
  request.tag = session.next_tag();
  BulkCompletion completion;
  const Status started = start(
      session, [&] { return session.queue().endpoint().bulk().receive(request.tag, result, completion); });
  if (!started) return lost(session, started);
  const hipError_t error = session.post(device, request);
  const Status received = session.queue().await(completion, Deadline::never());
  return error != hipSuccess ? error : session.transferred(received);
}

}  // namespace

std::vector<std::byte> compile_remotely(Session& session, int device, std::span<const std::byte> program) {
  protocol::CompileProgramRequest request{};
  hipError_t error = send(session, device, program, request.program);
  if (error != hipSuccess) return no_result(session, error);
  protocol::CompileProgramReply reply{};
  error = session.call(device, request, reply);
  if (error == hipSuccess && (reply.bytes == 0 || reply.bytes > protocol::kRtcResultBytesMax))
    error = hipErrorUnknown;
  if (error != hipSuccess) return no_result(session, error);
  std::vector<std::byte> result(static_cast<std::size_t>(reply.bytes));
  error = fetch(session, device, request.program, result);
  return error == hipSuccess ? result : no_result(session, error);
}

}  // namespace tf::proxy
