// SPDX-License-Identifier: Apache-2.0
// The messages for compiling a program on the worker (hiprtc): the program on the way there, the result on
// the way back. Payload of SendProgram and FetchProgram. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "transport/base/status.h"

namespace tf::protocol {

inline constexpr std::size_t kRtcTextBytesMax = 64 << 20;      // source and headers together
inline constexpr std::size_t kRtcWordsMax = 4096;              // of headers, options, name expressions each
inline constexpr std::size_t kRtcWordBytesMax = 64 << 10;      // one name, option or expression
inline constexpr std::size_t kRtcProgramBytesMax = 128 << 20;  // encoded
inline constexpr std::size_t kRtcCodeBytesMax = 256 << 20;
inline constexpr std::size_t kRtcLogBytesMax = 16 << 20;
inline constexpr std::size_t kRtcResultBytesMax = 320 << 20;  // encoded

// A header under its include name, a lowered name under its expression, or a module under its name.
struct RtcEntry {
  std::string name;
  std::string text;
  friend bool operator==(const RtcEntry&, const RtcEntry&) = default;
};

// What to compile; or, if there are modules, what to link.
struct RtcProgram {
  std::string text;
  std::string name;
  std::vector<RtcEntry> headers;
  std::vector<std::string> options;
  std::vector<std::string> name_expressions;
  std::vector<RtcEntry> modules{};
  friend bool operator==(const RtcProgram&, const RtcProgram&) = default;
};

struct RtcResult {
  std::int32_t result = 0;  // hiprtcResult
  std::string log;
  std::string code;
  std::vector<RtcEntry> lowered_names;
  friend bool operator==(const RtcResult&, const RtcResult&) = default;
};

// kInvalidArgument or kResourceExhausted: over one of the limits above, which the other side would refuse.
Result<std::vector<std::byte>> encode(const RtcProgram& program);
Result<std::vector<std::byte>> encode(const RtcResult& result);
// kProtocol: not something that encode() writes. The source may be anything.
Result<RtcProgram> decode_rtc_program(std::span<const std::byte> source);
Result<RtcResult> decode_rtc_result(std::span<const std::byte> source);

}  // namespace tf::protocol
