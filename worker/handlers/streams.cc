// SPDX-License-Identifier: Apache-2.0
// Streams: their end, and their compute units. Executor thread.
#include <iterator>
#include <span>

#include "worker/gen/custom.h"
#include "worker/session/call.h"

namespace tf::worker::custom {

void destroy_stream(Call& call, const protocol::DestroyStreamRequest& request) {
  if (!call.use_device()) return;
  Object stream;
  if (!call.unbind(protocol::HandleKind::kStream, request.stream, stream)) return;
  call.finish(call.session().streams.let_finish(static_cast<hipStream_t>(stream.object), stream.device));
}

void get_compute_units(Call& call, const protocol::GetComputeUnitsRequest& request) {
  if (!call.use_device()) return;
  protocol::GetComputeUnitsReply reply{};
  if (request.words > std::size(reply.mask))
    return static_cast<void>(call.reject("GetComputeUnits: more words than the reply holds"));
  hipStream_t stream = nullptr;
  int device = 0;
  if (!call.session().streams.find(request.stream, stream, device)) return call.reply(hipErrorInvalidHandle);
  const hipError_t error = call.hip().hipExtStreamGetCUMask(stream, request.words, reply.mask);
  call.reply(error, std::as_bytes(std::span(&reply, 1)));
}

}  // namespace tf::worker::custom
