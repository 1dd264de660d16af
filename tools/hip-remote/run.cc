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
#include "tools/hip-remote/management.h"
#include "tools/hip-remote/program.h"
#include "tools/hip-remote/run_trace.h"
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

// By name: "libamdhip64.so.6" is major 6. Null: another library, or one of a major that there is no client
// for.
const protocol::HipMajor* major_of(const std::string& library) {
  for (const protocol::HipMajor& major : protocol::kHipMajors)
    if (major.is_ours && library == major.library) return &major;
  return nullptr;
}

const protocol::HipMajor* major_of(unsigned long number) {
  for (const protocol::HipMajor& major : protocol::kHipMajors)
    if (major.is_ours && number == major.number) return &major;
  return nullptr;
}

// "5, 6 or 7"
std::string majors() {
  std::vector<std::string> numbers;
  for (const protocol::HipMajor& major : protocol::kHipMajors)
    if (major.is_ours) numbers.push_back(std::to_string(major.number));
  return reference::one_of(std::vector<std::string_view>(numbers.begin(), numbers.end()));
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
ProgramFile check_libraries(const ProgramFile& program, const std::vector<HipLibrary>& needed) {
  const auto missing = std::ranges::find_if(needed, [](const HipLibrary& one) { return !one.found; });
  if (missing == needed.end()) return program;
  std::string why = program.path + " needs " + missing->name;
  if (missing->needed_by != program.path)
    why = program.path + " needs " + missing->needed_by + ", which needs " + missing->name;
  return {
      "", kExitCannotRun,
      fmt::format("{}, which hip-remote does not have: it replaces the libraries of HIP {}", why, majors())};
}

// LD_PRELOAD wins over a program's own RPATH. Only of the major that the program is linked with: two in one
// process would take each other's place, since most of their symbols have the same name and version node.
// What a program opens later (dlopen(), as Python does) is not known; `wanted` says it. If it opens the
// library without a version ("libamdhip64.so", as hashcat does), it must get the same one: of the first
// folder that has the name.
void preload_library(const std::filesystem::path& directory, const std::vector<HipLibrary>& needed,
                     const std::string& wanted, EnvironmentChanges& environment) {
  const protocol::HipMajor* major = nullptr;
  for (const HipLibrary& one : needed)
    if (major == nullptr) major = major_of(one.name);
  if (!wanted.empty()) major = major_of(std::strtoul(wanted.c_str(), nullptr, 10));
  if (major == nullptr) return;
  environment["LD_PRELOAD"] = prepend((directory / major->library).string(), "LD_PRELOAD", ' ');
  const std::filesystem::path plain = directory / fmt::format("plain-{}", major->number);
  environment["LD_LIBRARY_PATH"] = plain.string() + ":" + *environment["LD_LIBRARY_PATH"];
}

// The program, and the environment in which it finds our libraries.
ProgramFile prepare_program(const std::filesystem::path& directory, const RunOptions& options,
                            EnvironmentChanges& environment) {
  const std::string library_path = prepend(directory.string(), "LD_LIBRARY_PATH", ':');
  environment["LD_LIBRARY_PATH"] = library_path;
  const ProgramFile program = find_program(options.program.front());
  if (program.path.empty()) return program;
  const char* const preload = std::getenv("LD_PRELOAD");
  const std::vector<HipLibrary> needed =
      hip_libraries(program.path, library_path, preload == nullptr ? "" : preload);
  if (options.preload) preload_library(directory, needed, options.preload_major, environment);
  if (!options.native) ask_library_about_devices(directory, environment);
  if (options.preload && !options.native && is_management_program(program.path) &&
      !prepare_management(directory, environment))
    return {
        "", kExitCannotRun,
        fmt::format("{} would show this host, and not the worker: hip-remote's libraries for it are not in "
                    "{} (Debian: package hip-remote-smi)",
                    program.path, directory.string())};
  return check_libraries(program, needed);
}

Result<LocalWorker> start_worker(const Layout& layout, const RunOptions& options, const Ending& ending,
                                 EnvironmentChanges& environment) {
  const LocalWorkerOptions how{.runtime = options.runtime,
                               .transport = proxy::environment_value("TF_TRANSPORT"),
                               .readable = options.readable,
                               .walls = options.walls,
                               .verbose = options.verbose};
  Result<LocalWorker> worker = LocalWorker::start(layout, how, ending);
  if (!worker) return worker;
  for (auto& [name, value] : worker->environment()) environment[name] = value;
  return worker;
}

Status prepare_remote(const RunOptions& options, EnvironmentChanges& environment) {
  if (options.local) {  // its address is known later
    environment["TF_WORKER_HOST"] = environment["TF_WORKER_PORT"] = std::nullopt;
    environment["TF_WORKER_SOCKET"] = std::nullopt;
  }
  if (!options.worker.empty()) TF_RETURN_IF_ERROR(point_at_worker(options.worker, environment));
  if (!options.transport.empty()) environment["TF_TRANSPORT"] = options.transport;
  if (options.verbose) environment["TF_DEBUG"] = "1";
  return check_variables(environment);
}

// What is written down about a run, if that is asked for.
struct Observed {
  std::optional<Stats> stats;
  std::optional<RunTrace> trace;

  // Begins, and tells the program where its processes are to leave what they have seen.
  Status begin(const RunOptions& options, EnvironmentChanges& environment) {
    if (!options.stats.empty()) {
      Result<Stats> begun = Stats::make(options.stats);
      if (!begun) return begun.status();
      stats.emplace(std::move(begun).value());
    }
    if (!options.trace.empty()) {
      Result<RunTrace> begun = RunTrace::make(options.trace);
      if (!begun) return begun.status();
      trace.emplace(std::move(begun).value());
      environment["TF_TRACE"] = trace->directory();
    }
    // What is traced is counted, too.
    if (stats || trace) environment["TF_STATS"] = stats ? stats->directory() : trace->directory();
    return Status::ok();
  }
  Status end() const {
    if (trace) TF_RETURN_IF_ERROR(trace->write());
    return stats ? stats->report() : Status::ok();
  }
};

// The program, from its start to its end.
int run_program(const Command& command, const RunOptions& options, Ending& ending) {
  Command made = command;
  Observed observed;
  if (const Status begun = observed.begin(options, made.environment); !begun) return fail(begun);
  Result<pid_t> child = start(made);
  if (!child) {
    const bool missing = child.code() == Code::kUnavailable;
    return fail({"", missing ? kExitNotFound : kExitCannotRun,
                 child.status().message() +
                     (missing ? " (the interpreter in its first line, or its loader, is missing)" : "")});
  }
  Result<int> code = wait_for(*child, ending);
  if (!code) return fail(code.status());
  if (const Status told = observed.end(); !told) return fail(told);
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
  if (!options.native)
    if (Status status = prepare_remote(options, command.environment); !status) return fail(status);
  const std::filesystem::path directory =
      options.native ? native_library(layout, options.runtime) : layout.lib;
  const ProgramFile program = prepare_program(directory, options, command.environment);
  if (program.path.empty()) return fail(program);
  std::optional<LocalWorker> worker;
  if (options.local) {
    Result<LocalWorker> started = start_worker(layout, options, ending, command.environment);
    bool from_terminal = false;
    if (!started && ending.take(from_terminal) != 0) return ending.exit_code();
    if (!started) return fail(started.status());
    worker.emplace(std::move(started).value());
  }
  return run_program(command, options, ending);
}

}  // namespace tf::tools
