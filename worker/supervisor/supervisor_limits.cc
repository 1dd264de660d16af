// SPDX-License-Identifier: Apache-2.0
// Which limits hold for sessions on this machine, and which do not.
#include <algorithm>
#include <tuple>

#include "hipcore/limits/device_limits.h"
#include "worker/base/log.h"
#include "worker/supervisor/supervisor.h"

namespace tf::worker {
namespace {

// "processes 4096|memory (why)": what holds, and what does not (Sandbox::limits()).
class Words {
 public:
  void holds(const std::string& limit) { add(standing_, limit); }
  void lacks(const std::string& limit, const std::string& why) {
    add(missing_, fmt::format("{} ({})", limit, why));
  }
  std::string text() const { return standing_ + "|" + missing_; }

 private:
  static void add(std::string& list, const std::string& limit) { list += (list.empty() ? "" : ", ") + limit; }

  std::string standing_;
  std::string missing_;
};

}  // namespace

Result<hipcore::DeviceLimits> Supervisor::device_limits() const {
  hipcore::DeviceLimits limits{};
  if (options_.device_limits.empty()) return limits;
  const Result<std::vector<hipcore::DeviceLimit>> read = hipcore::read_device_limits(options_.device_limits);
  if (!read) return Status(read.code(), "--device-limits: " + read.status().message());
  std::ranges::copy(read.value(), limits.begin());
  return limits;
}

// What was asked for by name and cannot be had is an error; what is limited by default is only said.
Status Supervisor::open_limits() {
  const LimitOptions& limits = options_.limits;
  const Result<std::string> own = own_cgroup();
  const Status grouped = own ? cgroups_.open(own.value(), limits) : own.status();
  for (const auto& [controller, wanted, option] :
       {std::tuple{"memory", limits.memory_mib != 0, "--session-memory"},
        std::tuple{"cpu", limits.processors != 0, "--session-processors"}})
    if (wanted && !cgroups_.controls(controller))
      return {
          Code::kUnavailable,
          fmt::format("{} needs a cgroup that is delegated to the worker (docs/operating.md): {}", option,
                      grouped ? fmt::format("it has no controller \"{}\"", controller) : grouped.message())};
  Words words;
  if (cgroups_.controls("pids") || options_.users.range)
    words.holds(fmt::format("processes {}", limits.processes));
  else
    words.lacks("processes", grouped ? "no controller" : grouped.message());
  if (limits.memory_mib != 0)
    words.holds(fmt::format("memory {} MiB", limits.memory_mib));
  else
    words.lacks("memory", "no --session-memory");
  if (limits.processors != 0)
    words.holds(fmt::format("processors {}", limits.processors));
  else
    words.lacks("processors", "no --session-processors");
  limits_text_ = words.text();
  return Status::ok();
}

}  // namespace tf::worker
