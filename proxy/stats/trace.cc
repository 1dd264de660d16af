// SPDX-License-Identifier: Apache-2.0
// Writes events to a trace, and reads traces of other processes.
#include "proxy/stats/trace.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <tuple>

#include "hipcore/wire/handle.h"
#include "transport/base/file_reader.h"

namespace tf::proxy::stats {
namespace {

constexpr std::uintptr_t kPageMask = 4095;
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE: the headers of older systems lack it

// Faults of a block's pages, all at once. If the kernel cannot (before 5.14), each write to a new page
// faults.
void touch_pages(TraceEvent* begin, TraceEvent* end) {
  const std::uintptr_t from = reinterpret_cast<std::uintptr_t>(begin) & ~kPageMask;
  const std::uintptr_t to = reinterpret_cast<std::uintptr_t>(end);
  static_cast<void>(::madvise(reinterpret_cast<void*>(from), to - from, kPopulateWrite));
}

bool take_block(TraceFile& file, TraceCursor& cursor) {
  std::atomic_ref given(file.head.given);
  if (given.load(std::memory_order_relaxed) >= file.events.size()) return false;
  const std::uint64_t index = given.fetch_add(kTraceBlockEvents, std::memory_order_relaxed);
  if (index >= file.events.size()) return false;
  cursor = {&file.events[index], &file.events[index] + kTraceBlockEvents};
  touch_pages(cursor.next, cursor.end);
  return true;
}

bool is_right(const TraceEvent& event) {
  const bool is_execution = event.kind == static_cast<std::uint32_t>(TraceKind::kExecution);
  return event.kind < kTraceKinds && (is_execution || event.function <= kFunctionNames.size()) &&
         event.begin <= event.end;
}

// Turns times of the worker's clock into those of the process's. What stands in a file may be anything.
class WorkerScale {
 public:
  WorkerScale(const WorkerClock& first, const WorkerClock& last) : first_(first), last_(last) {
    // Two clocks that cannot be told apart are one: that of the host of both.
    is_same_ = is_within_error(first) && is_within_error(last);
  }
  std::uint64_t own_time(std::uint64_t worker_ns) const {
    const double ahead = is_same_ ? 0 : ahead_at(static_cast<double>(worker_ns));
    const double correction = std::clamp(ahead, -kTimeMax, kTimeMax);
    const std::uint64_t size = static_cast<std::uint64_t>(std::abs(correction));
    const std::uint64_t time = std::min<std::uint64_t>(worker_ns, static_cast<std::uint64_t>(kTimeMax));
    return correction < 0 ? time + size : time - std::min(time, size);
  }
  std::int64_t ahead() const { return is_same_ ? 0 : last_.ahead_ns; }

 private:
  static constexpr double kTimeMax = 4e18;

  static bool is_within_error(const WorkerClock& clock) {
    return std::abs(static_cast<double>(clock.ahead_ns)) <= static_cast<double>(clock.error_ns);
  }
  // The clocks drift apart evenly.
  double ahead_at(double worker_ns) const {
    const double from = static_cast<double>(first_.at_ns) + static_cast<double>(first_.ahead_ns);
    const double to = static_cast<double>(last_.at_ns) + static_cast<double>(last_.ahead_ns);
    const double part = to > from ? std::clamp((worker_ns - from) / (to - from), 0.0, 1.0) : 1.0;
    return static_cast<double>(first_.ahead_ns) * (1 - part) + static_cast<double>(last_.ahead_ns) * part;
  }

  WorkerClock first_;
  WorkerClock last_;
  bool is_same_ = false;
};

std::string printable(const TraceName& name) {
  std::string text(name.name.data(), ::strnlen(name.name.data(), name.name.size()));
  std::ranges::replace_if(
      text, [](char each) { return each < ' ' || each > '~'; }, '?');
  return text;
}

std::map<std::uint64_t, std::string> read_names(FileReader& file, std::uint64_t count) {
  std::vector<TraceName> names(static_cast<std::size_t>(std::min<std::uint64_t>(count, kTraceNamesMax)));
  if (!file.seek(offsetof(TraceFile, names))) return {};
  names.resize(file.read(names.data(), names.size() * sizeof(TraceName)) / sizeof(TraceName));
  std::map<std::uint64_t, std::string> found;
  for (const TraceName& each : names)
    if (each.function != 0) found[each.function] = printable(each);
  return found;
}

TracedExecution execution_of(const TraceEvent& event, const WorkerScale& clock,
                             const std::map<std::uint64_t, std::string>& names) {
  TracedExecution execution;
  execution.begin = clock.own_time(event.begin);
  execution.end = std::max(execution.begin, clock.own_time(event.end));
  execution.request = event.request;
  execution.stream = event.thread;
  execution.opcode = static_cast<std::uint16_t>(event.function);
  execution.device = static_cast<std::uint16_t>(event.function >> 16);
  const bool is_handle = protocol::Handle(event.bytes).kind() != protocol::HandleKind{};
  if (!is_handle) execution.bytes = event.bytes;
  if (const auto name = names.find(event.bytes); is_handle && name != names.end())
    execution.name = name->second;
  return execution;
}

// The times of two that follow each other come from clocks that are read apart, and payload that moves
// directly begins when the one in front still moves.
void put_in_order(std::vector<TracedExecution>& executions) {
  std::ranges::sort(executions, {}, [](const TracedExecution& one) {
    return std::tuple(one.device, one.stream, one.begin, one.end, one.request);
  });
  for (std::size_t i = 1; i < executions.size(); ++i) {
    const TracedExecution& before = executions[i - 1];
    TracedExecution& each = executions[i];
    if (each.device != before.device || each.stream != before.stream) continue;
    each.begin = std::max(each.begin, before.end);
    each.end = std::max(each.end, each.begin);
  }
}

}  // namespace

TraceEvent* make_room(TraceFile& file, TraceCursor& cursor) {
  if (cursor.next == cursor.end && !take_block(file, cursor)) [[unlikely]] {
    std::atomic_ref(file.head.left_out).fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  return cursor.next++;
}

void complete(TraceEvent& event, TraceKind kind) {
  std::atomic_ref(event.kind)
      .store(static_cast<std::uint32_t>(kind),
             std::memory_order_release);  // then it is whole, in the file too
}

void add_name(TraceFile& file, std::uint64_t function, std::string_view name) {
  const std::uint64_t index = std::atomic_ref(file.head.names).fetch_add(1, std::memory_order_relaxed);
  if (index >= file.names.size()) return;
  TraceName& target = file.names[index];
  std::ranges::copy(name.substr(0, target.name.size()), target.name.begin());
  std::atomic_ref(target.function).store(function, std::memory_order_release);  // then it is whole
}

void append(TraceFile& file, TraceCursor& cursor, const TraceEvent& event) {
  TraceEvent* const room = make_room(file, cursor);
  if (room == nullptr) return;
  TraceEvent unfinished = event;
  unfinished.kind = 0;
  *room = unfinished;
  complete(*room, static_cast<TraceKind>(event.kind));
}

Result<Trace> read_trace(const std::string& path) {
  FileReader file(path);
  if (!file) return Status(Code::kUnavailable, path + " cannot be opened");
  TraceHead head;
  if (file.read(&head, sizeof head) != sizeof head || head.magic != kTraceMagic ||
      head.functions_hash != kFunctionsHash)
    return Status(Code::kProtocol, path + " is no trace, or comes from another version of libamdhip64");
  Trace trace;
  trace.pid = head.pid;
  trace.program.assign(head.program.data(), ::strnlen(head.program.data(), head.program.size()));
  const std::size_t there = std::min<std::uint64_t>(head.given, kTraceEventsMax);
  trace.events.resize(there);
  const bool is_seekable = file.seek(offsetof(TraceFile, events));
  const std::size_t bytes = is_seekable ? file.read(trace.events.data(), there * sizeof(TraceEvent)) : 0;
  trace.events.resize(bytes / sizeof(TraceEvent));
  std::erase_if(trace.events, [](const TraceEvent& event) { return event.kind == 0; });
  trace.left_out =
      head.left_out + std::erase_if(trace.events, [](const auto& one) { return !is_right(one); });
  const auto is_execution = [](const TraceEvent& event) {
    return event.kind == static_cast<std::uint32_t>(TraceKind::kExecution);
  };
  const WorkerScale worker(head.worker_first, head.worker_last);
  const std::map<std::uint64_t, std::string> names = read_names(file, head.names);
  for (const TraceEvent& event : trace.events)
    if (is_execution(event)) trace.executions.push_back(execution_of(event, worker, names));
  put_in_order(trace.executions);
  trace.executions_left_out = head.executions_left_out;
  trace.worker_is_known = head.worker_first.error_ns != 0;
  trace.worker_ahead_ns = worker.ahead();
  trace.executions_error_ns =
      head.executions_error_ns + std::max(head.worker_first.error_ns, head.worker_last.error_ns);
  std::erase_if(trace.events, is_execution);
  const ClockScale clock(head.clock);
  for (TraceEvent& event : trace.events) {
    event.begin = clock.time_of(event.begin);
    event.end = clock.time_of(event.end);
  }
  return trace;
}

}  // namespace tf::proxy::stats
