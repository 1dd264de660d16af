// SPDX-License-Identifier: Apache-2.0
// Fills the structs of the interface, in its units: watts, degrees Celsius, bytes.
#include "provider/fill.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace tf::provider {
namespace {

using smi::is_known;
using smi::kUnknown;

constexpr std::uint32_t kWorkersMax = 32;  // on one device, at a time

template <std::size_t Bytes>
void set(char (&out)[Bytes], std::string_view text) {
  const std::size_t length = std::min(text.size(), Bytes - 1);
  std::memcpy(out, text.data(), length);
  std::memset(out + length, 0, Bytes - length);
}

std::uint64_t known_or_zero(std::uint64_t value) { return is_known(value) ? value : 0; }

// A sensor in thousandths of a degree; what is below 0 counts as 0.
double celsius(std::uint64_t millidegrees) {
  return is_known(millidegrees) ? std::max(0.0, static_cast<double>(smi::as_signed(millidegrees)) / 1000) : 0;
}

// The first that is known: newer GPUs have no sensor at the edge.
std::uint64_t temperature_of(const smi::Sample& sample) {
  if (is_known(sample.edge_temperature_mc)) return sample.edge_temperature_mc;
  return is_known(sample.hotspot_temperature_mc) ? sample.hotspot_temperature_mc
                                                 : sample.memory_temperature_mc;
}

void add(tf_accel_values& out, std::string_view key, std::uint64_t value, double unit) {
  if (!is_known(value) || out.metric_count >= TF_ACCEL_METRICS_MAX) return;
  tf_accel_metric& metric = out.metrics[out.metric_count++];
  set(metric.key, key);
  metric.value = static_cast<double>(smi::as_signed(value)) * unit;
}

bool is_linked(const Device& device, const Device& peer) {
  return std::ranges::find(device.linked, peer.number) != device.linked.end();
}

// The CPU runtime's devices are one memory.
tf_accel_level level_of(const Device& device, const Device& peer) {
  if ((device.simulated && peer.simulated) || is_linked(device, peer)) return TF_ACCEL_LEVEL_INTERNAL;
  return device.numa_node >= 0 && device.numa_node == peer.numa_node ? TF_ACCEL_LEVEL_NUMA_NODE
                                                                     : TF_ACCEL_LEVEL_SYSTEM;
}

void fill(const std::vector<Device>& devices, std::size_t index, std::size_t count,
          tf_accel_neighbours& out) {
  set(out.uuid, devices[index].uuid);
  out.index = static_cast<std::int32_t>(index);
  out.numa_node = devices[index].numa_node;
  for (std::size_t peer = 0; peer < count; ++peer) {
    if (peer == index) continue;
    tf_accel_peer& node = out.peers[out.peer_count++];
    set(node.uuid, devices[peer].uuid);
    node.index = static_cast<std::int32_t>(peer);
    node.level = level_of(devices[index], devices[peer]);
  }
}

}  // namespace

void fill(const Device& device, int index, tf_accel_device& out) {
  std::memset(&out, 0, sizeof out);
  tf_accel_basic& basic = out.basic;
  set(basic.uuid, device.uuid);
  set(basic.vendor, device.vendor);
  set(basic.model, device.model);
  set(basic.driver, device.driver);
  set(basic.firmware, device.firmware);
  set(basic.device_node, device.node);
  basic.index = index;
  basic.numa_node = device.numa_node;
  basic.memory_bytes = device.memory_bytes;
  basic.compute_units = device.compute_units;
  basic.tflops_max = device.tflops;
  basic.pcie_generation = device.pcie_generation;
  basic.pcie_width = device.pcie_width;
  for (const auto& [key, value] : device.properties) {
    if (value.empty() || out.property_count >= TF_ACCEL_PROPERTIES_MAX) continue;
    set(out.properties[out.property_count].key, key);
    set(out.properties[out.property_count++].value, value);
  }
  out.capabilities.partitioning = !device.visible.empty();
  out.capabilities.metrics = true;
  out.capabilities.remoting = true;
  out.capabilities.partitions_max = kSlices;
  out.capabilities.workers_max = kWorkersMax;
}

void fill(const std::vector<Device>& devices, tf_accel_topology& out) {
  std::memset(&out, 0, sizeof out);
  out.device_count = std::min<std::size_t>(devices.size(), TF_ACCEL_DEVICES_MAX);
  for (std::size_t index = 0; index < out.device_count; ++index)
    fill(devices, index, out.device_count, out.devices[index]);
}

void fill(const Partition& partition, tf_accel_partition& out) {
  std::memset(&out, 0, sizeof out);
  out.type = TF_ACCEL_BY_VARIABLES;
  set(out.device_uuid, partition.uuid);
  const std::size_t count =
      std::min<std::size_t>(partition.variables.size(), TF_ACCEL_PARTITION_VARIABLES_MAX);
  for (std::size_t index = 0; index < count; ++index) set(out.variables[index], partition.variables[index]);
}

void fill(const smi::Process& process, const Device& device, tf_accel_process& out) {
  std::memset(&out, 0, sizeof out);
  set(out.process, std::to_string(process.pid));
  set(out.device_uuid, device.uuid);
  const std::uint64_t percent = std::min<std::uint64_t>(100, known_or_zero(process.compute_percent));
  out.compute_percent = static_cast<double>(percent);
  out.compute_units = device.compute_units;
  out.compute_units_active = device.compute_units * percent / 100;
  out.memory_used_bytes = known_or_zero(process.memory_bytes);
  if (device.memory_bytes != 0)
    out.memory_percent = std::min(
        100.0, 100 * static_cast<double>(out.memory_used_bytes) / static_cast<double>(device.memory_bytes));
}

void fill(const Device& device, const smi::Sample& sample, tf_accel_values& out) {
  std::memset(&out, 0, sizeof out);
  set(out.device_uuid, device.uuid);
  out.power_watts = static_cast<double>(known_or_zero(sample.power_uw)) / 1e6;
  out.temperature_celsius = celsius(temperature_of(sample));
  out.pcie_received_bytes = known_or_zero(sample.pcie_received_bytes_per_s);
  out.pcie_sent_bytes = known_or_zero(sample.pcie_sent_bytes_per_s);
  out.busy_percent =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(100, known_or_zero(sample.core_busy_percent)));
  out.memory_used_bytes = known_or_zero(sample.memory_used_bytes);
  add(out, "graphics_clock_mhz", sample.core_clock_hz, 1e-6);
  add(out, "memory_clock_mhz", sample.memory_clock_hz, 1e-6);
  add(out, "memory_busy_percent", sample.memory_busy_percent, 1);
  add(out, "hotspot_temperature_celsius", sample.hotspot_temperature_mc, 1e-3);
  add(out, "memory_temperature_celsius", sample.memory_temperature_mc, 1e-3);
  add(out, "power_cap_watts", sample.power_cap_uw, 1e-6);
  add(out, "energy_joules", sample.energy_uj, 1e-6);
  add(out, "fan_rpm", sample.fan_rpm, 1);
}

void fill(const std::string& folder, tf_accel_mount& out) {
  std::memset(&out, 0, sizeof out);
  set(out.host_path, folder);
  set(out.guest_path, folder);
}

}  // namespace tf::provider
