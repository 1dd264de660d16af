// SPDX-License-Identifier: Apache-2.0
// Checks frame headers, and names the field that is wrong.
#include "transport/frame.h"

#include <cstdio>

namespace tf {
namespace {

Status mismatch(const char* field, unsigned long long got, const char* relation, unsigned long long wanted) {
  char text[128];
  std::snprintf(text, sizeof text, "frame %s is 0x%llx, %s 0x%llx", field, got, relation, wanted);
  return {Code::kProtocol, text};
}

}  // namespace

Status validate(const FrameHeader& header, std::uint64_t payload_bytes_max) {
  if (is_valid(header, payload_bytes_max)) return Status::ok();
  if (header.magic != kFrameMagic) return mismatch("magic", header.magic, "expected", kFrameMagic);
  if (header.version != kWireVersion) return mismatch("version", header.version, "expected", kWireVersion);
  if ((header.flags & 0xffff & ~kFlagsKnown) != 0)
    return mismatch("flags", header.flags, "known bits are", kFlagsKnown);
  return mismatch("payload_length", header.payload_length, "the limit is", payload_bytes_max);
}

Result<FrameHeader> read_header(std::span<const std::byte> bytes, std::uint64_t payload_bytes_max) {
  if (bytes.size() < kFrameHeaderBytes)
    return mismatch("length", bytes.size(), "the header needs", kFrameHeaderBytes);
  FrameHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (Status status = validate(header, payload_bytes_max); !status.is_ok()) return status;
  return header;
}

}  // namespace tf
