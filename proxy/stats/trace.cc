// SPDX-License-Identifier: Apache-2.0
// Appends events to a trace, and reads traces of other processes.
#include "proxy/stats/trace.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>

namespace tf::proxy::stats {

void append(TraceFile& file, const TraceEvent& event) {
  const std::uint64_t index = std::atomic_ref(file.head.appended).fetch_add(1, std::memory_order_relaxed);
  if (index >= file.events.size()) return;
  TraceEvent& target = file.events[index];
  target.begin_ns = event.begin_ns;
  target.end_ns = event.end_ns;
  target.bytes = event.bytes;
  target.function = event.function;
  target.thread = event.thread;
  std::atomic_ref(target.kind)
      .store(event.kind, std::memory_order_release);  // then it is whole, in the file too
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
  const std::size_t there = std::min<std::uint64_t>(head.appended, kTraceEventsMax);
  trace.events.resize(there);
  file.seekg(offsetof(TraceFile, events));
  file.read(reinterpret_cast<char*>(trace.events.data()),
            static_cast<std::streamsize>(there * sizeof(TraceEvent)));
  trace.events.resize(static_cast<std::size_t>(file.gcount()) / sizeof(TraceEvent));
  std::erase_if(trace.events, [](const TraceEvent& event) {
    return event.kind == 0 || event.kind >= kTraceKinds || event.function > kFunctionNames.size() ||
           event.begin_ns > event.end_ns;
  });
  trace.left_out = head.appended - trace.events.size();
  return trace;
}

}  // namespace tf::proxy::stats
