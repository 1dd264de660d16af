// SPDX-License-Identifier: Apache-2.0
// hip-remote run: an unmodified program with the proxy in place of AMD's libamdhip64.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "hipcore/wire/gen/majors.h"
#include "proxy/base/environment.h"
#include "tools/command_line/command_line.h"
#include "tools/hip-remote/commands.h"
#include "tools/hip-remote/elf_needs.h"
#include "tools/hip-remote/local_worker.h"
#include "tools/hip-remote/program.h"
#include "tools/hip-remote/stats.h"
#include "transport/factory/factory.h"
#include "transport/net/address.h"

namespace tf::tools {
namespace {

using reference::kExitUsage;
constexpr int kExitFailed = 125;  // as env(1) and timeout(1): the failure is ours, not the program's

std::string prepend(const std::string& entry, const char* variable, char separator) {
  const char* old = std::getenv(variable);
  return old != nullptr && *old != '\0' ? entry + separator + old : entry;
}

// LD_LIBRARY_PATH finds our library by name; LD_PRELOAD wins over a program's own RPATH.
void use_library(EnvironmentChanges& environment, const std::filesystem::path& directory, bool preload) {
  environment["LD_LIBRARY_PATH"] = prepend(directory.string(), "LD_LIBRARY_PATH", ':');
  if (!preload) return;
  environment["LD_PRELOAD"] = prepend((directory / protocol::kHipMajor.library).string(), "LD_PRELOAD", ' ');
}

int fail(const Status& status) {
  fmt::print(stderr, "hip-remote run: {}\n", status.message());
  return status.code() == Code::kInvalidArgument ? kExitUsage : kExitFailed;
}

int fail(const ProgramFile& program) {
  fmt::print(stderr, "hip-remote run: {}\n", program.why);
  return program.exit_code;
}

// A runtime is chosen for the worker that is started, or for the program itself.
Status check_runtime(const RunOptions& options) {
  if (!options.native || options.runtime.empty() || options.runtime == "cpu" || options.runtime == "cuda")
    return Status::ok();
  return {Code::kInvalidArgument,
          "--native --runtime " + options.runtime +
              ": expected cpu or cuda; for AMD's runtime, start the program without hip-remote"};
}

std::filesystem::path native_library(const Layout& layout, const std::string& runtime) {
  return runtime == "cuda" ? layout.native_cuda_lib() : layout.native_lib();
}

Status check_transport(const std::string& name) {
  std::vector<std::string_view> names{"auto"};
  for (const net::Transport* transport : transports()) names.push_back(transport->name());
  if (std::ranges::count(names, name) != 0) return Status::ok();
  return {Code::kInvalidArgument, "TF_TRANSPORT=" + name + ": expected " + reference::one_of(names)};
}

// The variables that the program's library will read, checked now: the library could only fail every call.
Status check_variables(const EnvironmentChanges& changes) {
  for (const auto& [name, value] : changes) {
    if (!name.starts_with("TF_")) continue;
    value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
  }
  TF_RETURN_IF_ERROR(proxy::read_settings().status());
  return check_transport(proxy::environment_value("TF_TRANSPORT"));
}

// Says that the dynamic loader would not find a HIP library, before it does in its own words.
ProgramFile check_libraries(const ProgramFile& program, const std::string& library_path) {
  const char* const preload = std::getenv("LD_PRELOAD");
  const std::vector<MissingLibrary> missing =
      missing_hip_libraries(program.path, library_path, preload == nullptr ? "" : preload);
  if (missing.empty()) return program;
  const std::string& name = missing.front().name;
  std::string why = program.path + " needs " + name;
  if (missing.front().needed_by != program.path)
    why = program.path + " needs " + missing.front().needed_by + ", which needs " + name;
  const protocol::HipMajor& ours = protocol::kHipMajor;
  return {
      "", kExitCannotRun,
      fmt::format("{}, which hip-remote does not have: it replaces the library of HIP {} ({}), so build the "
                  "program with HIP {}",
                  why, ours.number, ours.library, ours.number)};
}

Result<LocalWorker> start_worker(const Layout& layout, const RunOptions& options, const Ending& ending,
                                 EnvironmentChanges& environment) {
  Result<LocalWorker> worker = LocalWorker::start(layout, options.runtime, options.verbose, ending);
  if (!worker) return worker;
  for (auto& [name, value] : worker->environment(proxy::environment_value("TF_TRANSPORT")))
    environment[name] = value;
  return worker;
}

Status prepare_remote(const Layout& layout, const RunOptions& options, EnvironmentChanges& environment) {
  use_library(environment, layout.lib, options.preload);
  if (options.local) {  // its address is known later
    environment["TF_WORKER_HOST"] = environment["TF_WORKER_PORT"] = std::nullopt;
    environment["TF_WORKER_SOCKET"] = std::nullopt;
  }
  if (!options.worker.empty()) TF_RETURN_IF_ERROR(point_at_worker(options.worker, environment));
  if (!options.transport.empty()) environment["TF_TRANSPORT"] = options.transport;
  if (options.verbose) environment["TF_DEBUG"] = "1";
  return check_variables(environment);
}

// The program, from its start to its end.
int run_program(const Command& command, const std::string& stats_file, Ending& ending) {
  Command made = command;
  std::optional<Stats> stats;
  if (!stats_file.empty()) {
    Result<Stats> begun = Stats::make(stats_file);
    if (!begun) return fail(begun.status());
    stats.emplace(std::move(begun).value());
    made.environment["TF_STATS"] = stats->directory();
  }
  Result<pid_t> child = start(made);
  if (!child) {
    const bool missing = child.code() == Code::kUnavailable;
    return fail({"", missing ? kExitNotFound : kExitCannotRun,
                 child.status().message() +
                     (missing ? " (the interpreter in its first line, or its loader, is missing)" : "")});
  }
  Result<int> code = wait_for(*child, ending);
  if (!code) return fail(code.status());
  if (stats) {
    if (Status told = stats->report(); !told) return fail(told);
  }
  return *code;
}

}  // namespace

Status point_at_worker(const std::string& worker, EnvironmentChanges& environment) {
  Result<net::Address> address = net::Address::parse(worker);
  if (!address) return {address.code(), "--worker: " + address.status().message()};
  if (!address->is_unix() && address->port() == 0)
    return {Code::kInvalidArgument, "--worker " + worker + ": a port is a number from 1 to 65535"};
  if (address->is_unix()) {
    environment["TF_WORKER_SOCKET"] = address->path();
  } else {
    environment["TF_WORKER_SOCKET"] = std::nullopt;
    environment["TF_WORKER_HOST"] = address->host();
    environment["TF_WORKER_PORT"] = std::to_string(address->port());
  }
  return Status::ok();
}

int run(const Layout& layout, const RunOptions& options, Ending& ending) {
  if (Status status = check_runtime(options); !status) return fail(status);
  if (options.program.empty())
    return fail({Code::kInvalidArgument,
                 "a program is missing: hip-remote run [OPTION]... [--] PROGRAM [ARGUMENT]..."});
  Command command;
  command.arguments = options.program;
  if (options.native)
    use_library(command.environment, native_library(layout, options.runtime), options.preload);
  else if (Status status = prepare_remote(layout, options, command.environment); !status)
    return fail(status);
  ProgramFile program = find_program(options.program.front());
  if (!program.path.empty()) program = check_libraries(program, *command.environment["LD_LIBRARY_PATH"]);
  if (program.path.empty()) return fail(program);
  std::optional<LocalWorker> worker;
  if (options.local) {
    Result<LocalWorker> started = start_worker(layout, options, ending, command.environment);
    bool from_terminal = false;
    if (!started && ending.take(from_terminal) != 0) return ending.exit_code();
    if (!started) return fail(started.status());
    worker.emplace(std::move(started).value());
  }
  return run_program(command, options.stats, ending);
}

}  // namespace tf::tools
