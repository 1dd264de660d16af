// SPDX-License-Identifier: Apache-2.0
// Streams: those with compute units, what they follow, their end, and their compute units. Executor thread.
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <vector>

#include "worker/gen/custom.h"
#include "worker/session/call.h"

namespace tf::worker::custom {

void destroy_stream(Call& call, const protocol::DestroyStreamRequest& request) {
  if (!call.use_device()) return;
  Object stream;
  if (!call.unbind(protocol::HandleKind::kStream, request.stream, stream)) return;
  call.finish(call.session().streams.let_finish(static_cast<hipStream_t>(stream.object), stream.device));
}

void follow_null(Call& call, const protocol::FollowNullRequest& request) {
  if (!call.use_device()) return;
  hipStream_t stream = nullptr;
  int device = 0;
  if (!call.session().streams.find(request.stream, stream, device)) return call.finish(hipErrorInvalidHandle);
  // The event that it takes has to be of the stream's device.
  if (const hipError_t error = call.session().device.use(device)) return call.finish(error);
  call.finish(call.session().streams.follow_null(stream, device, request.polls != 0));
}

void create_masked_stream(Call& call, const protocol::CreateMaskedStreamRequest& request) {
  if (!call.use_device()) return;
  const std::size_t words = call.tail().size() / sizeof(std::uint32_t);
  const bool is_sane = call.tail().size() % sizeof(std::uint32_t) == 0 && words != 0 &&
                       words <= std::size(protocol::GetComputeUnitsReply{}.mask);
  if (!is_sane) return static_cast<void>(call.reject("CreateMaskedStream: no mask of units"));
  std::vector<std::uint32_t> mask(words);
  std::memcpy(mask.data(), call.tail().data(), call.tail().size());
  hipStream_t stream = nullptr;
  const hipError_t error =
      call.session().streams.create_masked(stream, request.flags, request.priority, mask);
  if (error == hipSuccess && !call.bind(protocol::HandleKind::kStream, request.created, stream)) return;
  call.finish(error);
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
