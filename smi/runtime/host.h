// SPDX-License-Identifier: Apache-2.0
// HostRuntime: the host itself as a device, behind the CPU runtime: load, memory, temperature, power and
// clocks from /proc and /sys. Sources: proc(5), the kernel's documents of hwmon, powercap and cpufreq.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

#include "smi/runtime/runtime.h"

namespace tf::smi {

class HostRuntime final : public Runtime {
 public:
  // `root`: where proc and sys are; tests have their own. Begins to measure the load.
  explicit HostRuntime(std::filesystem::path root = "/");

  std::string_view name() const override { return "host"; }
  Status describe(const Target& target, Facts& facts) override;
  // The load is that since the last sample; one that is younger than 50 ms is waited for or answered again.
  Status sample(const Target& target, Sample& sample) override;
  // A device is all processors of the host, so its weight is the distance of the farthest memory.
  Status find_link(const Target& from, const Target& to, Link& link) override;

 private:
  using Clock = std::chrono::steady_clock;
  // Of all processors, in the kernel's ticks.
  struct Ticks {
    std::uint64_t busy = 0;
    std::uint64_t all = 0;
  };
  struct Reading {
    Clock::time_point when;
    Ticks ticks;
    std::uint64_t energy_uj = kUnknown;
  };
  Reading read() const;
  void measure();
  std::uint64_t energy_uj() const;
  std::uint64_t cap_uw() const;
  void read_sensors(Sample& sample) const;
  void read_memory(Sample& sample) const;
  std::uint64_t clock_hz(const char* file) const;

  const std::filesystem::path root_;
  Reading last_;
  std::uint64_t busy_percent_ = kUnknown;
  std::uint64_t power_uw_ = kUnknown;
};

}  // namespace tf::smi
