// SPDX-License-Identifier: Apache-2.0
// Trace: when the calls of one process began and ended, what they waited for, what they posted and copied:
// events in a file that the process maps, beside its record (record.h).
//
// Events are appended without a lock, by any thread; those that find no room are only counted. An event
// counts from the moment its kind is written, so the file can be read however the process ended. Times are
// those of CLOCK_MONOTONIC. Readers treat the file as hostile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "proxy/stats/record.h"
#include "transport/base/status.h"

namespace tf::proxy::stats {

inline constexpr std::uint64_t kTraceMagic = 0x3145434152544648;  // "HFTRACE1"
inline constexpr std::size_t kTraceEventsMax = 1 << 20;           // of one process: 40 MiB

enum class TraceKind : std::uint32_t {
  kNone,  // not written (yet)
  kCall,
  kPost,
  kToDevice,    // bytes
  kFromDevice,  // bytes
  kWait,        // and those behind it: kWait + Wait
};
inline constexpr std::uint32_t kTraceKinds = static_cast<std::uint32_t>(TraceKind::kWait) + kWaitKinds;

struct TraceEvent {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;  // what has no length ends when it begins
  std::uint64_t bytes = 0;
  std::uint32_t function = 0;  // kFunctionNames.size(): outside of calls
  std::uint32_t thread = 0;    // as the system numbers it
  std::uint32_t kind = 0;      // TraceKind
  std::uint32_t reserved = 0;
};

struct TraceHead {
  std::uint64_t magic = kTraceMagic;
  std::uint64_t functions_hash = kFunctionsHash;
  std::uint64_t pid = 0;
  std::uint64_t appended = 0;  // events, those without room included
  std::array<char, kTextBytes> program{};
};
static_assert(std::is_trivially_copyable_v<TraceEvent> && sizeof(TraceEvent) == 40);
static_assert(std::is_trivially_copyable_v<TraceHead>);

struct TraceFile {
  TraceHead head;
  std::array<TraceEvent, kTraceEventsMax> events;
};

// Any thread. `event.kind` is not kNone.
void append(TraceFile& file, const TraceEvent& event);

// What was read of a file. Every event's kind, function and times are right.
struct Trace {
  std::uint64_t pid = 0;
  std::string program;
  std::uint64_t left_out = 0;  // events without room, or not whole
  std::vector<TraceEvent> events;
};
// kProtocol: the file holds no trace of this version.
Result<Trace> read_trace(const std::string& path);

}  // namespace tf::proxy::stats
