// SPDX-License-Identifier: Apache-2.0
// Collects the traces of a run, and writes them in the Trace Event Format.
#include "tools/hip-remote/run_trace.h"

#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hipcore/wire/gen/op.h"
#include "proxy/stats/trace.h"
#include "tools/hip-remote/json.h"

namespace tf::tools {
namespace {

using proxy::stats::Trace;
using proxy::stats::TracedExecution;
using proxy::stats::TraceEvent;
using proxy::stats::TraceKind;

constexpr std::array<std::string_view, proxy::stats::kTraceKinds> kTraceNames = {"",
                                                                                 "call",
                                                                                 "post",
                                                                                 "to device",
                                                                                 "from device",
                                                                                 "wait: reply",
                                                                                 "wait: payload",
                                                                                 "wait: shared word",
                                                                                 "wait: room",
                                                                                 "wait: connection",
                                                                                 "execution"};

// Above all numbers of processes (PID_MAX_LIMIT is 2^22).
constexpr std::uint64_t kWorkerPids = 1'000'000'000;

std::string_view function_of(const TraceEvent& event) {
  return event.function < proxy::kFunctionNames.size() ? proxy::kFunctionNames[event.function]
                                                       : std::string_view("(outside of calls)");
}

// The format counts in microseconds.
std::string microseconds(std::uint64_t nanoseconds) {
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

class Writer {
 public:
  explicit Writer(std::ofstream& out) : out_(out) {
    out_ << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  }

  void add(const Trace& trace) {
    name_process(trace);
    for (const TraceEvent& event : trace.events) add(trace.pid, event);
    add_executions(trace);
    left_out_ += trace.left_out;
    executions_left_out_ += trace.executions_left_out;
  }
  // `missing`: processes whose file could not be read, or was one too many.
  void end(std::size_t missing) {
    fmt::print(out_,
               "\n],\"otherData\":{{\"clock\":\"CLOCK_MONOTONIC\",\"events_left_out\":{},"
               "\"executions_left_out\":{},\"processes_left_out\":{},\"workers\":[{}]}}}}\n",
               left_out_, executions_left_out_, missing, fmt::join(workers_, ","));
  }

 private:
  void next() { out_ << (std::exchange(first_, false) ? "" : ",\n"); }

  void name_process(const Trace& trace) { name_track("process_name", trace.pid, 0, trace.program); }

  // `what`: process_name or thread_name.
  void name_track(std::string_view what, std::uint64_t pid, std::uint64_t thread, const std::string& name) {
    next();
    fmt::print(out_, R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})", what, pid, thread,
               json_string(name));
  }

  // Each device of a process's worker is shown as a process, and each of its streams as a thread.
  void add_executions(const Trace& trace) {
    if (!trace.worker_is_known) return;
    std::unordered_map<std::uint32_t, const TraceEvent*> posts;
    for (const TraceEvent& event : trace.events)
      if (event.kind == static_cast<std::uint32_t>(TraceKind::kPost)) posts[event.request] = &event;
    std::map<std::uint16_t, std::uint64_t> devices;
    const TracedExecution* before = nullptr;
    for (const TracedExecution& each : trace.executions) {
      const auto [device, is_new] = devices.try_emplace(each.device, kWorkerPids + pids_);
      if (is_new) name_device(trace, each.device, kWorkerPids + pids_++);
      const bool is_same_stream =
          before != nullptr && before->device == each.device && before->stream == each.stream;
      if (!is_same_stream) name_stream(device->second, each.stream);
      before = &each;
      add_execution(device->second, each);
      if (const auto post = posts.find(each.request); post != posts.end())
        connect(trace.pid, *post->second, device->second, each);
    }
    workers_.push_back(fmt::format(R"({{"pid":{},"clock_ahead_ns":{},"clock_error_ns":{}}})", trace.pid,
                                   trace.worker_ahead_ns, trace.executions_error_ns));
  }

  void name_device(const Trace& trace, std::uint16_t device, std::uint64_t pid) {
    name_track("process_name", pid, 0,
               fmt::format("worker of {} ({}), device {}", trace.program, trace.pid, device));
  }
  void name_stream(std::uint64_t pid, std::uint32_t stream) {
    name_track("thread_name", pid, stream, stream == 0 ? "null stream" : fmt::format("stream {}", stream));
  }

  void add_execution(std::uint64_t pid, const TracedExecution& execution) {
    next();
    const std::string_view operation = protocol::name(static_cast<protocol::Op>(execution.opcode));
    fmt::print(out_, R"({{"ph":"X","name":{},"cat":"execution","pid":{},"tid":{},"ts":{},"dur":{},"args":{{)",
               json_string(execution.name.empty() ? std::string(operation) : execution.name), pid,
               execution.stream, microseconds(execution.begin),
               microseconds(execution.end - execution.begin));
    fmt::print(out_, R"("operation":"{}","request":{})", operation, execution.request);
    if (execution.bytes != 0) fmt::print(out_, R"(,"bytes":{})", execution.bytes);
    out_ << "}}";
  }

  // An arrow from the call that posted the request to its execution.
  void connect(std::uint64_t pid, const TraceEvent& post, std::uint64_t worker_pid,
               const TracedExecution& execution) {
    constexpr std::string_view kArrow =
        R"({{"ph":"{}","name":"executed","cat":"request","id":"{}.{}","pid":{},"tid":{},"ts":{}{}}})";
    next();
    fmt::print(out_, kArrow, "s", pid, post.request, pid, post.thread, microseconds(post.begin), "");
    next();
    fmt::print(out_, kArrow, "f", pid, post.request, worker_pid, execution.stream,
               microseconds(execution.begin), R"(,"bp":"e")");
  }

  // Calls and waits have a length, and lie inside each other on their thread's track. What is posted or
  // copied has a time only.
  void add(std::uint64_t pid, const TraceEvent& event) {
    next();
    const auto kind = static_cast<TraceKind>(event.kind);
    const bool is_call = kind == TraceKind::kCall;
    const bool has_length = is_call || kind >= TraceKind::kWait;
    fmt::print(out_, R"({{"ph":"{}","name":"{}","cat":"{}","pid":{},"tid":{},"ts":{})",
               has_length ? "X" : "i", is_call ? function_of(event) : kTraceNames[event.kind],
               kind >= TraceKind::kWait ? "wait" : kTraceNames[event.kind], pid, event.thread,
               microseconds(event.begin));
    if (has_length)
      fmt::print(out_, R"(,"dur":{})", microseconds(event.end - event.begin));
    else
      out_ << R"(,"s":"t")";
    if (!is_call) fmt::print(out_, R"(,"args":{{"function":"{}")", function_of(event));
    if (event.bytes != 0) fmt::print(out_, R"(,"bytes":{})", event.bytes);
    if (event.request != 0) fmt::print(out_, R"(,"request":{})", event.request);
    out_ << (is_call ? "}" : "}}");
  }

  std::ofstream& out_;
  bool first_ = true;
  std::uint64_t left_out_ = 0;
  std::uint64_t executions_left_out_ = 0;
  std::uint64_t pids_ = 0;            // given to devices
  std::vector<std::string> workers_;  // JSON
};

Status check_trace_written(const std::string& where, bool good) {
  if (good) return Status::ok();
  return {Code::kUnavailable, "--trace " + where + " cannot be written"};
}

}  // namespace

Result<RunTrace> RunTrace::make(const std::string& file) {
  TF_RETURN_IF_ERROR(check_trace_written(file, static_cast<bool>(std::ofstream(file, std::ios::app))));
  std::string pattern = (std::filesystem::temp_directory_path() / "hip-remote-trace-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return Status::from_errno("mkdtemp " + pattern, errno);
  RunTrace trace;
  trace.file_ = file;
  trace.directory_ = pattern;
  return trace;
}

RunTrace::RunTrace(RunTrace&& other) noexcept
    : file_(std::move(other.file_)), directory_(std::exchange(other.directory_, {})) {}

RunTrace::~RunTrace() {
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

Status RunTrace::write() const {
  std::set<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, error))
    if (entry.path().filename().string().starts_with("trace-")) paths.insert(entry.path().string());
  std::ofstream file(file_);
  Writer writer(file);
  std::size_t read = 0;
  for (const std::string& path : paths) {
    if (read == kTracesMax) break;
    const Result<Trace> trace = proxy::stats::read_trace(path);
    if (!trace) continue;
    writer.add(trace.value());
    ++read;
  }
  writer.end(paths.size() - read);
  file.close();
  return check_trace_written(file_, static_cast<bool>(file));
}

}  // namespace tf::tools
