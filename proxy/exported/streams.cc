// SPDX-License-Identifier: Apache-2.0
// Facts about streams.
#include <algorithm>
#include <iterator>
#include <span>

#include "hipcore/composed/composed.h"
#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"
#include "proxy/gen/local.h"

namespace tf::proxy::local {
namespace {

hipError_t find_device(hipStream_t stream, int& device) {
  hipError_t error = hipSuccess;
  Client* client = client_for(stream, error);
  if (client == nullptr) return error;
  const std::uint64_t raw = to_raw(stream);
  device = raw <= kConstantStreamMax ? thread_state().device
                                     : client->handles().of(protocol::HandleKind::kStream).device(raw);
  return hipSuccess;
}

}  // namespace

hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device) {
  if (device == nullptr) return note_error(hipErrorInvalidValue);
  return note_error(find_device(stream, *device));
}

int hipGetStreamDeviceId(hipStream_t stream) {
  int device = -1;
  return find_device(stream, device) == hipSuccess ? device : -1;
}

}  // namespace tf::proxy::local

hipError_t tf::composed::create_masked_stream(hipStream_t& stream, unsigned flags, int priority, size_t words,
                                              const std::uint32_t* mask) {
  using namespace tf::proxy;
  ApiCall call;
  if (!call.connected()) return call.finish();
  protocol::CreateMaskedStreamRequest request;
  request.flags = flags;
  request.priority = priority;
  void* value = nullptr;
  if (!call.create(protocol::HandleKind::kStream, request.created, value)) return call.finish();
  call.client().about_to_add_stream(flags);
  call.client().streams().note_new(request.created, flags);
  Connection& connection = call.client().connection();
  const auto tail = std::as_bytes(std::span(mask, words));
  if (!connection.streams_limited()) {
    const hipError_t error = call.post(request, tail);
    if (error == hipSuccess) stream = static_cast<hipStream_t>(value);
    return error;
  }
  const hipError_t error = connection.post_and_hear(call.device(), request, tail);
  if (error == hipSuccess)
    stream = static_cast<hipStream_t>(value);
  else
    connection.forget_stream(request.created);
  return call.finish(error);
}

namespace tf::proxy::custom {
namespace {

constexpr int kUnitsPerWord = 32;
using Mask = decltype(protocol::GetComputeUnitsReply::mask);

// Words with a bit for every compute unit of the device.
std::uint32_t words_of(const protocol::DeviceProperties& properties) {
  const int words = (properties.multi_processor_count + kUnitsPerWord - 1) / kUnitsPerWord;
  return static_cast<std::uint32_t>(std::clamp(words, 1, static_cast<int>(std::size(Mask{}))));
}

}  // namespace

// Handles are never used again. The null streams have none; their numbers are above those of all handles.
hipError_t hipStreamGetId(ApiCall& call, hipStream_t stream, unsigned long long* id) {
  if (id == nullptr) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  std::uint64_t handle = 0;
  if (!call.translate(protocol::HandleKind::kStream, stream, handle)) return call.finish();
  constexpr std::uint64_t kNullStreams = std::uint64_t{1} << 63;
  *id = handle != 0 ? handle : kNullStreams | static_cast<unsigned>(call.device());
  return call.finish(hipSuccess);
}

hipError_t hipExtStreamGetCUMask(ApiCall& call, hipStream_t stream, uint32_t mask_words, uint32_t* mask) {
  if (mask == nullptr) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  Client& client = call.client();
  protocol::GetComputeUnitsRequest request{};
  // The thread's own stream is created with its first work, and has no mask.
  const bool is_own = stream == hipStreamPerThread;
  if (!is_own && !call.translate(protocol::HandleKind::kStream, stream, request.stream)) return call.finish();
  const int device = client.streams().device_of(call.device(), request.stream);
  request.words = words_of(client.snapshot().devices[static_cast<std::size_t>(device)].properties);
  if (mask_words < request.words) return call.finish(hipErrorInvalidValue);
  protocol::GetComputeUnitsReply reply{};
  const hipError_t error = client.connection().call(device, request, reply);
  if (error == hipSuccess) std::copy_n(std::begin(reply.mask), request.words, mask);
  return call.finish(error);
}

}  // namespace tf::proxy::custom
