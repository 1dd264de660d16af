// SPDX-License-Identifier: Apache-2.0
// What the kernel knows of the host.
#include "smi/runtime/host.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "smi/runtime/files.h"

namespace tf::smi {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::uint64_t kOwnDistance = 10;  // of a node of memory to itself, by ACPI's definition
constexpr auto kLeastPeriod = 50ms;  // the kernel counts in ticks of up to 10 ms
// Drivers of hwmon whose first temperature is a processor's, in the order of preference.
constexpr const char* kProcessorSensors[] = {"coretemp", "k10temp", "zenpower", "cpu_thermal", "acpitz"};

void add(std::uint64_t& sum, std::uint64_t value) {
  if (is_known(value)) sum = is_known(sum) ? sum + value : value;
}

// Of /proc/meminfo, "MemTotal:  123 kB".
std::uint64_t memory_bytes(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t kib = 0;
    if (words >> name >> kib && name == key + ":") return kib * 1024;
  }
  return kUnknown;
}

// Of /proc/cpuinfo, "model name : ...".
std::string cpu_fact(const std::string& text, std::string_view key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return {};
}

// Of a line of the kernel's, "10 21": from one node of memory to each. 0: there is none.
std::uint64_t distance_most(const std::string& text) {
  std::istringstream words(text);
  std::uint64_t most = 0;
  for (std::uint64_t distance = 0; words >> distance;) most = std::max(most, distance);
  return most;
}

}  // namespace

HostRuntime::HostRuntime(fs::path root) : root_(std::move(root)), last_(read()) {}

HostRuntime::Reading HostRuntime::read() const {
  Reading reading;
  reading.when = Clock::now();
  reading.energy_uj = energy_uj();
  std::istringstream words(read_text(root_ / "proc/stat"));
  std::string label;
  words >> label;  // "cpu", and user nice system idle iowait irq softirq steal
  std::uint64_t ticks = 0;
  for (int column = 0; column < 8 && words >> ticks; ++column) {
    reading.ticks.all += ticks;
    const bool is_idle = column == 3 || column == 4;
    if (!is_idle) reading.ticks.busy += ticks;
  }
  return reading;
}

void HostRuntime::measure() {
  if (const auto age = Clock::now() - last_.when; age < kLeastPeriod) {
    if (is_known(busy_percent_)) return;
    std::this_thread::sleep_for(kLeastPeriod - age);
  }
  const Reading now = read();
  const std::uint64_t all = now.ticks.all - std::min(now.ticks.all, last_.ticks.all);
  const std::uint64_t busy = now.ticks.busy - std::min(now.ticks.busy, last_.ticks.busy);
  if (all != 0) busy_percent_ = std::min<std::uint64_t>(100, (busy * 100 + all / 2) / all);
  const auto passed_us = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(now.when - last_.when).count());
  const bool counted =
      is_known(now.energy_uj) && is_known(last_.energy_uj) && now.energy_uj >= last_.energy_uj;
  if (counted && passed_us != 0) power_uw_ = (now.energy_uj - last_.energy_uj) * 1'000'000 / passed_us;
  last_ = now;
}

// The sum of all packages (intel-rapl:0, intel-rapl:1); their parts (intel-rapl:0:0) are in it.
std::uint64_t HostRuntime::energy_uj() const {
  std::uint64_t sum = kUnknown;
  for (const fs::path& zone : entries(root_ / "sys/class/powercap"))
    if (std::ranges::count(zone.filename().string(), ':') == 1) add(sum, read_number(zone / "energy_uj"));
  return sum;
}

std::uint64_t HostRuntime::cap_uw() const {
  std::uint64_t sum = kUnknown;
  for (const fs::path& zone : entries(root_ / "sys/class/powercap"))
    if (std::ranges::count(zone.filename().string(), ':') == 1)
      add(sum, read_number(zone / "constraint_0_power_limit_uw"));
  return sum;
}

void HostRuntime::read_sensors(Sample& sample) const {
  std::size_t best = std::size(kProcessorSensors);
  for (const fs::path& sensor : entries(root_ / "sys/class/hwmon")) {
    const std::string driver = read_text(sensor / "name");
    const auto* const found = std::ranges::find(kProcessorSensors, driver);
    const auto rank = static_cast<std::size_t>(found - std::begin(kProcessorSensors));
    const std::uint64_t temperature = read_number(sensor / "temp1_input");
    if (rank < best && is_known(temperature)) {
      best = rank;
      sample.edge_temperature_mc = temperature;
      sample.critical_temperature_mc = read_number(sensor / "temp1_crit");
    }
    if (!is_known(sample.fan_rpm)) sample.fan_rpm = read_number(sensor / "fan1_input");
  }
}

void HostRuntime::read_memory(Sample& sample) const {
  const std::string text = read_text(root_ / "proc/meminfo");
  const std::uint64_t total = memory_bytes(text, "MemTotal");
  const std::uint64_t available = memory_bytes(text, "MemAvailable");
  sample.host_memory_total_bytes = total;
  if (is_known(total) && is_known(available))
    sample.host_memory_used_bytes = total - std::min(total, available);
}

// The mean of all processors. Where there is no cpufreq, as in virtual machines, of /proc/cpuinfo for the
// first one.
std::uint64_t HostRuntime::clock_hz(const char* file) const {
  std::uint64_t sum_khz = 0;
  std::uint64_t processors = 0;
  for (const fs::path& policy : entries(root_ / "sys/devices/system/cpu/cpufreq")) {
    const std::uint64_t khz = read_number(policy / file);
    if (!is_known(khz)) continue;
    sum_khz += khz;
    ++processors;
  }
  return processors != 0 ? sum_khz / processors * 1000 : kUnknown;
}

Status HostRuntime::describe(const Target&, Facts& facts) {
  const std::string cpu = read_text(root_ / "proc/cpuinfo");
  set_text(facts.vendor, cpu_fact(cpu, "vendor_id"));
  set_text(facts.firmware, cpu_fact(cpu, "microcode"));
  set_text(facts.driver, read_text(root_ / "proc/sys/kernel/osrelease"));
  facts.core_clock_least_hz = clock_hz("cpuinfo_min_freq");
  facts.core_clock_most_hz = clock_hz("cpuinfo_max_freq");
  return Status::ok();
}

Status HostRuntime::sample(const Target&, Sample& sample) {
  measure();
  sample.core_busy_percent = busy_percent_;
  sample.power_uw = power_uw_;
  sample.energy_uj = last_.energy_uj;
  sample.power_cap_uw = cap_uw();
  read_sensors(sample);
  read_memory(sample);
  sample.core_clock_hz = clock_hz("scaling_cur_freq");
  if (is_known(sample.core_clock_hz)) return Status::ok();
  const double mhz = std::atof(cpu_fact(read_text(root_ / "proc/cpuinfo"), "cpu MHz").c_str());
  if (mhz > 0 && mhz < 1e5) sample.core_clock_hz = static_cast<std::uint64_t>(mhz * 1e6);
  return Status::ok();
}

Status HostRuntime::find_link(const Target&, const Target&, Link& link) {
  const std::vector<fs::path> nodes = entries(root_ / "sys/devices/system/node");
  if (nodes.empty()) link.weight = kOwnDistance;  // a kernel without NUMA
  for (const fs::path& node : nodes)
    if (const std::uint64_t most = distance_most(read_text(node / "distance")); most != 0)
      link.weight = is_known(link.weight) ? std::max(link.weight, most) : most;
  return Status::ok();
}

}  // namespace tf::smi
