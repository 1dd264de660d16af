// SPDX-License-Identifier: Apache-2.0
// Posts copies between addresses that the worker reaches.
#include "proxy/copy/on_device.h"

namespace tf::proxy {
namespace {

template <typename Request>
hipError_t post(Connection& connection, int device, const Request& request, Leaves leaves) {
  const hipError_t error =
      connection.send(protocol::kTraits<Request>, device, protocol::wire_of(request), {});
  connection.streams().note_posted(device, {leaves, request.stream});
  return error;
}

}  // namespace

hipError_t post_on_device(Connection& connection, const CopyMode& mode, const Box& box, Leaves leaves) {
  if (box.is_line()) {
    protocol::CopyOnDeviceRequest request{};
    request.target = box.target.address;
    request.source = box.source.address;
    request.bytes = box.width;
    request.stream = mode.stream;
    return post(connection, mode.device, request, leaves);
  }
  protocol::CopyBoxOnDeviceRequest request{};
  request.target = box.target.address;
  request.target_pitch = box.target.pitch;
  request.target_slice = box.target.slice;
  request.source = box.source.address;
  request.source_pitch = box.source.pitch;
  request.source_slice = box.source.slice;
  request.width = box.width;
  request.height = box.height;
  request.depth = box.depth;
  request.stream = mode.stream;
  return post(connection, mode.device, request, leaves);
}

}  // namespace tf::proxy
