// SPDX-License-Identifier: Apache-2.0
// hip-remote run: an unmodified program with the proxy in place of AMD's libamdhip64.
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "net/address.h"
#include "tools/hip-remote/commands.h"
#include "tools/hip-remote/local_worker.h"
#include "tools/hip-remote/stats.h"

namespace tf::tools {
namespace {

constexpr int kExitUsage = 2;
constexpr int kExitFailed = 125;  // as env(1) and timeout(1): the failure is ours, not the program's

std::string prepend(const std::string& entry, const char* variable, char separator) {
  const char* old = std::getenv(variable);
  return old != nullptr && *old != '\0' ? entry + separator + old : entry;
}

// LD_LIBRARY_PATH finds our library by name; LD_PRELOAD wins over a program's own RPATH.
void use_library(EnvironmentChanges& environment, const std::filesystem::path& directory, bool preload) {
  environment["LD_LIBRARY_PATH"] = prepend(directory.string(), "LD_LIBRARY_PATH", ':');
  if (!preload) return;
  environment["LD_PRELOAD"] = prepend((directory / "libamdhip64.so.5").string(), "LD_PRELOAD", ' ');
}

Status point_at_worker(const RunOptions& options, EnvironmentChanges& environment) {
  if (options.worker.empty()) return Status::ok();
  Result<net::Address> address = net::Address::parse(options.worker);
  if (!address) return address.status();
  if (address->is_unix()) {
    environment["TF_WORKER_SOCKET"] = address->path();
  } else {
    environment["TF_WORKER_SOCKET"] = std::nullopt;
    environment["TF_WORKER_HOST"] = address->host();
    environment["TF_WORKER_PORT"] = std::to_string(address->port());
  }
  return Status::ok();
}

int fail(const Status& status) {
  fmt::print(stderr, "hip-remote run: {}\n", status.to_string());
  return status.code() == Code::kInvalidArgument ? kExitUsage : kExitFailed;
}

// A runtime is chosen for the worker that is started, or for the program itself.
Status check_runtime(const RunOptions& options) {
  if (options.runtime.empty() || options.local) return Status::ok();
  if (!options.native) return {Code::kInvalidArgument, "--runtime goes with --local or --native"};
  if (options.runtime == "cpu" || options.runtime == "cuda") return Status::ok();
  return {Code::kInvalidArgument,
          "--native --runtime " + options.runtime + ": cpu or cuda (on AMD's, start the program as it is)"};
}

std::filesystem::path native_library(const Layout& layout, const std::string& runtime) {
  return runtime == "cuda" ? layout.native_cuda_lib() : layout.native_lib();
}

}  // namespace

int run(const Layout& layout, const RunOptions& options) {
  if (Status status = check_runtime(options); !status) return fail(status);
  Command command;
  command.arguments = options.program;
  std::optional<LocalWorker> worker;
  if (options.native) {
    use_library(command.environment, native_library(layout, options.runtime), options.preload);
  } else {
    use_library(command.environment, layout.lib, options.preload);
    if (Status status = point_at_worker(options, command.environment); !status) return fail(status);
    if (!options.transport.empty()) command.environment["TF_TRANSPORT"] = options.transport;
    if (options.local) {
      Result<LocalWorker> started = LocalWorker::start(layout, options.runtime, options.verbose);
      if (!started) return fail(started.status());
      worker.emplace(std::move(started).value());
      const char* wanted = std::getenv("TF_TRANSPORT");
      std::string transport = !options.transport.empty() ? options.transport
                              : wanted != nullptr        ? wanted
                                                         : "auto";
      for (auto& [name, value] : worker->environment(transport)) command.environment[name] = value;
    }
  }
  if (options.verbose) command.environment["TF_DEBUG"] = "1";
  std::optional<Stats> stats;
  if (!options.stats.empty()) {
    Result<Stats> made = Stats::make();
    if (!made) return fail(made.status());
    stats.emplace(std::move(made).value());
    command.environment["TF_STATS"] = stats->directory();
  }
  Result<pid_t> child = start(command);
  if (!child) return fail(child.status());
  Result<int> code = wait_for(*child);
  if (!code) return fail(code.status());
  if (stats) {
    if (Status told = stats->report(options.stats); !told) return fail(told);
  }
  return *code;
}

}  // namespace tf::tools
