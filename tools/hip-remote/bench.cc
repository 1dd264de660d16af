// SPDX-License-Identifier: Apache-2.0
// hip-remote bench: transport_bench, then hip_bench natively and through a private worker over each
// transport. The native figures become the limits of the remote ones. --compare and --peers hand over to
// scripts.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tools/hip-remote/commands.h"
#include "tools/hip-remote/local_worker.h"
#include "transport/factory/factory.h"

namespace tf::tools {
namespace {

int fail(const Status& status) {
  fmt::print(stderr, "hip-remote bench: {}\n", status.to_string());
  return 1;
}

// "plot.svg", "shm" -> "plot-shm.svg"
std::string plot_name(const std::string& path, const std::string& transport) {
  std::filesystem::path name(path);
  return (name.parent_path() / (name.stem().string() + "-" + transport + name.extension().string())).string();
}

Command hip_bench(const Layout& layout, const BenchOptions& options, const std::filesystem::path& library,
                  const std::string& label) {
  Command command;
  command.arguments = {layout.program("hip_bench").string(), "--label", label};
  if (options.quick) command.arguments.push_back("--quick");
  command.environment = {{"LD_LIBRARY_PATH", library.string()}, {"LD_PRELOAD", std::nullopt}};
  return command;
}

Result<int> run_command(const Command& command) {
  Result<pid_t> child = start(command);
  if (!child) return child.status();
  return wait_for(*child);
}

// The native run, as JSON lines in a temporary file.
Result<std::string> native_reference(const Layout& layout, const BenchOptions& options) {
  fmt::print(stderr, "hip_bench on the native CPU runtime ...\n");
  Command command = hip_bench(layout, options, layout.native_lib(), "native");
  command.arguments.push_back("--json");
  int code = 0;
  Result<std::string> text = capture(command, code);
  if (!text) return text.status();
  if (code != 0)
    return Status{Code::kInternal, fmt::format("the native run of hip_bench ended with {}", code)};
  std::string path = (std::filesystem::temp_directory_path() / "hip-remote-bench-XXXXXX").string();
  int fd = ::mkstemp(path.data());
  if (fd < 0) return Status::from_errno("mkstemp " + path, errno);
  ::close(fd);
  std::ofstream(path) << *text;
  if (options.json) {
    std::fputs(text->c_str(), stdout);
    std::fflush(stdout);
  }
  return path;
}

Result<int> remote_run(const Layout& layout, const BenchOptions& options, const std::string& transport,
                       const std::string& reference) {
  fmt::print(stderr, "hip_bench through a worker over {} ...\n", transport);
  Result<LocalWorker> worker = LocalWorker::start(layout, "cpu", false);
  if (!worker) return worker.status();
  Command command = hip_bench(layout, options, layout.lib, transport);
  command.arguments.insert(command.arguments.end(), {"--limits", reference});
  if (options.json) command.arguments.push_back("--json");
  if (!options.plot.empty()) {
    command.arguments.insert(command.arguments.end(), {"--plot", plot_name(options.plot, transport)});
  }
  for (auto& [name, value] : worker->environment(transport)) command.environment[name] = value;
  return run_command(command);
}

// Cost against distance, through a private worker.
Result<int> distances(const Layout& layout, const BenchOptions& options, const std::string& transport) {
  Result<LocalWorker> worker = LocalWorker::start(layout, "cpu", false);
  if (!worker) return worker.status();
  Command command = hip_bench(layout, options, layout.lib, transport);
  std::string rtts;
  for (const std::string& rtt : options.rtts) rtts += (rtts.empty() ? "" : ",") + rtt;
  command.arguments.insert(command.arguments.end(), {"--rtt", rtts});
  if (!options.rate.empty()) command.arguments.insert(command.arguments.end(), {"--rate", options.rate});
  if (options.json) command.arguments.push_back("--json");
  for (auto& [name, value] : worker->environment(transport)) command.environment[name] = value;
  return run_command(command);
}

// Those that were asked for, or all that are possible. Both ends are on this host, so what is possible here
// is possible.
Result<std::vector<std::string>> choose_transports(const BenchOptions& options) {
  std::vector<std::string> chosen;
  for (const net::Transport* const transport : transports()) {
    const std::string name(transport->name());
    const bool asked = std::ranges::find(options.transports, name) != options.transports.end();
    if (!asked && !options.transports.empty()) continue;
    const Status possible = transport->available();
    if (possible.is_ok())
      chosen.push_back(name);
    else if (asked)
      return Status{possible.code(), fmt::format("{} cannot be used here: {}", name, possible.message())};
  }
  return chosen;
}

// benchmarks/compare and benchmarks/peers are scripts: they conduct, and measure nothing themselves.
int conduct(const Layout& layout, const BenchOptions& options, const std::string& folder) {
  if (std::ranges::find(options.transports, "rdma") != options.transports.end())
    return fail({Code::kInvalidArgument,
                 fmt::format("--{} measures shm and tcp; rdma beside its peers: tools/rdma-vm", folder)});
  Command command;
  command.arguments = {"python3", layout.script(fmt::format("benchmarks/{}/run", folder)).string(), "--bin",
                       layout.bin.string()};
  if (options.json) command.arguments.push_back("--json");
  if (options.quick) command.arguments.push_back("--quick");
  for (const std::string& transport : options.transports)
    command.arguments.insert(command.arguments.end(), {"--transport", transport});
  if (!options.plot.empty()) command.arguments.insert(command.arguments.end(), {"--plot", options.plot});
  if (!options.lock.empty()) command.arguments.insert(command.arguments.end(), {"--lock", options.lock});
  Result<int> code = run_command(command);
  return code ? *code : fail(code.status());
}

}  // namespace

int bench(const Layout& layout, const BenchOptions& options) {
  if (options.compare) return conduct(layout, options, "compare");
  if (options.peers) return conduct(layout, options, "peers");
  Result<std::vector<std::string>> transports = choose_transports(options);
  if (!transports) return fail(transports.status());
  if (!options.rtts.empty()) {
    for (const std::string& transport : *transports)
      if (Result<int> code = distances(layout, options, transport); !code || *code != 0)
        return code ? *code : fail(code.status());
    return 0;
  }
  Command transport_bench;
  transport_bench.arguments = {layout.program("transport_bench").string()};
  if (options.quick) transport_bench.arguments.push_back("--quick");
  if (options.json) transport_bench.arguments.push_back("--json");
  for (const std::string& transport : *transports)
    transport_bench.arguments.insert(transport_bench.arguments.end(), {"--transport", transport});
  fmt::print(stderr, "transport_bench ...\n");
  Result<int> code = run_command(transport_bench);
  if (!code) return fail(code.status());
  int worst = *code;
  Result<std::string> reference = native_reference(layout, options);
  if (!reference) return fail(reference.status());
  for (const std::string& transport : *transports) {
    code = remote_run(layout, options, transport, *reference);
    if (!code) return fail(code.status());
    if (*code != 0) worst = *code;
  }
  std::error_code ignored;
  std::filesystem::remove(*reference, ignored);
  return worst;
}

}  // namespace tf::tools
