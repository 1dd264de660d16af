// SPDX-License-Identifier: Apache-2.0
// Collects the traces of a run, and writes them in the Trace Event Format.
#include "tools/hip-remote/run_trace.h"

#include <fmt/core.h>
#include <fmt/ostream.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/stats/trace.h"
#include "tools/hip-remote/json.h"

namespace tf::tools {
namespace {

using proxy::stats::Trace;
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
                                                                                 "wait: connection"};

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
    left_out_ += trace.left_out;
  }
  // `missing`: processes whose file could not be read, or was one too many.
  void end(std::size_t missing) {
    fmt::print(out_,
               "\n],\"otherData\":{{\"clock\":\"CLOCK_MONOTONIC\",\"events_left_out\":{},\"processes_left_"
               "out\":{}}}}}\n",
               left_out_, missing);
  }

 private:
  void next() { out_ << (std::exchange(first_, false) ? "" : ",\n"); }

  void name_process(const Trace& trace) {
    next();
    fmt::print(out_, R"({{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":{}}}}})", trace.pid,
               json_string(trace.program));
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
    out_ << (is_call ? "}" : "}}");
  }

  std::ofstream& out_;
  bool first_ = true;
  std::uint64_t left_out_ = 0;
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
