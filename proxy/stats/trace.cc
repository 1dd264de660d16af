// SPDX-License-Identifier: Apache-2.0
// Writes events to a trace, and reads traces of other processes.
#include "proxy/stats/trace.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>

namespace tf::proxy::stats {
namespace {

constexpr std::uintptr_t kPageMask = 4095;
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE: the headers of older systems lack it

// Faults of a block's pages, all at once. If the kernel cannot (before 5.14), each write to a new page faults.
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
  return event.kind < kTraceKinds && event.function <= kFunctionNames.size() && event.begin <= event.end;
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
      .store(static_cast<std::uint32_t>(kind), std::memory_order_release);  // then it is whole, in the file too
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
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status(Code::kUnavailable, path + " cannot be opened");
  TraceHead head;
  file.read(reinterpret_cast<char*>(&head), sizeof head);
  if (file.gcount() != sizeof head || head.magic != kTraceMagic || head.functions_hash != kFunctionsHash)
    return Status(Code::kProtocol, path + " is no trace, or comes from another version of libamdhip64");
  Trace trace;
  trace.pid = head.pid;
  trace.program.assign(head.program.data(), ::strnlen(head.program.data(), head.program.size()));
  const std::size_t there = std::min<std::uint64_t>(head.given, kTraceEventsMax);
  trace.events.resize(there);
  file.seekg(offsetof(TraceFile, events));
  file.read(reinterpret_cast<char*>(trace.events.data()),
            static_cast<std::streamsize>(there * sizeof(TraceEvent)));
  trace.events.resize(static_cast<std::size_t>(file.gcount()) / sizeof(TraceEvent));
  std::erase_if(trace.events, [](const TraceEvent& event) { return event.kind == 0; });
  trace.left_out = head.left_out + std::erase_if(trace.events, [](const auto& one) { return !is_right(one); });
  const ClockScale clock(head.clock);
  for (TraceEvent& event : trace.events) {
    event.begin = clock.time_of(event.begin);
    event.end = clock.time_of(event.end);
  }
  return trace;
}

}  // namespace tf::proxy::stats
