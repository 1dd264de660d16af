// SPDX-License-Identifier: Apache-2.0
// SmiWatch: the SMI process of a worker with --metrics, and what it has said. The process is started when a
// session process has found devices, and again when it has ended or hangs in a driver. Nothing here waits for
// it. Belongs to the supervisor.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "transport/base/deadline.h"
#include "transport/net/fd.h"
#include "worker/base/device_readings.h"
#include "worker/base/options.h"
#include "worker/supervisor/session_log.h"

namespace tf::worker {

inline constexpr std::chrono::seconds kSmiHungTime{60};  // without an answer; then another process is started
inline constexpr std::chrono::milliseconds kSmiRestartMin{1000};
inline constexpr std::chrono::milliseconds kSmiRestartMax{300000};

// A device, by the operator's number, and its reading if there is a fresh one.
struct ShownReading {
  int number = 0;
  std::string pci;
  std::uint64_t memory_bytes = 0;  // 0: unknown
  std::optional<DeviceReading> reading;
};

class SmiWatch {
 public:
  using Devices = std::map<int, WatchedDevice>;  // by the operator's numbers

  // `arguments`: the command line of the process.
  void set_arguments(std::vector<std::string> arguments) { arguments_ = std::move(arguments); }
  // A process that watches others is replaced.
  void keep(const Devices& devices);
  // Starts a process if one is due, and ends one that hangs.
  void turn();
  // When turn() has something to do.
  Deadline deadline() const;
  // To be polled for reading: what the process writes into the log; negative: nothing.
  int descriptor() const { return log_.descriptor(); }
  void relay() { log_.relay(pid_); }

  bool is(pid_t pid) const { return pid_ > 0 && pid == pid_; }
  // REQUIRES: is(pid). It has ended, and been reaped.
  void ended(int status);
  // Kills it; no other is started.
  void stop();

  std::vector<ShownReading> readings(const std::map<int, std::uint64_t>& memory_bytes) const;

 private:
  Status start();
  void start_later();

  std::vector<std::string> arguments_;
  Devices devices_;
  DeviceReadings page_;
  net::OwnedFd life_;  // closed when we end, however that is
  SessionLog log_;
  pid_t pid_ = -1;
  Deadline look_ = Deadline::never();  // for whether it hangs
  Deadline due_ = Deadline::never();   // for the next start
  std::chrono::milliseconds delay_ = kSmiRestartMin;
  bool stopped_ = false;
};

}  // namespace tf::worker
