// SPDX-License-Identifier: Apache-2.0
// The life of the SMI process: page, walls, library, and a reading once a second.
#include "worker/session/smi_process.h"

#include <fcntl.h>
#include <poll.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <utility>

#include "smi/runtime/runtime.h"
#include "transport/base/deadline.h"
#include "worker/base/channel.h"
#include "worker/base/device_readings.h"
#include "worker/base/exit_codes.h"
#include "worker/base/log.h"
#include "worker/sandbox/sandbox.h"
#include "worker/smi/readings.h"

namespace tf::worker {
namespace {

// Nothing is sent there, so any event is the supervisor's end.
bool supervisor_ended(Deadline deadline) {
  pollfd polled{kSessionChannelFd, POLLIN, 0};
  for (;;) {
    const int ready = ::poll(&polled, 1, deadline.poll_timeout_ms());
    if (ready >= 0 || errno != EINTR) return ready != 0;
  }
}

Result<std::unique_ptr<tf::smi::Runtime>> open_library(const WatchedDevice& first) {
  const char* const choice = std::getenv("TF_SMI_RUNTIME");
  return tf::smi::open_runtime(choice != nullptr && *choice != '\0' ? choice : "auto",
                               {first.pci, first.architecture});
}

}  // namespace

int run_smi_process(const Options& options) {
  if (::fcntl(kSessionChannelFd, F_SETFD, FD_CLOEXEC) != 0) {
    log(LogLevel::kError, "--session is hip-worker's own option");
    return 2;
  }
  Result<DeviceReadings> readings = DeviceReadings::open(net::OwnedFd(kReadingsFd));
  if (!readings) {
    log(LogLevel::kError, "{}", readings.status().message());
    return kExitBroken;
  }
  const std::vector<WatchedDevice> devices = readings->devices();
  if (devices.empty()) return 0;
  Sandbox sandbox(options.sandbox);
  sandbox.enter(options.runtime);
  sandbox.close();
  if (options.sandbox.required && !sandbox.complete()) {
    log(LogLevel::kError, "--require-sandbox: walls around the SMI process: {}", sandbox.text());
    return kExitNoWalls;
  }
  Result<std::unique_ptr<tf::smi::Runtime>> library = open_library(devices.front());
  if (!library) {
    log(LogLevel::kWarning, "metrics have no SMI values: {}", library.status().message());
    return kExitNoRuntime;
  }
  smi::ReadingsWriter writer(**library, *readings);
  for (bool told = false;;) {
    const Deadline next = Deadline::after(kReadingPeriod);
    if (const Status written = writer.write(); !written.is_ok() && !std::exchange(told, true))
      log(LogLevel::kWarning, "metrics lack SMI values: {}", written.message());
    if (supervisor_ended(next)) return 0;
  }
}

}  // namespace tf::worker
