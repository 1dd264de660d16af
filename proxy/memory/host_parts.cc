// SPDX-License-Identifier: Apache-2.0
// Sends the messages about the host window. Its memory belongs to no device: device 0's executor handles
// them.
#include "proxy/memory/host_parts.h"

namespace tf::proxy {

hipError_t HostParts::open_host_part(std::uint64_t address, std::uint64_t bytes, Use use) {
  protocol::OpenHostPartRequest request{};
  request.copied = use == Use::kCopied ? 1 : 0;
  request.address = address;
  request.bytes = bytes;
  return connection_.call(0, request);
}

void HostParts::close_host_part(std::uint64_t address, std::uint64_t bytes) {
  huge_pages_.forget(address, bytes);
  protocol::CloseHostPartRequest request{};
  request.address = address;
  (void)connection_.post(0, request);
}

hipError_t HostParts::map_host_file(std::uint64_t address, std::uint64_t bytes, int file,
                                    std::uint64_t offset) {
  protocol::MapHostFileRequest request{};
  request.address = address;
  request.bytes = bytes;
  request.offset = offset;
  return connection_.call_with_file(0, request, file);
}

void HostParts::unmap_host_file(std::uint64_t address) {
  protocol::UnmapHostFileRequest request{};
  request.address = address;
  (void)connection_.post(0, request);
}

}  // namespace tf::proxy
