// SPDX-License-Identifier: Apache-2.0
// What travels when a program is compiled on the worker (hiprtc): the program there, its result back. Payload
// of SendProgram and FetchProgram. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "transport/base/status.h"

namespace tf::protocol {

inline constexpr std::size_t kRtcTextBytesMax = 64 << 20;      // source and headers together
inline constexpr std::size_t kRtcWordsMax = 4096;              // headers, options, name expressions: of each
inline constexpr std::size_t kRtcWordBytesMax = 64 << 10;      // one name, option or expression
inline constexpr std::size_t kRtcProgramBytesMax = 128 << 20;  // encoded
inline constexpr std::size_t kRtcCodeBytesMax = 256 << 20;
inline constexpr std::size_t kRtcLogBytesMax = 16 << 20;
inline constexpr std::size_t kRtcResultBytesMax = 320 << 20;  // encoded

// A header by the name it is included with, a lowered name by its expression.
struct RtcEntry {
  std::string name;
  std::string text;
  friend bool operator==(const RtcEntry&, const RtcEntry&) = default;
};

struct RtcProgram {
  std::string text;
  std::string name;
  std::vector<RtcEntry> headers;
  std::vector<std::string> options;
  std::vector<std::string> name_expressions;
  friend bool operator==(const RtcProgram&, const RtcProgram&) = default;
};

struct RtcResult {
  std::int32_t result = 0;  // hiprtcResult
  std::string log;
  std::string code;
  std::vector<RtcEntry> lowered_names;
  friend bool operator==(const RtcResult&, const RtcResult&) = default;
};

// kInvalidArgument or kResourceExhausted: beyond the limits above, which the other side would refuse.
Result<std::vector<std::byte>> encode(const RtcProgram& program);
Result<std::vector<std::byte>> encode(const RtcResult& result);
// kProtocol: not what encode() makes. The source may be anything.
Result<RtcProgram> decode_rtc_program(std::span<const std::byte> source);
Result<RtcResult> decode_rtc_result(std::span<const std::byte> source);

}  // namespace tf::protocol
