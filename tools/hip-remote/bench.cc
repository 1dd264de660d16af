// SPDX-License-Identifier: Apache-2.0
// hip-remote bench: transport_bench, then hip_bench natively and through a private worker over each
// transport. The native figures become the limits of the remote ones. --compare and --peers hand over to
// scripts.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "tools/command_line/command_line.h"
#include "tools/hip-remote/commands.h"
#include "tools/hip-remote/local_worker.h"
#include "transport/factory/factory.h"
#include "transport/net/fd.h"
#include "transport/shaper/shape.h"

namespace tf::tools {
namespace {

int fail(const Status& status) {
  fmt::print(stderr, "hip-remote bench: {}\n", status.message());
  return status.code() == Code::kInvalidArgument ? reference::kExitUsage : 1;
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

// The native run, as JSON lines in a temporary file that goes with the object.
class NativeReference {
 public:
  NativeReference() = default;
  NativeReference(const NativeReference&) = delete;
  NativeReference& operator=(const NativeReference&) = delete;
  ~NativeReference() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }

  Status measure(const Layout& layout, const BenchOptions& options, Ending& ending) {
    fmt::print(stderr, "hip_bench on the native CPU runtime ...\n");
    Command command = hip_bench(layout, options, layout.native_lib(), "native");
    command.arguments.push_back("--json");
    int code = 0;
    Result<std::string> text = capture(command, ending, code);
    if (!text) return text.status();
    if (code != 0) return {Code::kInternal, fmt::format("the native run of hip_bench ended with {}", code)};
    path_ = (std::filesystem::temp_directory_path() / "hip-remote-bench-XXXXXX").string();
    const net::OwnedFd file(::mkstemp(path_.data()));
    if (!file) {
      const std::string pattern = std::exchange(path_, {});
      return Status::from_errno("mkstemp " + pattern, errno);
    }
    std::ofstream(path_) << *text;
    if (options.json) {
      std::fputs(text->c_str(), stdout);
      std::fflush(stdout);
    }
    return Status::ok();
  }

 private:
  std::string path_;
};

Result<int> remote_run(const Layout& layout, const BenchOptions& options, const std::string& transport,
                       const std::string& reference, Ending& ending) {
  fmt::print(stderr, "hip_bench through a worker over {} ...\n", transport);
  Result<LocalWorker> worker = LocalWorker::start(layout, {.runtime = "cpu", .transport = transport}, ending);
  if (!worker) return worker.status();
  Command command = hip_bench(layout, options, layout.lib, transport);
  command.arguments.insert(command.arguments.end(), {"--limits", reference});
  if (options.json) command.arguments.push_back("--json");
  if (!options.plot.empty()) {
    command.arguments.insert(command.arguments.end(), {"--plot", plot_name(options.plot, transport)});
  }
  for (auto& [name, value] : worker->environment()) command.environment[name] = value;
  return run_helper(std::move(command), ending);
}

// Cost against distance, through a private worker.
Result<int> distances(const Layout& layout, const BenchOptions& options, const std::string& transport,
                      Ending& ending) {
  Result<LocalWorker> worker = LocalWorker::start(layout, {.runtime = "cpu", .transport = transport}, ending);
  if (!worker) return worker.status();
  Command command = hip_bench(layout, options, layout.lib, transport);
  std::string rtts;
  for (const std::string& rtt : options.rtts) rtts += (rtts.empty() ? "" : ",") + rtt;
  command.arguments.insert(command.arguments.end(), {"--rtt", rtts});
  if (!options.rate.empty()) command.arguments.insert(command.arguments.end(), {"--rate", options.rate});
  if (options.json) command.arguments.push_back("--json");
  for (auto& [name, value] : worker->environment()) command.environment[name] = value;
  return run_helper(std::move(command), ending);
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
int conduct(const Layout& layout, const BenchOptions& options, const std::string& folder, Ending& ending) {
  if (std::ranges::find(options.transports, "rdma") != options.transports.end())
    return fail({Code::kInvalidArgument,
                 fmt::format("--{} measures shm and tcp only; tools/rdma-vm measures rdma", folder)});
  Command command;
  command.arguments = {"python3", layout.script(fmt::format("benchmarks/{}/run", folder)).string(), "--bin",
                       layout.bin.string()};
  if (options.json) command.arguments.push_back("--json");
  if (options.quick) command.arguments.push_back("--quick");
  for (const std::string& transport : options.transports)
    command.arguments.insert(command.arguments.end(), {"--transport", transport});
  if (!options.plot.empty()) command.arguments.insert(command.arguments.end(), {"--plot", options.plot});
  if (!options.lock.empty()) command.arguments.insert(command.arguments.end(), {"--lock", options.lock});
  Result<int> code = run_helper(std::move(command), ending);
  return code ? *code : fail(code.status());
}

// What can be said before anything is measured.
Status check(const BenchOptions& options) {
  const std::string rate = options.rate.empty() ? "" : ",rate=" + options.rate;
  for (const std::string& rtt : options.rtts) {
    if (const Status status = shaper::parse_shape("rtt=" + rtt + rate).status(); !status)
      return {status.code(), "--rtt, --rate: " + status.message()};
  }
  if (options.plot.empty()) return Status::ok();
  const std::filesystem::path folder = std::filesystem::absolute(options.plot).parent_path();
  if (::access(folder.c_str(), W_OK) == 0) return Status::ok();
  return {Code::kUnavailable, "--plot " + options.plot + ": the folder is missing or cannot be written"};
}

// Everything, in order. kClosed: asked to end in between.
Result<int> measure(const Layout& layout, const BenchOptions& options,
                    const std::vector<std::string>& transports, Ending& ending) {
  int worst = 0;
  const auto take = [&](const Result<int>& code) {
    if (!code) return code.status();
    if (code.value() != 0) worst = code.value();
    return ending.asked() == 0 ? Status::ok() : Status(Code::kClosed, "asked to end");
  };
  if (!options.rtts.empty()) {
    for (const std::string& transport : transports) {
      TF_RETURN_IF_ERROR(take(distances(layout, options, transport, ending)));
      if (worst != 0) break;
    }
    return worst;
  }
  Command transport_bench;
  transport_bench.arguments = {layout.program("transport_bench").string()};
  if (options.quick) transport_bench.arguments.push_back("--quick");
  if (options.json) transport_bench.arguments.push_back("--json");
  for (const std::string& transport : transports)
    transport_bench.arguments.insert(transport_bench.arguments.end(), {"--transport", transport});
  fmt::print(stderr, "transport_bench ...\n");
  TF_RETURN_IF_ERROR(take(run_helper(std::move(transport_bench), ending)));
  NativeReference reference;
  TF_RETURN_IF_ERROR(reference.measure(layout, options, ending));
  for (const std::string& transport : transports)
    TF_RETURN_IF_ERROR(take(remote_run(layout, options, transport, reference.path(), ending)));
  return worst;
}

}  // namespace

int bench(const Layout& layout, const BenchOptions& options, Ending& ending) {
  if (Status status = check(options); !status) return fail(status);
  int code = 0;
  if (options.compare || options.peers) {
    code = conduct(layout, options, options.compare ? "compare" : "peers", ending);
  } else {
    Result<std::vector<std::string>> transports = choose_transports(options);
    if (!transports) return fail(transports.status());
    const Result<int> measured = measure(layout, options, *transports, ending);
    if (!measured && ending.asked() == 0 && measured.code() != Code::kClosed) return fail(measured.status());
    code = measured ? measured.value() : 1;
  }
  bool from_terminal = false;
  if (ending.asked() == 0) ending.take(from_terminal);
  return ending.asked() != 0 ? ending.exit_code() : code;
}

}  // namespace tf::tools
