// SPDX-License-Identifier: Apache-2.0
// Asks librocm_smi64.
#include "smi/runtime/amd.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "hipcore/wire/device_snapshot.h"
#include "smi/runtime/files.h"
#include "smi/runtime/library.h"

namespace tf::smi {

// rsmi_process_info_t: the same in ROCm 5.2 and 6.4.
struct RocmProcess {
  std::uint32_t pid;
  std::uint32_t pasid;
  std::uint64_t memory_bytes;
  std::uint64_t sdma_us;
  std::uint32_t compute_percent;
};
static_assert(sizeof(RocmProcess) == 32);

struct RocmSmi {
  using Number = int(std::uint32_t, std::uint64_t*);
  using Word = int(std::uint32_t, std::uint32_t*);
  using Short = int(std::uint32_t, std::uint16_t*);
  using Text = int(std::uint32_t, char*, std::uint32_t);
  using LongText = int(std::uint32_t, char*, std::size_t);
  using Sensor = int(std::uint32_t, std::uint32_t, std::int64_t*);

  bool with_deep_sleep = true;  // rsmi_frequencies_t of ROCm 6 and later
  int (*init)(std::uint64_t) = nullptr;
  int (*count)(std::uint32_t*) = nullptr;
  Number* pci = nullptr;
  Number* unique_id = nullptr;
  Number* hive = nullptr;
  Number* replays = nullptr;
  Word* busy = nullptr;
  Word* memory_busy = nullptr;
  Word* minor = nullptr;
  Word* numa = nullptr;
  int (*memory_total)(std::uint32_t, int, std::uint64_t*) = nullptr;
  int (*memory_used)(std::uint32_t, int, std::uint64_t*) = nullptr;
  int (*temperature)(std::uint32_t, std::uint32_t, int, std::int64_t*) = nullptr;
  int (*voltage)(std::uint32_t, int, int, std::int64_t*) = nullptr;
  int (*power_average)(std::uint32_t, std::uint32_t, std::uint64_t*) = nullptr;
  Number* power_socket = nullptr;
  int (*cap)(std::uint32_t, std::uint32_t, std::uint64_t*) = nullptr;
  Number* cap_default = nullptr;
  int (*cap_range)(std::uint32_t, std::uint32_t, std::uint64_t*, std::uint64_t*) = nullptr;
  int (*energy)(std::uint32_t, std::uint64_t*, float*, std::uint64_t*) = nullptr;
  Sensor* fan_rpm = nullptr;
  Sensor* fan_level = nullptr;
  int (*fan_most)(std::uint32_t, std::uint32_t, std::uint64_t*) = nullptr;
  int (*clocks)(std::uint32_t, int, void*) = nullptr;
  int (*level)(std::uint32_t, int*) = nullptr;
  Text* vbios = nullptr;
  Text* serial = nullptr;
  Text* memory_vendor = nullptr;
  LongText* vendor = nullptr;
  LongText* device_name = nullptr;
  int (*processes)(RocmProcess*, std::uint32_t*) = nullptr;
  int (*devices_of_process)(std::uint32_t, std::uint32_t*, std::uint32_t*) = nullptr;
  int (*version)(int, char*, std::uint32_t) = nullptr;
  int (*link_type)(std::uint32_t, std::uint32_t, std::uint64_t*, int*) = nullptr;
  int (*link_weight)(std::uint32_t, std::uint32_t, std::uint64_t*) = nullptr;
  int (*bandwidth)(std::uint32_t, std::uint32_t, std::uint64_t*, std::uint64_t*) = nullptr;
};

namespace {

constexpr int kVram = 0;
constexpr int kGtt = 2;
constexpr std::uint32_t kRocmEdge = 0;
constexpr std::uint32_t kRocmJunction = 1;
constexpr std::uint32_t kRocmMemorySensor = 2;
constexpr int kRocmCurrent = 0;
constexpr int kRocmCritical = 5;
constexpr int kRocmSystemClock = 0;
constexpr int kRocmMemoryClock = 4;
constexpr std::size_t kRocmTextBytes = 128;
constexpr std::size_t kFrequenciesMax = 33;
constexpr std::uint32_t kDevicesOfProcessMax = 256;
constexpr int kRocmPcie = 1;  // RSMI_IO_LINK_TYPE
constexpr int kRocmXgmi = 2;

template <typename Value, typename Function, typename... Arguments>
std::uint64_t ask_rocm(Function* function, std::uint32_t index, Arguments... arguments) {
  Value value{};
  if (function == nullptr || function(index, arguments..., &value) != 0) return kUnknown;
  return static_cast<std::uint64_t>(value);
}

template <std::size_t Words, typename Function>
void ask_rocm_text(Function* function, std::uint32_t index, std::uint64_t (&words)[Words]) {
  char text[kRocmTextBytes] = {};
  if (function != nullptr && function(index, text, sizeof text - 1) == 0) set_text(words, text);
}

struct Clocks {
  std::uint64_t current_hz = kUnknown;
  std::uint64_t least_hz = kUnknown;
  std::uint64_t most_hz = kUnknown;
};

// rsmi_frequencies_t: the number of frequencies, the current one, and the frequencies; since ROCm 6 behind a
// flag.
Clocks clocks_of(const RocmSmi& rocm, std::uint32_t index, int clock) {
  alignas(8) std::array<std::byte, 16 + 8 * kFrequenciesMax> memory{};
  Clocks clocks;
  if (rocm.clocks == nullptr || rocm.clocks(index, clock, memory.data()) != 0) return clocks;
  const std::size_t first = rocm.with_deep_sleep ? 4 : 0;
  std::uint32_t count = 0;
  std::uint32_t current = 0;
  std::memcpy(&count, memory.data() + first, sizeof count);
  std::memcpy(&current, memory.data() + first + 4, sizeof current);
  count = std::min<std::uint32_t>(count, kFrequenciesMax - 1);
  for (std::uint32_t each = 0; each < count; ++each) {
    std::uint64_t hz = 0;
    std::memcpy(&hz, memory.data() + (rocm.with_deep_sleep ? 16 : 8) + 8 * each, sizeof hz);
    if (each == current) clocks.current_hz = hz;
    clocks.least_hz = std::min(clocks.least_hz, hz);
    clocks.most_hz = each == 0 ? hz : std::max(clocks.most_hz, hz);
  }
  return clocks;
}

std::unique_ptr<RocmSmi> rocm_functions_of(const Library& library) {
  auto rocm = std::make_unique<RocmSmi>();
  library.find("rsmi_init", rocm->init);
  library.find("rsmi_num_monitor_devices", rocm->count);
  library.find("rsmi_dev_pci_id_get", rocm->pci);
  library.find("rsmi_dev_unique_id_get", rocm->unique_id);
  library.find("rsmi_dev_xgmi_hive_id_get", rocm->hive);
  library.find("rsmi_dev_pci_replay_counter_get", rocm->replays);
  library.find("rsmi_dev_busy_percent_get", rocm->busy);
  library.find("rsmi_dev_memory_busy_percent_get", rocm->memory_busy);
  library.find("rsmi_dev_drm_render_minor_get", rocm->minor);
  library.find("rsmi_topo_get_numa_node_number", rocm->numa);
  library.find("rsmi_dev_memory_total_get", rocm->memory_total);
  library.find("rsmi_dev_memory_usage_get", rocm->memory_used);
  library.find("rsmi_dev_temp_metric_get", rocm->temperature);
  library.find("rsmi_dev_volt_metric_get", rocm->voltage);
  library.find("rsmi_dev_power_ave_get", rocm->power_average);
  library.find("rsmi_dev_current_socket_power_get", rocm->power_socket);
  library.find("rsmi_dev_power_cap_get", rocm->cap);
  library.find("rsmi_dev_power_cap_default_get", rocm->cap_default);
  library.find("rsmi_dev_power_cap_range_get", rocm->cap_range);
  library.find("rsmi_dev_energy_count_get", rocm->energy);
  library.find("rsmi_dev_fan_rpms_get", rocm->fan_rpm);
  library.find("rsmi_dev_fan_speed_get", rocm->fan_level);
  library.find("rsmi_dev_fan_speed_max_get", rocm->fan_most);
  library.find("rsmi_dev_gpu_clk_freq_get", rocm->clocks);
  library.find("rsmi_dev_perf_level_get", rocm->level);
  library.find("rsmi_dev_vbios_version_get", rocm->vbios);
  library.find("rsmi_dev_serial_number_get", rocm->serial);
  library.find("rsmi_dev_vram_vendor_get", rocm->memory_vendor);
  library.find("rsmi_dev_vendor_name_get", rocm->vendor);
  library.find("rsmi_dev_name_get", rocm->device_name);
  library.find("rsmi_compute_process_info_get", rocm->processes);
  library.find("rsmi_compute_process_gpus_get", rocm->devices_of_process);
  library.find("rsmi_version_str_get", rocm->version);
  library.find("rsmi_topo_get_link_type", rocm->link_type);
  library.find("rsmi_topo_get_link_weight", rocm->link_weight);
  library.find("rsmi_minmax_bandwidth_get", rocm->bandwidth);
  // ROCm 6.0's header was the first with this function, and with the longer lists. The name does not tell:
  // Debian 13 calls ROCm 6's library .so.1, as Debian 12 calls that of ROCm 5.2.
  const void* activity = nullptr;
  library.find("rsmi_dev_activity_metric_get", activity);
  rocm->with_deep_sleep = activity != nullptr;
  return rocm;
}

// rsmi_dev_pci_id_get: domain, bus, device and function in one number.
std::string pci_text(std::uint64_t id) {
  char text[40];
  std::snprintf(text, sizeof text, "%04llx:%02x:%02x.%x", static_cast<unsigned long long>(id >> 32),
                static_cast<unsigned>(id >> 8 & 0xff), static_cast<unsigned>(id >> 3 & 0x1f),
                static_cast<unsigned>(id & 7));
  return text;
}

}  // namespace

AmdRuntime::AmdRuntime(std::unique_ptr<RocmSmi> rocm) : rocm_(std::move(rocm)) {}
AmdRuntime::~AmdRuntime() = default;

Result<std::unique_ptr<Runtime>> AmdRuntime::open(const char* file) {
  Result<Library> library =
      file != nullptr ? Library::open({file})
                      : Library::open({"librocm_smi64.so.7", "/opt/rocm/lib/librocm_smi64.so.7",
                                       "librocm_smi64.so.6", "librocm_smi64.so.5", "librocm_smi64.so.1"});
  if (!library) return library.status();
  std::unique_ptr<RocmSmi> rocm = rocm_functions_of(*library);
  if (rocm->init == nullptr || rocm->count == nullptr || rocm->pci == nullptr)
    return Status(Code::kUnavailable, library->name() + " is no librocm_smi64");
  if (const int failed = rocm->init(0); failed != 0)
    return Status(Code::kUnavailable, "rsmi_init failed with " + std::to_string(failed));
  return std::unique_ptr<Runtime>(new AmdRuntime(std::move(rocm)));
}

Status AmdRuntime::find(const Target& target, std::uint32_t& index) const {
  std::uint32_t count = 0;
  if (rocm_->count(&count) != 0) count = 0;
  for (index = 0; index < count; ++index) {
    const std::uint64_t id = ask_rocm<std::uint64_t>(rocm_->pci, index);
    if (id != kUnknown && pci_text(id) == target.pci) return Status::ok();
  }
  return {Code::kUnavailable, "librocm_smi64 has no device " + target.pci};
}

std::vector<std::string> AmdRuntime::addresses() const {
  std::vector<std::string> found;
  std::uint32_t count = 0;
  if (rocm_->count(&count) != 0) count = 0;
  for (std::uint32_t index = 0; index < std::min<std::uint32_t>(count, protocol::kDevicesMax); ++index)
    if (const std::uint64_t id = ask_rocm<std::uint64_t>(rocm_->pci, index); id != kUnknown)
      found.push_back(pci_text(id));
  return found;
}

std::vector<Process> AmdRuntime::processes(const Target& target) const {
  std::vector<Process> found;
  std::uint32_t index = 0;
  if (rocm_->processes == nullptr || rocm_->devices_of_process == nullptr || !find(target, index))
    return found;
  std::vector<RocmProcess> listed(kProcessesMax);
  auto count = static_cast<std::uint32_t>(listed.size());
  if (rocm_->processes(listed.data(), &count) != 0) return found;
  listed.resize(std::min<std::size_t>(count, listed.size()));
  for (const RocmProcess& process : listed) {
    std::array<std::uint32_t, kDevicesOfProcessMax> devices{};
    std::uint32_t used = kDevicesOfProcessMax;
    if (rocm_->devices_of_process(process.pid, devices.data(), &used) != 0) continue;
    const auto end = devices.begin() + std::min(used, kDevicesOfProcessMax);
    if (std::find(devices.begin(), end, index) != end)
      found.push_back({process.pid, process.memory_bytes, std::min(process.compute_percent, 100u)});
  }
  return found;
}

void AmdRuntime::describe_limits(std::uint32_t index, Facts& facts) const {
  facts.power_cap_default_uw = ask_rocm<std::uint64_t>(rocm_->cap_default, index);
  std::uint64_t most = 0;
  std::uint64_t least = 0;
  if (rocm_->cap_range != nullptr && rocm_->cap_range(index, 0, &most, &least) == 0) {
    facts.power_cap_most_uw = most;
    facts.power_cap_least_uw = least;
  }
  const Clocks core = clocks_of(*rocm_, index, kRocmSystemClock);
  facts.core_clock_least_hz = core.least_hz;
  facts.core_clock_most_hz = core.most_hz;
  const Clocks memory = clocks_of(*rocm_, index, kRocmMemoryClock);
  facts.memory_clock_least_hz = memory.least_hz;
  facts.memory_clock_most_hz = memory.most_hz;
  facts.fan_most = ask_rocm<std::uint64_t>(rocm_->fan_most, index, 0u);
}

Status AmdRuntime::describe(const Target& target, Facts& facts) {
  std::uint32_t index = 0;
  TF_RETURN_IF_ERROR(find(target, index));
  describe_pci("/", target.pci, facts);
  const std::uint64_t unique_id = ask_rocm<std::uint64_t>(rocm_->unique_id, index);
  if (unique_id != kUnknown) facts.unique_id = unique_id;
  facts.xgmi_hive_id = ask_rocm<std::uint64_t>(rocm_->hive, index);
  facts.drm_render_minor = ask_rocm<std::uint32_t>(rocm_->minor, index);
  const std::uint64_t node = ask_rocm<std::uint32_t>(rocm_->numa, index);
  if (node != kUnknown) facts.numa_node = node;
  if (facts.name[0] == 0) ask_rocm_text(rocm_->device_name, index, facts.name);  // HIP's comes first
  ask_rocm_text(rocm_->vendor, index, facts.vendor);
  ask_rocm_text(rocm_->vbios, index, facts.firmware);
  ask_rocm_text(rocm_->serial, index, facts.serial);
  ask_rocm_text(rocm_->memory_vendor, index, facts.memory_vendor);
  char version[kRocmTextBytes] = {};
  if (rocm_->version != nullptr && rocm_->version(0, version, sizeof version - 1) == 0)
    set_text(facts.driver, version);
  describe_limits(index, facts);
  return Status::ok();
}

void AmdRuntime::sample_power(std::uint32_t index, Sample& sample) const {
  sample.power_uw = ask_rocm<std::uint64_t>(rocm_->power_socket, index);
  if (sample.power_uw == kUnknown) sample.power_uw = ask_rocm<std::uint64_t>(rocm_->power_average, index, 0u);
  sample.power_cap_uw = ask_rocm<std::uint64_t>(rocm_->cap, index, 0u);
  std::uint64_t count = 0;
  float unit_uj = 0;
  std::uint64_t when = 0;
  if (rocm_->energy != nullptr && rocm_->energy(index, &count, &unit_uj, &when) == 0)
    sample.energy_uj = static_cast<std::uint64_t>(static_cast<double>(count) * static_cast<double>(unit_uj));
}

Status AmdRuntime::sample(const Target& target, Sample& sample) {
  std::uint32_t index = 0;
  TF_RETURN_IF_ERROR(find(target, index));
  sample.core_busy_percent = ask_rocm<std::uint32_t>(rocm_->busy, index);
  sample.memory_busy_percent = ask_rocm<std::uint32_t>(rocm_->memory_busy, index);
  sample.memory_used_bytes = ask_rocm<std::uint64_t>(rocm_->memory_used, index, kVram);
  sample.host_memory_used_bytes = ask_rocm<std::uint64_t>(rocm_->memory_used, index, kGtt);
  sample.host_memory_total_bytes = ask_rocm<std::uint64_t>(rocm_->memory_total, index, kGtt);
  sample.edge_temperature_mc = ask_rocm<std::int64_t>(rocm_->temperature, index, kRocmEdge, kRocmCurrent);
  sample.hotspot_temperature_mc =
      ask_rocm<std::int64_t>(rocm_->temperature, index, kRocmJunction, kRocmCurrent);
  sample.memory_temperature_mc =
      ask_rocm<std::int64_t>(rocm_->temperature, index, kRocmMemorySensor, kRocmCurrent);
  sample.critical_temperature_mc =
      ask_rocm<std::int64_t>(rocm_->temperature, index, kRocmJunction, kRocmCritical);
  sample_power(index, sample);
  sample.core_clock_hz = clocks_of(*rocm_, index, kRocmSystemClock).current_hz;
  sample.memory_clock_hz = clocks_of(*rocm_, index, kRocmMemoryClock).current_hz;
  sample.fan_rpm = ask_rocm<std::int64_t>(rocm_->fan_rpm, index, 0u);
  sample.fan_level = ask_rocm<std::int64_t>(rocm_->fan_level, index, 0u);
  sample.core_voltage_mv = ask_rocm<std::int64_t>(rocm_->voltage, index, 0, kRocmCurrent);
  sample.pcie_replays = ask_rocm<std::uint64_t>(rocm_->replays, index);
  sample.performance_level = ask_rocm<int>(rocm_->level, index);
  sample_pci("/", target.pci, sample);
  return Status::ok();
}

// Its bandwidths are of links over xGMI only; they are 0 where the driver does not know them.
Status AmdRuntime::find_link(const Target& from, const Target& to, Link& link) {
  std::uint32_t one = 0;
  std::uint32_t other = 0;
  TF_RETURN_IF_ERROR(find(from, one));
  TF_RETURN_IF_ERROR(find(to, other));
  link.weight = ask_rocm<std::uint64_t>(rocm_->link_weight, one, other);
  std::uint64_t hops = 0;
  int type = 0;
  if (rocm_->link_type != nullptr && rocm_->link_type(one, other, &hops, &type) == 0) {
    link.hops = hops;
    if (type == kRocmPcie) link.kind = static_cast<std::uint64_t>(LinkKind::kPcie);
    if (type == kRocmXgmi) link.kind = static_cast<std::uint64_t>(LinkKind::kXgmi);
  }
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  if (rocm_->bandwidth == nullptr || rocm_->bandwidth(one, other, &least, &most) != 0 || most == 0)
    return Status::ok();
  link.bandwidth_least_mb_per_s = least;
  link.bandwidth_most_mb_per_s = most;
  return Status::ok();
}

}  // namespace tf::smi
