// SPDX-License-Identifier: Apache-2.0
// The 24-byte header in front of every message, on every transport and on the control connection.
//
//   offset  size  field
//   0       4     magic           'HIPR' = 0x48495052, little-endian on the wire
//   4       2     version         kWireVersion; another value ends the connection
//   6       2     opcode          0x00xx connection, 0x01xx device, 0x02xx memory, 0x03xx stream,
//                                 0x04xx event, 0x05xx module and launch, 0x06xx-0x07xx graph and
//                                 runtime, 0x08xx SMI, 0x09xx context
//   8       4     request_id      counts up from 1 per session; a response repeats it
//   12      4     flags           bits 0..15 kFlag*, bits 16..31 device ordinal of the calling thread
//   16      8     payload_length  bytes that follow, at most the endpoint's max_message_bytes - 24
//
// Dependency policy: this header knows no opcode's meaning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "transport/base/status.h"

namespace tf {

inline constexpr std::uint32_t kFrameMagic = 0x48495052;
inline constexpr std::uint16_t kWireVersion = 1;

inline constexpr std::uint32_t kFlagResponse = 1u << 0;    // answers the request with the same id
inline constexpr std::uint32_t kFlagError = 1u << 1;       // the payload carries a failure
inline constexpr std::uint32_t kFlagInlineData = 1u << 2;  // a variable tail follows the fixed part
inline constexpr std::uint32_t kFlagNoReply = 1u << 3;     // posted: nobody waits for an answer
inline constexpr std::uint32_t kFlagWithOutput = 1u << 4;  // the answer counts what was printed before it
inline constexpr std::uint32_t kFlagsKnown = 0x1f;
inline constexpr unsigned kDeviceShift = 16;
inline constexpr std::uint32_t kDeviceMax = 0xffff;

struct FrameHeader {
  std::uint32_t magic = kFrameMagic;
  std::uint16_t version = kWireVersion;
  std::uint16_t opcode = 0;
  std::uint32_t request_id = 0;
  std::uint32_t flags = 0;
  std::uint64_t payload_length = 0;

  std::uint32_t device() const { return flags >> kDeviceShift; }
  bool has(std::uint32_t flag) const { return (flags & flag) != 0; }
};
static_assert(sizeof(FrameHeader) == 24 && offsetof(FrameHeader, opcode) == 6);
static_assert(offsetof(FrameHeader, request_id) == 8 && offsetof(FrameHeader, flags) == 12);
static_assert(offsetof(FrameHeader, payload_length) == 16);
static_assert(std::is_trivially_copyable_v<FrameHeader>);
static_assert(std::has_unique_object_representations_v<FrameHeader>);

inline constexpr std::size_t kFrameHeaderBytes = sizeof(FrameHeader);

// Checks everything about a header that does not depend on the opcode: magic, version, no unknown flags,
// payload_length <= payload_bytes_max.
constexpr bool is_valid(const FrameHeader& header, std::uint64_t payload_bytes_max) {
  return header.magic == kFrameMagic && header.version == kWireVersion &&
         (header.flags & 0xffff & ~kFlagsKnown) == 0 && header.payload_length <= payload_bytes_max;
}
// The same; a failure names the wrong field and both values.
Status validate(const FrameHeader& header, std::uint64_t payload_bytes_max);

// Reads and validates the header at the start of `bytes`. kProtocol when it is short or wrong.
Result<FrameHeader> read_header(std::span<const std::byte> bytes, std::uint64_t payload_bytes_max);

inline void write_header(const FrameHeader& header, std::byte* target) {
  std::memcpy(target, &header, sizeof header);
}

}  // namespace tf
