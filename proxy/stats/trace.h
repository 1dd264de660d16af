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
#include <string_view>
#include <type_traits>
#include <vector>

#include "hipcore/wire/execution.h"
#include "proxy/stats/clock.h"
#include "proxy/stats/record.h"
#include "transport/base/status.h"

namespace tf::proxy::stats {

inline constexpr std::uint64_t kTraceMagic = 0x3345434152544648;  // "HFTRACE3"
inline constexpr std::size_t kTraceEventsMax = 1 << 20;           // of one process: 40 MiB
inline constexpr std::size_t kTraceBlockEvents = 256;             // of one thread, at a time

enum class TraceKind : std::uint32_t {
  kNone,  // not written (yet)
  kCall,
  kPost,
  kToDevice,    // bytes
  kFromDevice,  // bytes
  kWait,        // and those behind it: kWait + Wait
  // Of the worker: begin and end by its CLOCK_MONOTONIC, bytes a protocol::Execution's subject, function its
  // opcode and device (execution_of()), thread the slot of its stream (protocol::Handle), 0: a null stream.
  kExecution = kWait + kWaitKinds,
};
inline constexpr std::uint32_t kTraceKinds = static_cast<std::uint32_t>(TraceKind::kExecution) + 1;

struct TraceEvent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // what has no length ends when it begins
  std::uint64_t bytes = 0;
  std::uint32_t function = 0;  // kFunctionNames.size(): outside of calls
  std::uint32_t thread = 0;    // as the system numbers it
  std::uint32_t kind = 0;      // TraceKind
  std::uint32_t request = 0;   // kPost and waits for an answer: number of the message. 0: none
};

// What a worker's CLOCK_MONOTONIC shows more than that of the process, found by a round trip.
struct WorkerClock {
  std::uint64_t at_ns = 0;     // by the own clock
  std::int64_t ahead_ns = 0;   // off by no more than error_ns
  std::uint64_t error_ns = 0;  // 0: not known
};

inline constexpr std::size_t kTraceNamesMax = 2048;  // of kernels
struct TraceName {
  std::uint64_t function = 0;  // handle; 0: not written (yet)
  std::array<char, protocol::kExecutionNameBytes> name{};
};

struct TraceHead {
  std::uint64_t magic = kTraceMagic;
  std::uint64_t functions_hash = kFunctionsHash;
  std::uint64_t pid = 0;
  std::uint64_t given = 0;     // events in all blocks that threads took, those beyond the end included
  std::uint64_t left_out = 0;  // found no room
  ClockLog clock;
  WorkerClock worker_first;
  WorkerClock worker_last;
  std::uint64_t executions_left_out = 0;  // by the worker
  std::uint64_t executions_error_ns = 0;  // against the worker's clock
  std::uint64_t names = 0;                // those without room included
  std::array<char, kTextBytes> program{};
};
static_assert(std::is_trivially_copyable_v<TraceEvent> && sizeof(TraceEvent) == 40);
static_assert(std::is_trivially_copyable_v<TraceHead>);

struct TraceFile {
  TraceHead head;
  std::array<TraceEvent, kTraceEventsMax> events;
  std::array<TraceName, kTraceNamesMax> names;
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
// From now on the kernel is called so; cut, and dropped if there is no room. Any thread.
void add_name(TraceFile& file, std::uint64_t function, std::string_view name);
// Both. `event.kind` is not kNone.
void append(TraceFile& file, TraceCursor& cursor, const TraceEvent& event);

// One execution of the worker's, by the clock of the process that asked for it.
struct TracedExecution {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t bytes = 0;  // 0: not known
  std::uint32_t request = 0;
  std::uint32_t stream = 0;
  std::uint16_t opcode = 0;
  std::uint16_t device = 0;
  std::string name;  // of a kernel, printable ASCII; empty: of none, or not known
};

// What was read of a file. Every event's kind, function and times are right.
struct Trace {
  std::uint64_t pid = 0;
  std::string program;
  std::uint64_t left_out = 0;  // events without room, or nonsense
  std::vector<TraceEvent> events;
  // Of each stream in order, and none begins before the one in front of it has ended.
  std::vector<TracedExecution> executions;
  std::uint64_t executions_left_out = 0;
  bool worker_is_known = false;           // the following are
  std::int64_t worker_ahead_ns = 0;       // its clock; 0 as well: by no more than can be found out
  std::uint64_t executions_error_ns = 0;  // their times are right within that
};
// kProtocol: the file holds no trace of this version.
Result<Trace> read_trace(const std::string& path);

}  // namespace tf::proxy::stats
