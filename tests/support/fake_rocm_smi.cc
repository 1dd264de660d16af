// SPDX-License-Identifier: Apache-2.0
// A stand-in for librocm_smi64 of ROCm 5 or 6 (TF_FAKE_ROCM): two devices, 0000:03:00.0 and 0000:83:00.0,
// with values that tests know. What is left out, a library may lack.
#include <cstdint>
#include <cstdio>
#include <type_traits>

#define ROCM extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kInvalid = 1;
constexpr int kUnsupported = 2;
struct FakeList {
  std::uint32_t num_supported;
  std::uint32_t current;
};
struct FakeFrequencies5 : FakeList {
  std::uint64_t frequency[32];
};
struct FakeDeepSleep {
  bool has_deep_sleep;
};
struct FakeFrequencies6 : FakeDeepSleep, FakeList {
  std::uint64_t frequency[33];
};
using FakeFrequencies = std::conditional_t<TF_FAKE_ROCM >= 6, FakeFrequencies6, FakeFrequencies5>;
static_assert(sizeof(FakeFrequencies) == (TF_FAKE_ROCM >= 6 ? 280 : 264));

constexpr FakeList kList = {3, 1};

[[maybe_unused]] void write(FakeFrequencies5& to) {
  to = {kList, {132'000'000, 1'500'000'000, 2'100'000'000}};
}
[[maybe_unused]] void write(FakeFrequencies6& to) {
  to = {{true}, kList, {132'000'000, 1'500'000'000, 2'100'000'000}};
}

}  // namespace

ROCM int rsmi_init(std::uint64_t) { return 0; }
ROCM int rsmi_num_monitor_devices(std::uint32_t* count) {
  *count = 2;
  return 0;
}
ROCM int rsmi_dev_pci_id_get(std::uint32_t device, std::uint64_t* id) {
  *id = device == 0 ? 0x300 : 0x8300;
  return device < 2 ? 0 : kInvalid;
}
ROCM int rsmi_dev_unique_id_get(std::uint32_t device, std::uint64_t* id) {
  *id = 0xabc0 + device;
  return 0;
}
ROCM int rsmi_dev_busy_percent_get(std::uint32_t device, std::uint32_t* percent) {
  *percent = 10 + device;
  return 0;
}
ROCM int rsmi_dev_memory_usage_get(std::uint32_t device, int kind, std::uint64_t* used) {
  *used = kind == 0 ? 4096 : 512;
  return device < 2 ? 0 : kInvalid;
}
ROCM int rsmi_dev_temp_metric_get(std::uint32_t, std::uint32_t sensor, int metric,
                                  std::int64_t* temperature) {
  *temperature = metric == 0 ? 40'000 + sensor : 100'000;
  return sensor == 0 && metric == 0 ? kUnsupported : 0;  // as MI300X: no edge sensor
}
ROCM int rsmi_dev_power_ave_get(std::uint32_t, std::uint32_t, std::uint64_t* power) {
  *power = 150'000'000;
  return 0;
}
ROCM int rsmi_dev_current_socket_power_get(std::uint32_t, std::uint64_t*) { return kUnsupported; }
ROCM int rsmi_dev_power_cap_range_get(std::uint32_t, std::uint32_t, std::uint64_t* most,
                                      std::uint64_t* least) {
  *most = 750'000'000;
  *least = 0;
  return 0;
}
ROCM int rsmi_dev_energy_count_get(std::uint32_t, std::uint64_t* count, float* unit, std::uint64_t* when) {
  *count = 1000;
  *unit = 15.25F;
  *when = 1;
  return 0;
}
ROCM int rsmi_dev_gpu_clk_freq_get(std::uint32_t, int clock, FakeFrequencies* clocks) {
  write(*clocks);
  return clock == 0 ? 0 : kUnsupported;
}
ROCM int rsmi_dev_vbios_version_get(std::uint32_t, char* text, std::uint32_t bytes) {
  std::snprintf(text, bytes, "113-M3000100-103");
  return 0;
}

// From the first to the second it is xGMI, back it is PCI Express, of which no bandwidth is known.
ROCM int rsmi_topo_get_link_type(std::uint32_t from, std::uint32_t to, std::uint64_t* hops, int* type) {
  *hops = from == 0 ? 1 : 2;
  *type = from == 0 ? 2 : 1;
  return from < 2 && to < 2 && from != to ? 0 : kInvalid;
}
ROCM int rsmi_topo_get_link_weight(std::uint32_t from, std::uint32_t to, std::uint64_t* weight) {
  *weight = from == 0 ? 15 : 40;
  return from < 2 && to < 2 && from != to ? 0 : kInvalid;
}
ROCM int rsmi_minmax_bandwidth_get(std::uint32_t from, std::uint32_t, std::uint64_t* least,
                                   std::uint64_t* most) {
  *least = 50'000;
  *most = 100'000;
  return from == 0 ? 0 : kUnsupported;
}

namespace {

struct FakeProcess {
  std::uint32_t pid;
  std::uint32_t pasid;
  std::uint64_t vram;
  std::uint64_t sdma;
  std::uint32_t occupancy;
};

}  // namespace

// One process, on the second device.
ROCM int rsmi_compute_process_info_get(FakeProcess* processes, std::uint32_t* count) {
  if (processes != nullptr && *count > 0) processes[0] = {4711, 1, 1 << 30, 0, 25};
  *count = 1;
  return 0;
}
ROCM int rsmi_compute_process_gpus_get(std::uint32_t pid, std::uint32_t* devices, std::uint32_t* count) {
  if (pid != 4711 || *count < 1) return kInvalid;
  devices[0] = 1;
  *count = 1;
  return 0;
}
