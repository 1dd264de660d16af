// SPDX-License-Identifier: Apache-2.0
// Prints the statistics of a run as a table or as JSON.
#include "tools/hip-remote/stats_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "tools/hip-remote/json.h"

namespace tf::tools {
namespace {

using proxy::stats::CopyCount;
using proxy::stats::Counts;
using proxy::stats::FunctionCount;
using proxy::stats::Record;
using proxy::stats::Wait;
using proxy::stats::WaitCount;

constexpr std::array<std::string_view, proxy::stats::kWaitKinds> kWaitNames = {
    "reply", "payload", "shared word", "room", "connection"};
constexpr std::array<const char*, proxy::stats::kWaitKinds> kWaitKeys = {"reply", "payload", "shared_word",
                                                                         "room", "connection"};
constexpr std::string_view kOutside = "(outside of calls)";
constexpr std::size_t kQuietRowsMax = 12;  // functions that never waited and have a row of their own

struct Named {
  std::string_view name;
  FunctionCount counts;
};

WaitCount all_waits(const FunctionCount& counts) {
  WaitCount sum;
  for (const WaitCount& wait : counts.waits) add(sum, wait);
  return sum;
}

// Waits for the worker's answer in one form or another: what a network makes longer.
std::uint64_t round_trips(const FunctionCount& counts) {
  const auto of = [&](Wait kind) { return counts.waits[static_cast<std::size_t>(kind)].count; };
  return of(Wait::kReply) + of(Wait::kTransfer) + of(Wait::kWord);
}

bool is_used(const FunctionCount& counts) {
  return counts.calls != 0 || counts.posts != 0 || all_waits(counts).count != 0;
}

// Over all processes, those that were used; what waited longest comes first.
std::vector<Named> functions_of(const RunCounts& run) {
  std::vector<Named> functions;
  for (std::size_t index = 0; index <= proxy::kFunctionNames.size(); ++index) {
    const bool outside = index == proxy::kFunctionNames.size();
    Named function{outside ? kOutside : proxy::kFunctionNames[index], {}};
    for (const Record& record : run.records)
      add(function.counts, outside ? record.counts.outside : record.counts.functions[index]);
    if (is_used(function.counts)) functions.push_back(function);
  }
  std::stable_sort(functions.begin(), functions.end(), [](const Named& one, const Named& other) {
    const std::uint64_t waited = all_waits(one.counts).total;
    const std::uint64_t other_waited = all_waits(other.counts).total;
    return waited != other_waited ? waited > other_waited : one.counts.calls > other.counts.calls;
  });
  return functions;
}

FunctionCount sum_of(const std::vector<Named>& functions) {
  FunctionCount sum;
  for (const Named& function : functions) add(sum, function.counts);
  return sum;
}

CopyCount copies(const RunCounts& run, CopyCount Counts::*way) {
  CopyCount sum;
  for (const Record& record : run.records) add(sum, record.counts.*way);
  return sum;
}

double process_wall_s(const Record& record) {
  return record.last < record.started ? 0 : static_cast<double>(record.last - record.started) / 1e9;
}

// --- Table ----------------------------------------------------------------------------------------------

std::string time_text(double ns) {
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.1f} us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.1f} ms", ns / 1e6);
  return fmt::format("{:.2f} s", ns / 1e9);
}

std::string bytes_text(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes < 1024) return fmt::format("{} B", bytes);
  if (bytes < 1024 * 1024) return fmt::format("{:.1f} KiB", value / 1024);
  if (bytes < 1024 * 1024 * 1024) return fmt::format("{:.1f} MiB", value / (1024 * 1024));
  return fmt::format("{:.2f} GiB", value / (1024.0 * 1024 * 1024));
}

std::string share_text(std::uint64_t ns, double wall_s) {
  return wall_s > 0 ? fmt::format("{:.1f} %", static_cast<double>(ns) / 1e9 / wall_s * 100) : "-";
}

std::string row(std::string_view name, const FunctionCount& counts) {
  return fmt::format("  {:<30} {:>8} {:>8} {:>8}", name, counts.calls, counts.local, counts.posts);
}

// One line for each kind of wait; the counts stand in the first.
std::string waiting_rows(const Named& function, double wall_s) {
  std::string text;
  std::string left = row(function.name, function.counts);
  for (std::size_t kind = 0; kind < kWaitNames.size(); ++kind) {
    const WaitCount& wait = function.counts.waits[kind];
    if (wait.count == 0) continue;
    const double mean = static_cast<double>(wait.total) / static_cast<double>(wait.count);
    text += fmt::format("{} {:>8}  {:<11} {:>9} {:>9} {:>9} {:>8}\n", left, wait.count, kWaitNames[kind],
                        time_text(static_cast<double>(wait.total)), time_text(mean),
                        time_text(static_cast<double>(wait.longest)), share_text(wait.total, wall_s));
    left.assign(left.size(), ' ');
  }
  return text;
}

std::string quiet_rows(const std::vector<Named>& functions) {
  std::string text;
  FunctionCount others;
  std::size_t rows = 0;
  std::size_t left_out = 0;
  for (const Named& function : functions) {
    if (all_waits(function.counts).count != 0) continue;
    if (rows++ < kQuietRowsMax) {
      text += row(function.name, function.counts) + "        -\n";
    } else {
      add(others, function.counts);
      ++left_out;
    }
  }
  if (left_out != 0) text += row(fmt::format("({} more)", left_out), others) + "        -\n";
  return text;
}

std::string process_lines(const RunCounts& run) {
  std::string text;
  for (const Record& record : run.records) {
    text += fmt::format(
        "  process {} {}: {:.3f} s over {}{}{}\n", record.pid, record.program.data(), process_wall_s(record),
        record.transport[0] != '\0' ? record.transport.data() : "nothing",
        record.lost != 0 ? ", lost the worker" : "", record.ended != 0 ? "" : ", did not end with exit()");
  }
  if (run.left_out != 0) text += fmt::format("  {} more processes are left out\n", run.left_out);
  return text;
}

// --- JSON -----------------------------------------------------------------------------------------------

std::string json_of(const WaitCount& wait) {
  return JsonObject()
      .add("count", wait.count)
      .add("total_ns", wait.total)
      .add("mean_ns", static_cast<double>(wait.total) / static_cast<double>(wait.count))
      .add("longest_ns", wait.longest)
      .text();
}

std::string json_of(const FunctionCount& counts) {
  JsonObject waits;
  for (std::size_t kind = 0; kind < kWaitKeys.size(); ++kind)
    if (counts.waits[kind].count != 0) waits.add_raw(kWaitKeys[kind], json_of(counts.waits[kind]));
  return JsonObject()
      .add("calls", counts.calls)
      .add("local", counts.local)
      .add("posts", counts.posts)
      .add("round_trips", round_trips(counts))
      .add("waited_ns", all_waits(counts).total)
      .add_raw("waits", waits.text())
      .text();
}

std::string json_of(const CopyCount& copied) {
  return JsonObject().add("count", copied.count).add("bytes", copied.bytes).text();
}

std::string json_of(const Record& record) {
  return JsonObject()
      .add("pid", record.pid)
      .add("program", std::string(record.program.data()))
      .add("transport", std::string(record.transport.data()))
      .add("wall_s", process_wall_s(record))
      .add("ended", record.ended != 0)
      .add("lost", record.lost != 0)
      .text();
}

}  // namespace

std::string stats_table(const RunCounts& run) {
  if (run.records.empty())
    return "hip-remote: no process called HIP through hip-remote's library: nothing was counted\n" +
           process_lines(run);
  const std::vector<Named> functions = functions_of(run);
  const FunctionCount sum = sum_of(functions);
  const WaitCount waits = all_waits(sum);
  const CopyCount up = copies(run, &Counts::to_device);
  const CopyCount down = copies(run, &Counts::from_device);
  std::string text = fmt::format("\nhip-remote: {} round trips in {:.3f} s; {} in {} waits, {} of the run\n",
                                 round_trips(sum), run.wall_s, time_text(static_cast<double>(waits.total)),
                                 waits.count, share_text(waits.total, run.wall_s));
  text += process_lines(run);
  text += fmt::format("  copied to the device {} in {} copies, from the device {} in {}\n\n",
                      bytes_text(up.bytes), up.count, bytes_text(down.bytes), down.count);
  text += fmt::format("  {:<30} {:>8} {:>8} {:>8} {:>8}  {:<11} {:>9} {:>9} {:>9} {:>8}\n", "function",
                      "calls", "local", "posted", "waits", "for", "total", "mean", "longest", "of run");
  for (const Named& function : functions)
    if (all_waits(function.counts).count != 0) text += waiting_rows(function, run.wall_s);
  text += quiet_rows(functions);
  text +=
      "\n  local: answered by the library, without a message. posted: messages without an answer; they\n"
      "  cost no round trip. Each wait for reply, payload or shared word takes a round trip of the network.\n"
      "  A wait for room: the worker is behind. Waits of several threads add up. To make a remote program\n"
      "  fast, let it wait less often and later, and use asynchronous calls.\n";
  return text;
}

std::string stats_json(const RunCounts& run) {
  const std::vector<Named> functions = functions_of(run);
  const FunctionCount sum = sum_of(functions);
  JsonObject by_name;
  for (const Named& function : functions)
    by_name.add_raw(std::string(function.name), json_of(function.counts));
  std::vector<std::string> processes;
  for (const Record& record : run.records) processes.push_back(json_of(record));
  return JsonObject()
      .add("wall_s", run.wall_s)
      .add("round_trips", round_trips(sum))
      .add("waited_ns", all_waits(sum).total)
      .add_raw("to_device", json_of(copies(run, &Counts::to_device)))
      .add_raw("from_device", json_of(copies(run, &Counts::from_device)))
      .add_raw("processes", json_array(processes))
      .add("records_left_out", static_cast<std::uint64_t>(run.left_out))
      .add_raw("functions", by_name.text())
      .text();
}

}  // namespace tf::tools
