// SPDX-License-Identifier: Apache-2.0
// Starts, watches and reads the SMI process.
#include "worker/supervisor/smi_watch.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "worker/base/channel.h"
#include "worker/base/exit_codes.h"
#include "worker/base/log.h"
#include "worker/supervisor/own_image.h"

namespace tf::worker {

void SmiWatch::keep(const Devices& devices) {
  if (devices == devices_ || stopped_) return;
  devices_ = devices;
  page_ = DeviceReadings();
  due_ = Deadline::now();
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

void SmiWatch::turn() {
  if (pid_ > 0 && look_.passed()) {
    look_ = Deadline::after(kSmiHungTime);
    if (page_.had_round(DeviceReadings::Clock::now(), kSmiHungTime)) {
      delay_ = kSmiRestartMin;
      return;
    }
    log(LogLevel::kWarning, "SMI process {} killed: the management library has not answered for {} seconds",
        pid_, kSmiHungTime.count());
    ::kill(pid_, SIGKILL);  // in a driver that may take long to end it
    due_ = Deadline::after(delay_);
  }
  if (pid_ > 0 || stopped_ || devices_.empty() || !due_.passed()) return;
  const Status started = start();
  if (started.is_ok()) return;
  log(LogLevel::kWarning, "metrics have no SMI values: {}", started.to_string());
  start_later();
}

void SmiWatch::start_later() {
  due_ = Deadline::after(delay_);
  delay_ = std::min(delay_ * 2, kSmiRestartMax);
}

Deadline SmiWatch::deadline() const {
  if (pid_ > 0) return look_;
  return stopped_ || devices_.empty() ? Deadline::never() : due_;
}

Status SmiWatch::start() {
  due_ = Deadline::never();
  std::vector<WatchedDevice> devices;
  for (const auto& [number, device] : devices_) devices.push_back(device);
  net::OwnedFd page_end;
  Result<DeviceReadings> page = DeviceReadings::make(devices, page_end);
  if (!page) return page.status();
  Result<ChannelPair> channel = make_channel();
  if (!channel) return channel.status();
  net::OwnedFd log_end;
  Result<SessionLog> log_of_it = SessionLog::make(log_end);
  if (!log_of_it) return log_of_it.status();
  const std::array passed = {
      PassedDescriptor{channel->session.get(), kSessionChannelFd},
      PassedDescriptor{log_end.get(), STDERR_FILENO},
      PassedDescriptor{page_end.get(), kReadingsFd},
      PassedDescriptor{-1, kTurnsFd},
  };
  const Result<pid_t> started = start_own_image(arguments_, passed);
  if (!started) return started.status();
  pid_ = started.value();
  page_ = std::move(*page);
  life_ = std::move(channel->supervisor);
  log_ = std::move(*log_of_it);
  look_ = Deadline::after(kSmiHungTime);
  return Status::ok();
}

// One without a library has said so, and would say it again.
void SmiWatch::ended(int status) {
  log_.finish(pid_);
  log_ = SessionLog();
  life_.reset();
  page_ = DeviceReadings();
  const bool told_why = WIFEXITED(status) && WEXITSTATUS(status) == kExitNoRuntime;
  const bool replaced = due_.passed();
  if (stopped_ || told_why || replaced) {
    pid_ = -1;
    return;
  }
  if (WIFSIGNALED(status))
    log(LogLevel::kWarning, "SMI process {} ended by signal {}", pid_, WTERMSIG(status));
  else
    log(LogLevel::kWarning, "SMI process {} ended with code {}", pid_, WEXITSTATUS(status));
  pid_ = -1;
  start_later();
}

void SmiWatch::stop() {
  stopped_ = true;
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

std::vector<ShownReading> SmiWatch::readings(const std::map<int, std::uint64_t>& memory_bytes) const {
  const auto now = DeviceReadings::Clock::now();
  std::vector<ShownReading> shown;
  std::size_t device = 0;
  for (const auto& [number, watched] : devices_) {
    const auto memory = memory_bytes.find(number);
    shown.push_back(
        {number, watched.pci, memory == memory_bytes.end() ? 0 : memory->second, page_.read(device++, now)});
  }
  return shown;
}

}  // namespace tf::worker
