// SPDX-License-Identifier: Apache-2.0
// Trace: when the calls of one process began and ended, what they waited for, what they posted and copied:
// events in a file that the process maps, beside its record (record.h).
//
// Events are written without a lock, by any thread, each into a block of its own; those that find no room are
// only counted. An event counts from the moment its kind is written, so the file can be read however the
// process ended. Times are ticks of the process's clock in the file (clock.h), and nanoseconds of
// CLOCK_MONOTONIC in what read_trace() returns. Readers treat the file as hostile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "proxy/stats/clock.h"
#include "proxy/stats/record.h"
#include "transport/base/status.h"

namespace tf::proxy::stats {

inline constexpr std::uint64_t kTraceMagic = 0x3245434152544648;  // "HFTRACE2"
inline constexpr std::size_t kTraceEventsMax = 1 << 20;           // of one process: 40 MiB
inline constexpr std::size_t kTraceBlockEvents = 256;             // of one thread, at a time

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
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // what has no length ends when it begins
  std::uint64_t bytes = 0;
  std::uint32_t function = 0;  // kFunctionNames.size(): outside of calls
  std::uint32_t thread = 0;    // as the system numbers it
  std::uint32_t kind = 0;      // TraceKind
  std::uint32_t request = 0;   // kPost and waits for an answer: number of the message. 0: none
};

struct TraceHead {
  std::uint64_t magic = kTraceMagic;
  std::uint64_t functions_hash = kFunctionsHash;
  std::uint64_t pid = 0;
  std::uint64_t given = 0;     // events in all blocks that threads took, those beyond the end included
  std::uint64_t left_out = 0;  // found no room
  ClockLog clock;
  std::array<char, kTextBytes> program{};
};
static_assert(std::is_trivially_copyable_v<TraceEvent> && sizeof(TraceEvent) == 40);
static_assert(std::is_trivially_copyable_v<TraceHead>);

struct TraceFile {
  TraceHead head;
  std::array<TraceEvent, kTraceEventsMax> events;
};
static_assert(kTraceEventsMax % kTraceBlockEvents == 0);

// Where one thread writes: the rest of its block.
struct TraceCursor {
  TraceEvent* next = nullptr;
  TraceEvent* end = nullptr;
};

// Room for one event, its kind kNone. Null: there is none, which is counted. Any thread, with its own cursor.
TraceEvent* make_room(TraceFile& file, TraceCursor& cursor);
// What is in `event` counts from now on. REQUIRES: kind != kNone
void complete(TraceEvent& event, TraceKind kind);
// Both. `event.kind` is not kNone.
void append(TraceFile& file, TraceCursor& cursor, const TraceEvent& event);

// What was read of a file. Every event's kind, function and times are right.
struct Trace {
  std::uint64_t pid = 0;
  std::string program;
  std::uint64_t left_out = 0;  // events without room, or nonsense
  std::vector<TraceEvent> events;
};
// kProtocol: the file holds no trace of this version.
Result<Trace> read_trace(const std::string& path);

}  // namespace tf::proxy::stats
