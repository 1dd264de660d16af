// SPDX-License-Identifier: Apache-2.0
// hip-remote info: what this machine can do, and why not the rest.
#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "hipcore/mirror/written_pages.h"
#include "hipcore/wire/gen/majors.h"
#include "proxy/base/environment.h"
#include "proxy/base/own_worker.h"
#include "proxy/base/tensor_fusion.h"
#include "reference/gen/variables.h"
#include "shm/huge_pages.h"
#include "tools/command_line/command_line.h"
#include "tools/hip-remote/commands.h"
#include "tools/hip-remote/json.h"
#include "tools/hip-remote/key_facts.h"
#include "tools/hip-remote/runtime_probe.h"
#include "transport/factory/factory.h"

namespace tf::tools {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
constexpr std::chrono::seconds kProbeTime{15};

struct Found {
  std::vector<ProbedRuntime> runtimes;
  std::vector<ProbedRuntime> workers;
  bool watches_pages = false;  // the kernel says which pages a client has written
  std::string wrong;           // with the variables of the client; empty: nothing
  KeyFacts keys;
};

std::vector<ProbedRuntime> probe_all(const Layout& layout) {
  std::vector<ProbedRuntime> runtimes;
  // The system's own library, not our proxy: drop what `hip-remote run` may have set.
  const EnvironmentChanges clean{{"LD_PRELOAD", std::nullopt}, {"LD_LIBRARY_PATH", std::nullopt}};
  runtimes.push_back(probe_runtime("amd", protocol::kHipMajor.library, clean, kProbeTime));
  runtimes.push_back(probe_runtime("cuda", (layout.lib / "libhip_cuda.so").string(), clean, kProbeTime));
  runtimes.push_back(probe_runtime("cpu", layout.cpu_runtime().string(), clean, kProbeTime));
  return runtimes;
}

void print_runtime(const ProbedRuntime& runtime) {
  if (!runtime.unusable.empty()) {
    fmt::print("  {:<8} no    {}\n", runtime.name, runtime.unusable);
    return;
  }
  fmt::print("  {:<8} yes   {}\n", runtime.name, runtime.library);
  for (std::size_t index = 0; index < runtime.devices.size(); ++index) {
    const ProbedDevice& device = runtime.devices[index];
    fmt::print("           device {}: {} ({}), {:.1f} GiB, {} compute units\n", index, device.name,
               device.architecture, static_cast<double>(device.memory_bytes) / kGib, device.compute_units);
  }
  if (!runtime.walls.empty()) fmt::print("           walls around sessions: {}\n", runtime.walls);
  if (!runtime.limits.empty()) fmt::print("           limits of sessions: {}\n", runtime.limits);
  if (!runtime.share.empty()) fmt::print("           the share of this tenant: {}\n", runtime.share);
}

std::string now_and_default(const reference::Variable& variable) {
  const char* const value = std::getenv(std::string(variable.name).c_str());
  return fmt::format("default {}{}", variable.default_value.empty() ? "unset" : variable.default_value,
                     value != nullptr ? fmt::format("; now {}", value) : "");
}

void print_text(const Found& found) {
  fmt::print("Transports (TF_TRANSPORT)\n");
  for (const net::Transport* transport : transports()) {
    Status status = transport->available();
    fmt::print("  {:<8} {:<5} {}\n", transport->name(), status ? "yes" : "no", status.message());
    if (!status) continue;
    for (const std::string& line : transport->details()) fmt::print("           {}\n", line);
  }
  fmt::print("  huge pages for shared memory: {}\n", shm::describe_huge_pages());
  fmt::print("  memory that kernels elsewhere use: {}\n",
             found.watches_pages ? "written pages are watched (userfaultfd)"
                                 : "compared as a whole (no userfaultfd with asynchronous write protection)");
  fmt::print("\nRuntimes a worker on this machine could use (hip-worker --runtime)\n");
  for (const ProbedRuntime& runtime : found.runtimes) print_runtime(runtime);
  if (!found.workers.empty()) {
    fmt::print("\nThe worker that TF_WORKER_* names\n");
    for (const ProbedRuntime& worker : found.workers) print_runtime(worker);
  }
  fmt::print("\nKeys (TF_SECURITY)\n");
  for (const std::string& line : describe(found.keys)) fmt::print("  {}\n", line);
  fmt::print("\nEnvironment variables (hip-remote-environment(7) says who reads which)\n");
  if (!found.wrong.empty()) fmt::print("  wrong: {}\n", found.wrong);
  for (const reference::Variable& variable : reference::kVariables)
    fmt::print("  {:<20} {}\n  {:<20}   {}\n", variable.name, variable.help, "", now_and_default(variable));
}

std::string runtimes_json(const std::vector<ProbedRuntime>& runtimes) {
  std::vector<std::string> items;
  for (const ProbedRuntime& runtime : runtimes) {
    std::vector<std::string> devices;
    for (const ProbedDevice& device : runtime.devices) {
      devices.push_back(JsonObject()
                            .add("name", device.name)
                            .add("architecture", device.architecture)
                            .add("memory_bytes", device.memory_bytes)
                            .add("compute_units", static_cast<std::uint64_t>(device.compute_units))
                            .text());
    }
    items.push_back(JsonObject()
                        .add("name", runtime.name)
                        .add("library", runtime.library)
                        .add("usable", runtime.unusable.empty())
                        .add("why_not", runtime.unusable)
                        .add("walls", runtime.walls)
                        .add("limits", runtime.limits)
                        .add("share", runtime.share)
                        .add_raw("devices", json_array(devices))
                        .text());
  }
  return json_array(items);
}

void print_json(const Found& found) {
  std::vector<std::string> transport_items;
  for (const net::Transport* transport : transports()) {
    Status status = transport->available();
    std::vector<std::string> details;
    for (const std::string& line : transport->details()) details.push_back(json_string(line));
    transport_items.push_back(JsonObject()
                                  .add("name", std::string(transport->name()))
                                  .add("available", status.is_ok())
                                  .add("why_not", status.message())
                                  .add_raw("details", json_array(details))
                                  .text());
  }
  std::vector<std::string> variable_items;
  for (const reference::Variable& variable : reference::kVariables) {
    const char* value = std::getenv(std::string(variable.name).c_str());
    JsonObject item;
    item.add("name", std::string(variable.name))
        .add("default", std::string(variable.default_value))
        .add("read_by", std::string(variable.where))
        .add("help", std::string(variable.help));
    if (value != nullptr) item.add("value", std::string(value));
    variable_items.push_back(item.text());
  }
  fmt::print("{}\n", JsonObject()
                         .add_raw("transports", json_array(transport_items))
                         .add("huge_pages", shm::describe_huge_pages())
                         .add("watches_written_pages", found.watches_pages)
                         .add_raw("runtimes", runtimes_json(found.runtimes))
                         .add_raw("workers", runtimes_json(found.workers))
                         .add_raw("keys", to_json(found.keys))
                         .add_raw("environment", json_array(variable_items))
                         .add("environment_wrong", found.wrong)
                         .text());
}

// Devices by the number that hip-worker --device takes: those of the runtime that "auto" would choose.
void list_devices(const Layout& layout) {
  for (const ProbedRuntime& runtime : probe_all(layout)) {
    for (std::size_t index = 0; index < runtime.devices.size(); ++index)
      fmt::print("{}\t{} ({}), {}\n", index, runtime.devices[index].name, runtime.devices[index].architecture,
                 runtime.name);
    if (!runtime.devices.empty()) return;
  }
}

// One a line, a tab, and what it is: for completions and scripts.
int list(const Layout& layout, const std::string& what) {
  if (what == "devices") list_devices(layout);
  if (what == "transports") {
    for (const net::Transport* transport : transports())
      fmt::print("{}\t{}\n", transport->name(), transport->available() ? "works here" : "does not work here");
  }
  if (what == "runtimes") {
    for (const ProbedRuntime& runtime : probe_all(layout))
      fmt::print("{}\t{} device(s)\n", runtime.name, runtime.devices.size());
  }
  if (what == "variables") {
    for (const reference::Variable& variable : reference::kVariables)
      fmt::print("{}\t{}\n", variable.name, variable.help);
  }
  return 0;
}

// Where the settings name TensorFusion's operator: asks it, for them and the probe. Why not, or empty.
std::string ask_operator(proxy::Settings& settings, EnvironmentChanges& asking) {
  if (settings.operator_url.empty()) return {};
  Status found = proxy::ask_tensor_fusion(settings, proxy::kServiceAccountToken,
                                          Deadline::after(settings.connect_timeout));
  if (found) found = point_at_worker(settings.worker, asking);
  return found ? std::string() : std::string(found.message());
}

}  // namespace

int info(const Layout& layout, const InfoOptions& options) {
  if (!options.list.empty()) return list(layout, options.list);
  EnvironmentChanges asking{{"TF_DEBUG", std::nullopt}, {"TF_STATS", std::nullopt}};
  if (!options.worker.empty()) {
    if (Status status = point_at_worker(options.worker, asking); !status) {
      fmt::print(stderr, "hip-remote info: {}\n", status.message());
      return reference::kExitUsage;
    }
    for (const auto& [name, value] : asking)  // so that they are printed as they are in force
      if (name.starts_with("TF_WORKER_"))
        value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
  }
  Found found;
  found.runtimes = probe_all(layout);
  found.watches_pages = mirror::WrittenPages().can_watch();
  Result<proxy::Settings> settings = proxy::read_settings();
  if (!settings) found.wrong = settings.status().message();
  if (settings) found.wrong = ask_operator(*settings, asking);
  if (settings)
    proxy::find_own_worker(*settings, [&settings](const net::Address& address) {
      return choose(settings->transport, address).is_ok();
    });
  const bool has_own = settings && !proxy::is_worker_named() && settings->worker.starts_with("unix:");
  // Twice: over the best transport and the next.
  const std::chrono::seconds patience =
      settings ? 2 * std::chrono::ceil<std::chrono::seconds>(settings.value().connect_timeout) + kProbeTime
               : kProbeTime;
  const bool unknown = settings && !settings->operator_url.empty();  // it did not say which
  if ((proxy::is_worker_named() || has_own) && !unknown)
    found.workers.push_back(probe_runtime("worker", layout.proxy_library().string(), asking, patience));
  if (settings) found.keys = find_key_facts(settings.value());  // after it may have met the worker
  options.json ? print_json(found) : print_text(found);
  return 0;
}

}  // namespace tf::tools
