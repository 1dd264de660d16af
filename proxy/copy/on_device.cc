// SPDX-License-Identifier: Apache-2.0
// Posts copies between addresses that the worker reaches.
#include "proxy/copy/on_device.h"

namespace tf::proxy {

hipError_t post_on_device(Connection& connection, const CopyMode& mode, const Box& box) {
  if (box.is_line()) {
    protocol::CopyOnDeviceRequest request{};
    request.target = box.target.address;
    request.source = box.source.address;
    request.bytes = box.width;
    request.stream = mode.stream;
    return connection.post(mode.device, request);
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
  return connection.post(mode.device, request);
}

}  // namespace tf::proxy
