// SPDX-License-Identifier: Apache-2.0
// hip-remote: see what is there, run programs remotely, measure.
#include <fmt/core.h>

#include <cstdio>

#include "reference/gen/programs.h"
#include "tools/command_line/command_line.h"
#include "tools/hip-remote/commands.h"
#include "tools/hip-remote/ending.h"

namespace {

namespace about = tf::reference::hip_remote;
using tf::reference::CommandLine;

tf::tools::RunOptions run_options(const CommandLine& line) {
  tf::tools::RunOptions options;
  options.worker = line.text(about::run::kWorker);
  options.transport = line.text(about::run::kTransport);
  options.runtime = line.text(about::run::kRuntime);
  options.local = line.has(about::run::kLocal);
  options.readable = line.list(about::run::kReadable);
  options.walls = !line.has(about::run::kNoSandbox);
  options.native = line.has(about::run::kNative);
  options.preload = !line.has(about::run::kNoPreload);
  options.preload_major = line.text(about::run::kPreload);
  options.verbose = line.has(about::run::kVerbose);
  options.trace = line.text(about::run::kTrace);
  if (line.has(about::run::kStats)) {
    const std::string file = line.text(about::run::kStats);
    options.stats = file.empty() ? "-" : file;
  }
  options.program = line.rest();
  return options;
}

tf::tools::BenchOptions bench_options(const CommandLine& line) {
  tf::tools::BenchOptions options;
  options.transports = line.list(about::bench::kTransport);
  options.json = line.has(about::bench::kJson);
  options.quick = line.has(about::bench::kQuick);
  options.plot = line.text(about::bench::kPlot);
  options.compare = line.has(about::bench::kCompare);
  options.peers = line.has(about::bench::kPeers);
  options.rtts = line.list(about::bench::kRtt);
  options.rate = line.text(about::bench::kRate);
  options.lock = line.text(about::bench::kLock);
  return options;
}

tf::tools::InfoOptions info_options(const CommandLine& line) {
  return {.worker = line.text(about::info::kWorker),
          .json = line.has(about::info::kJson),
          .list = line.text(about::info::kList)};
}

tf::tools::KeygenOptions keygen_options(const CommandLine& line) {
  return {.file = line.rest().empty() ? std::string() : line.rest().front(),
          .name = line.text(about::keygen::kName),
          .show = line.has(about::keygen::kShow),
          .too_many = line.rest().size() > 1};
}

int help(const CommandLine& line) {
  if (line.rest().empty()) {
    fmt::print("{}", about::kProgram.own.help);
    return 0;
  }
  std::vector<std::string_view> names;
  for (const tf::reference::Command& command : about::kProgram.commands) {
    names.push_back(command.name);
    if (command.name != line.rest().front()) continue;
    fmt::print("{}", command.help);
    return 0;
  }
  fmt::print(stderr, "hip-remote help: there is no command \"{}\"; expected {}\n", line.rest().front(),
             tf::reference::one_of(names));
  return tf::reference::kExitUsage;
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine line(about::kProgram);
  if (const std::optional<int> code = line.parse(argc, argv)) return *code;
  if (line.is(about::help::kCommand)) return help(line);
  if (line.is(about::keygen::kCommand)) return tf::tools::keygen(keygen_options(line));
  const tf::tools::Layout layout = tf::tools::find_layout();
  if (line.is(about::info::kCommand)) return tf::tools::info(layout, info_options(line));
  if (line.is(about::top::kCommand))
    return tf::tools::top(layout, {.worker = line.text(about::top::kWorker),
                                   .interval_s = line.number(about::top::kInterval, 1)});
  tf::tools::Ending ending;
  return line.is(about::run::kCommand) ? tf::tools::run(layout, run_options(line), ending)
                                       : tf::tools::bench(layout, bench_options(line), ending);
}
