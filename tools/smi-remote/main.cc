// SPDX-License-Identifier: Apache-2.0
// smi-remote: shows what the devices of a worker are doing.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "reference/gen/programs.h"
#include "smi/client/remote.h"
#include "tools/command_line/command_line.h"
#include "tools/hip-remote/json.h"
#include "tools/smi-remote/readings.h"
#include "tools/smi-remote/screen.h"
#include "tools/smi-remote/terminal.h"
#include "tools/smi-remote/top.h"
#include "transport/net/address.h"

namespace {

namespace about = tf::reference::smi_remote;
using namespace tf;
using namespace tf::tools;
using reference::CommandLine;

struct SmiOptions {
  std::string host;
  bool json = false;
  bool colored = false;
  std::optional<int> device;
  long interval_s = 1;
  long count = 0;  // 0: without end
};

// hip-remote top becomes this program, and keeps its name.
std::string title_of(const CommandLine& line) {
  const bool is_other = std::string_view(program_invocation_short_name) == "hip-remote";
  return is_other ? "hip-remote top" : line.title();
}

int fail(const CommandLine& line, const Status& status) {
  fmt::print(stderr, "{}: {}\n", title_of(line), status.message());
  return status.code() == Code::kInvalidArgument ? reference::kExitUsage : 1;
}

// As the variables say it, which every client reads.
Status name_worker(const std::string& host) {
  if (host.empty()) return Status::ok();
  Result<net::Address> address = net::Address::parse(host);
  if (!address) return {address.code(), "--host: " + address.status().message()};
  if (!address->is_unix() && address->port() == 0)
    return {Code::kInvalidArgument, "--host " + host + ": a port is a number from 1 to 65535"};
  if (address->is_unix()) {
    ::setenv("TF_WORKER_SOCKET", address->path().c_str(), 1);
    return Status::ok();
  }
  ::unsetenv("TF_WORKER_SOCKET");
  ::setenv("TF_WORKER_HOST", address->host().c_str(), 1);
  ::setenv("TF_WORKER_PORT", std::to_string(address->port()).c_str(), 1);
  return Status::ok();
}

// What is not known is null.
std::string to_json(const SeenDevice& device, const std::vector<Reading>& readings) {
  JsonObject object;
  object.add("device", static_cast<std::uint64_t>(device.index));
  for (const Reading& reading : readings) {
    if (reading.text.empty())
      object.add_raw(reading.key, "null");
    else if (reading.is_number)
      object.add_raw(reading.key, reading.text);
    else
      object.add(reading.key, reading.text);
  }
  return object.text();
}

template <typename Readings>
std::string device_array(const std::vector<SeenDevice>& devices, Readings readings) {
  std::vector<std::string> items;
  for (const SeenDevice& device : devices) items.push_back(to_json(device, readings(device)));
  return json_array(items);
}

template <typename Readings>
std::string devices_json(const std::vector<SeenDevice>& devices, Readings readings) {
  return JsonObject().add_raw("devices", device_array(devices, readings)).text();
}

std::vector<Reading> all_of(const SeenDevice& device) {
  std::vector<Reading> all = facts_of(device);
  for (Reading& reading : measurements_of(device)) all.push_back(std::move(reading));
  return all;
}

Status list_devices(smi::Remote& remote, const SmiOptions& options) {
  Result<std::vector<SeenDevice>> devices = read_devices(remote, std::nullopt);
  if (!devices) return devices.status();
  if (options.json)
    fmt::print("{}\n", devices_json(*devices, all_of));
  else
    fmt::print("{}", ruled(device_table(*devices, options.colored)));
  return Status::ok();
}

template <typename Readings>
Status print_readings(smi::Remote& remote, const SmiOptions& options, Readings readings) {
  Result<std::vector<SeenDevice>> devices = read_devices(remote, options.device);
  if (!devices) return devices.status();
  if (options.json) {
    fmt::print("{}\n", devices_json(*devices, readings));
    return Status::ok();
  }
  for (const SeenDevice& device : *devices)
    fmt::print("{}{}", &device == &devices->front() ? "" : "\n",
               reading_lines(device.index, readings(device)));
  return Status::ok();
}

std::string to_json(const smi::Session& session, int devices) {
  std::vector<std::string> memory;
  for (int device = 0; device < devices; ++device)
    memory.push_back(std::to_string(session.memory_bytes[device]));
  return JsonObject()
      .add("session", session.session)
      .add("pid", session.client_pid)
      .add("program", smi::text_of(session.program))
      .add("from", smi::text_of(session.peer))
      .add("worker_pid", session.worker_pid)
      .add("age_s", static_cast<double>(session.age_ms) / 1000)
      .add_raw("memory_bytes", json_array(memory))
      .text();
}

std::string session_array(const std::vector<smi::Session>& sessions, int devices) {
  std::vector<std::string> items;
  for (const smi::Session& session : sessions) items.push_back(to_json(session, devices));
  return json_array(items);
}

Status list_processes(smi::Remote& remote, const SmiOptions& options) {
  Result<std::vector<smi::Session>> sessions = remote.sessions();
  if (!sessions) return sessions.status();
  if (!options.json) {
    fmt::print("{}", session_table(*sessions, remote.device_count(), options.colored));
    return Status::ok();
  }
  const std::string processes = session_array(*sessions, remote.device_count());
  fmt::print("{}\n", JsonObject().add_raw("processes", processes).text());
  return Status::ok();
}

std::string link_json(int from, int to, const smi::Link& link) {
  JsonObject object;
  object.add("from", static_cast<std::uint64_t>(from))
      .add("to", static_cast<std::uint64_t>(to))
      .add("link", from == to ? "same" : name_of(link));
  for (const auto& [key, number] : {std::pair{"weight", link.weight}, std::pair{"hops", link.hops},
                                    std::pair{"bandwidth_least_mb_per_s", link.bandwidth_least_mb_per_s},
                                    std::pair{"bandwidth_most_mb_per_s", link.bandwidth_most_mb_per_s}})
    object.add_raw(key, smi::is_known(number) ? std::to_string(number) : "null");
  return object.add("peer_access", link.peer_access != 0).text();
}

// A table of `cell_of(link)`: from the device of the line to that of the column.
template <typename CellOf>
std::string link_table(const std::vector<std::vector<smi::Link>>& links, const char* title, CellOf cell_of) {
  std::vector<CellRow> rows{{{""}}};
  for (std::size_t from = 0; from < links.size(); ++from) {
    rows.front().push_back({fmt::format("GPU{}", from), Tone::kPlain, true});
    CellRow row{{fmt::format("GPU{}", from)}};
    for (std::size_t to = 0; to < links.size(); ++to)
      row.push_back({from == to ? "-" : cell_of(links[from][to])});
    rows.push_back(row);
  }
  return fmt::format("{}\n{}", title, table(rows, false));
}

std::string known_or(std::uint64_t number) { return smi::is_known(number) ? std::to_string(number) : "N/A"; }

Status show_topology(smi::Remote& remote, const SmiOptions& options) {
  std::vector<std::vector<smi::Link>> links(static_cast<std::size_t>(remote.device_count()));
  std::vector<std::string> items;
  for (int from = 0; from < remote.device_count(); ++from) {
    for (int to = 0; to < remote.device_count(); ++to) {
      smi::Link& link = links[static_cast<std::size_t>(from)].emplace_back();
      TF_RETURN_IF_ERROR(remote.find_link(from, to, link));
      items.push_back(link_json(from, to, link));
    }
  }
  if (options.json) {
    fmt::print("{}\n", JsonObject().add_raw("links", json_array(items)).text());
    return Status::ok();
  }
  const auto weight_of = [](const smi::Link& link) { return known_or(link.weight); };
  const auto hops_of = [](const smi::Link& link) { return known_or(link.hops); };
  const auto access_of = [](const smi::Link& link) {
    return std::string(link.peer_access != 0 ? "yes" : "no");
  };
  fmt::print("{}\n{}\n{}\n{}", link_table(links, "Link between devices", name_of),
             link_table(links, "Weight (the less, the nearer)", weight_of),
             link_table(links, "Hops", hops_of),
             link_table(links, "Kernels can use memory of the other device", access_of));
  return Status::ok();
}

std::string screen_of(const smi::Remote& remote, const std::vector<SeenDevice>& devices,
                      const std::vector<smi::Session>& sessions, bool colored) {
  return fmt::format("smi-remote: {}\n{}{}", remote.worker(), ruled(device_table(devices, colored)),
                     session_table(sessions, remote.device_count(), colored));
}

// One look as one line, for programs that read a stream of them.
std::string look_json(const smi::Remote& remote, const std::vector<SeenDevice>& devices,
                      const std::vector<smi::Session>& sessions) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return JsonObject()
             .add("time_ms",
                  static_cast<std::uint64_t>(std::chrono::floor<std::chrono::milliseconds>(now).count()))
             .add_raw("devices", device_array(devices, all_of))
             .add_raw("processes", session_array(sessions, remote.device_count()))
             .text() +
         "\n";
}

// On a terminal each screen takes the place of the last one.
Status watch(smi::Remote& remote, const SmiOptions& options) {
  const bool replaces = !options.json && ::isatty(STDOUT_FILENO) != 0;
  for (long look = 0; options.count == 0 || look < options.count; ++look) {
    if (look != 0) std::this_thread::sleep_for(std::chrono::seconds(options.interval_s));
    Result<std::vector<SeenDevice>> devices = read_devices(remote, std::nullopt);
    if (!devices) return devices.status();
    Result<std::vector<smi::Session>> sessions = remote.sessions();
    if (!sessions) return sessions.status();
    if (replaces) fmt::print("\033[H\033[J");
    fmt::print("{}", options.json ? look_json(remote, *devices, *sessions)
                                  : screen_of(remote, *devices, *sessions, options.colored));
    std::fflush(stdout);
  }
  return Status::ok();
}

Status run_command(const CommandLine& line, smi::Remote& remote, const SmiOptions& options) {
  if (line.is(about::list::kCommand)) return list_devices(remote, options);
  if (line.is(about::info::kCommand)) return print_readings(remote, options, facts_of);
  if (line.is(about::metrics::kCommand)) return print_readings(remote, options, measurements_of);
  if (line.is(about::processes::kCommand)) return list_processes(remote, options);
  if (line.is(about::topology::kCommand)) return show_topology(remote, options);
  if (line.is(about::top::kCommand))
    return run_top(remote, std::chrono::seconds(options.interval_s), options.colored);
  return watch(remote, options);
}

bool wants_color(const std::string& when) {
  return when == "always" || (when != "never" && ::isatty(STDOUT_FILENO) != 0);
}

// The options of all commands have the same names.
SmiOptions options_of(const CommandLine& line) {
  SmiOptions options;
  options.host = line.text(about::list::kHost);
  options.json = line.has(about::list::kJson);
  options.colored = wants_color(line.text(about::watch::kColor, "auto"));
  options.interval_s = line.number(about::watch::kInterval, 1);
  options.count = line.number(about::watch::kCount, 0);
  return options;
}

Status take_device(const CommandLine& line, SmiOptions& options) {
  if (line.rest().empty()) return Status::ok();
  if (line.rest().size() > 1) return {Code::kInvalidArgument, "one DEVICE at most"};
  const Result<long> device = reference::parse_number("DEVICE", line.rest().front(), 0, 63);
  if (!device) return device.status();
  options.device = static_cast<int>(device.value());
  return Status::ok();
}

}  // namespace

// "info 0 --json" as well as "info --json 0": a number behind the command goes to the end.
int main(int argc, char** argv) {
  std::vector<const char*> words(argv, argv + argc);
  if (words.size() > 3 && std::isdigit(static_cast<unsigned char>(*words[2])) != 0)
    std::rotate(words.begin() + 2, words.begin() + 3, words.end());
  CommandLine line(about::kProgram);
  if (const std::optional<int> code = line.parse(argc, words.data())) return *code;
  SmiOptions options = options_of(line);
  if (const Status taken = take_device(line, options); !taken.is_ok()) return fail(line, taken);
  if (const Status named = name_worker(options.host); !named.is_ok()) return fail(line, named);
  if (line.is(about::top::kCommand)) hold_signals();
  Result<std::unique_ptr<smi::Remote>> remote = smi::Remote::connect();
  if (!remote) return fail(line, remote.status());
  const Status done = run_command(line, **remote, options);
  return done.is_ok() ? 0 : fail(line, done);
}
