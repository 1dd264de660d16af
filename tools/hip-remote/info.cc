// SPDX-License-Identifier: Apache-2.0
// hip-remote info: what this machine can do, and why not the rest.
#include <fmt/core.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "proxy/environment.h"
#include "shm/huge_pages.h"
#include "tools/hip-remote/commands.h"
#include "tools/hip-remote/json.h"
#include "tools/hip-remote/runtime_probe.h"
#include "transport/factory/factory.h"

namespace tf::tools {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

std::vector<ProbedRuntime> probe_all(const Layout& layout) {
  std::vector<ProbedRuntime> runtimes;
  // The system's own library, not our proxy: drop what `hip-remote run` may have set.
  const EnvironmentChanges clean{{"LD_PRELOAD", std::nullopt}, {"LD_LIBRARY_PATH", std::nullopt}};
  runtimes.push_back(probe_runtime("amd", "libamdhip64.so.5", clean));
  runtimes.push_back(probe_runtime("cuda", (layout.lib / "libhip_cuda.so").string(), clean));
  runtimes.push_back(probe_runtime("cpu", layout.cpu_runtime().string(), clean));
  return runtimes;
}

bool worker_is_named() {
  return std::getenv("TF_WORKER_HOST") != nullptr || std::getenv("TF_WORKER_SOCKET") != nullptr ||
         std::getenv("TF_WORKER_PORT") != nullptr;
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
}

void print_text(const std::vector<ProbedRuntime>& runtimes, const std::vector<ProbedRuntime>& workers) {
  fmt::print("Transports (TF_TRANSPORT)\n");
  for (const net::Transport* transport : transports()) {
    Status status = transport->available();
    fmt::print("  {:<8} {:<5} {}\n", transport->name(), status ? "yes" : "no", status.message());
    if (!status) continue;
    for (const std::string& line : transport->details()) fmt::print("           {}\n", line);
  }
  fmt::print("  huge pages for shared memory: {}\n", shm::describe_huge_pages());
  fmt::print("\nRuntimes a worker on this machine could use (hip-worker --runtime)\n");
  for (const ProbedRuntime& runtime : runtimes) print_runtime(runtime);
  if (!workers.empty()) {
    fmt::print("\nThe worker that TF_WORKER_* names\n");
    for (const ProbedRuntime& worker : workers) print_runtime(worker);
  }
  fmt::print("\nEnvironment variables\n");
  for (const proxy::Variable& variable : proxy::environment_variables()) {
    const char* value = std::getenv(std::string(variable.name).c_str());
    fmt::print("  {:<20} {}\n  {:<20}   default {}{}\n", variable.name, variable.help, "",
               variable.default_value.empty() ? "unset" : variable.default_value,
               value != nullptr ? fmt::format("; now {}", value) : "");
  }
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
                        .add_raw("devices", json_array(devices))
                        .text());
  }
  return json_array(items);
}

void print_json(const std::vector<ProbedRuntime>& runtimes, const std::vector<ProbedRuntime>& workers) {
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
  for (const proxy::Variable& variable : proxy::environment_variables()) {
    const char* value = std::getenv(std::string(variable.name).c_str());
    JsonObject item;
    item.add("name", std::string(variable.name))
        .add("default", std::string(variable.default_value))
        .add("help", std::string(variable.help));
    if (value != nullptr) item.add("value", std::string(value));
    variable_items.push_back(item.text());
  }
  fmt::print("{}\n", JsonObject()
                         .add_raw("transports", json_array(transport_items))
                         .add("huge_pages", shm::describe_huge_pages())
                         .add_raw("runtimes", runtimes_json(runtimes))
                         .add_raw("workers", runtimes_json(workers))
                         .add_raw("environment", json_array(variable_items))
                         .text());
}

}  // namespace

int info(const Layout& layout, const InfoOptions& options) {
  std::vector<ProbedRuntime> runtimes = probe_all(layout);
  std::vector<ProbedRuntime> workers;
  if (worker_is_named()) workers.push_back(probe_runtime("worker", layout.proxy_library().string(), {}));
  options.json ? print_json(runtimes, workers) : print_text(runtimes, workers);
  return 0;
}

}  // namespace tf::tools
