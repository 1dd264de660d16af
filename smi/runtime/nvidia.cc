// SPDX-License-Identifier: Apache-2.0
// Asks NVML.
#include "smi/runtime/nvidia.h"

#include <utility>

#include "smi/runtime/files.h"
#include "smi/runtime/library.h"

namespace tf::smi {

// NVML's types and numbers, as its reference has them.
namespace {

using NvmlDevice = void*;
using nvml_result = int;  // 0: success
constexpr unsigned kGpuTemperature = 0;
constexpr unsigned kSlowdownThreshold = 1;
constexpr unsigned kNvmlGraphicsClock = 0;
constexpr unsigned kNvmlMemoryClock = 2;
constexpr unsigned kSentCounter = 0;
constexpr unsigned kReceivedCounter = 1;
constexpr unsigned kCorrected = 0;
constexpr unsigned kUncorrected = 1;
constexpr unsigned kAggregate = 1;
constexpr unsigned kNvmlTextBytes = 96;
constexpr unsigned kAcrossNvlink = 2;   // nvmlGpuP2PCapsIndex_t
constexpr unsigned kWithinNode = 40;    // nvmlGpuTopologyLevel_t: one NUMA node of the host, or nearer
constexpr unsigned kBetweenNodes = 50;  // likewise
// As amdgpu has them: of a hop over xGMI, of a hop over PCI Express, and, in rocm-smi's sum, of the way
// between two sockets.
constexpr std::uint64_t kWeightOfFabric = 15;
constexpr std::uint64_t kWeightOfPcie = 20;
constexpr std::uint64_t kWeightOfSockets = 32;

}  // namespace

struct Nvml {
  struct Utilization {
    unsigned gpu = 0;
    unsigned memory = 0;
  };
  struct Memory {
    unsigned long long total = 0;
    unsigned long long free = 0;
    unsigned long long used = 0;
  };
  using OfDevice = nvml_result(NvmlDevice, unsigned*);
  using Text = nvml_result(NvmlDevice, char*, unsigned);

  nvml_result (*init)() = nullptr;
  nvml_result (*by_pci)(const char*, NvmlDevice*) = nullptr;
  nvml_result (*utilization)(NvmlDevice, Utilization*) = nullptr;
  nvml_result (*memory)(NvmlDevice, Memory*) = nullptr;
  nvml_result (*temperature)(NvmlDevice, unsigned, unsigned*) = nullptr;
  nvml_result (*threshold)(NvmlDevice, unsigned, unsigned*) = nullptr;
  OfDevice* power = nullptr;
  OfDevice* cap = nullptr;
  OfDevice* default_cap = nullptr;
  nvml_result (*cap_range)(NvmlDevice, unsigned*, unsigned*) = nullptr;
  nvml_result (*energy)(NvmlDevice, unsigned long long*) = nullptr;
  nvml_result (*clock)(NvmlDevice, unsigned, unsigned*) = nullptr;
  nvml_result (*clock_most)(NvmlDevice, unsigned, unsigned*) = nullptr;
  OfDevice* fan = nullptr;
  nvml_result (*throughput)(NvmlDevice, unsigned, unsigned*) = nullptr;
  OfDevice* replays = nullptr;
  nvml_result (*errors)(NvmlDevice, unsigned, unsigned, unsigned long long*) = nullptr;
  Text* vbios = nullptr;
  Text* serial = nullptr;
  OfDevice* minor = nullptr;
  nvml_result (*driver)(char*, unsigned) = nullptr;
  nvml_result (*peer_status)(NvmlDevice, NvmlDevice, unsigned, unsigned*) = nullptr;
  nvml_result (*common_ancestor)(NvmlDevice, NvmlDevice, unsigned*) = nullptr;
};

namespace {

// The value that `function` gives, times `unit`; unknown if it is missing or fails.
template <typename Value, typename Function, typename... Arguments>
std::uint64_t ask(std::uint64_t unit, Function* function, Arguments... arguments) {
  Value value{};
  if (function == nullptr || function(arguments..., &value) != 0) return kUnknown;
  return static_cast<std::uint64_t>(value) * unit;
}

template <std::size_t Words>
void ask_text(Nvml::Text* function, NvmlDevice device, std::uint64_t (&words)[Words]) {
  char text[kNvmlTextBytes] = {};
  if (function != nullptr && function(device, text, sizeof text - 1) == 0) set_text(words, text);
}

std::unique_ptr<Nvml> functions_of(const Library& library) {
  auto nvml = std::make_unique<Nvml>();
  library.find("nvmlInit_v2", nvml->init);
  library.find("nvmlDeviceGetHandleByPciBusId_v2", nvml->by_pci);
  library.find("nvmlDeviceGetUtilizationRates", nvml->utilization);
  library.find("nvmlDeviceGetMemoryInfo", nvml->memory);
  library.find("nvmlDeviceGetTemperature", nvml->temperature);
  library.find("nvmlDeviceGetTemperatureThreshold", nvml->threshold);
  library.find("nvmlDeviceGetPowerUsage", nvml->power);
  library.find("nvmlDeviceGetPowerManagementLimit", nvml->cap);
  library.find("nvmlDeviceGetPowerManagementDefaultLimit", nvml->default_cap);
  library.find("nvmlDeviceGetPowerManagementLimitConstraints", nvml->cap_range);
  library.find("nvmlDeviceGetTotalEnergyConsumption", nvml->energy);
  library.find("nvmlDeviceGetClockInfo", nvml->clock);
  library.find("nvmlDeviceGetMaxClockInfo", nvml->clock_most);
  library.find("nvmlDeviceGetFanSpeed", nvml->fan);
  library.find("nvmlDeviceGetPcieThroughput", nvml->throughput);
  library.find("nvmlDeviceGetPcieReplayCounter", nvml->replays);
  library.find("nvmlDeviceGetTotalEccErrors", nvml->errors);
  library.find("nvmlDeviceGetVbiosVersion", nvml->vbios);
  library.find("nvmlDeviceGetSerial", nvml->serial);
  library.find("nvmlDeviceGetMinorNumber", nvml->minor);
  library.find("nvmlSystemGetDriverVersion", nvml->driver);
  library.find("nvmlDeviceGetP2PStatus", nvml->peer_status);
  library.find("nvmlDeviceGetTopologyCommonAncestor", nvml->common_ancestor);
  return nvml;
}

}  // namespace

NvidiaRuntime::NvidiaRuntime(std::unique_ptr<Nvml> nvml) : nvml_(std::move(nvml)) {}
NvidiaRuntime::~NvidiaRuntime() = default;

Result<std::unique_ptr<Runtime>> NvidiaRuntime::open(const char* file) {
  Result<Library> library =
      file != nullptr ? Library::open({file}) : Library::open({"libnvidia-ml.so.1", "libnvidia-ml.so"});
  if (!library) return library.status();
  std::unique_ptr<Nvml> nvml = functions_of(*library);
  if (nvml->init == nullptr || nvml->by_pci == nullptr)
    return Status(Code::kUnavailable, library->name() + " is no NVML of driver 450 or later");
  if (const nvml_result failed = nvml->init(); failed != 0)
    return Status(Code::kUnavailable, "nvmlInit failed with " + std::to_string(failed));
  return std::unique_ptr<Runtime>(new NvidiaRuntime(std::move(nvml)));
}

Status NvidiaRuntime::find(const Target& target, void*& device) const {
  const nvml_result failed = nvml_->by_pci(target.pci.c_str(), &device);
  if (failed == 0) return Status::ok();
  return {Code::kUnavailable, "NVML has no device " + target.pci + " (" + std::to_string(failed) + ")"};
}

Status NvidiaRuntime::describe(const Target& target, Facts& facts) {
  NvmlDevice device = nullptr;
  TF_RETURN_IF_ERROR(find(target, device));
  describe_pci("/", target.pci, facts);
  set_text(facts.vendor, "NVIDIA Corporation");
  ask_text(nvml_->vbios, device, facts.firmware);
  ask_text(nvml_->serial, device, facts.serial);
  char version[kNvmlTextBytes] = {};
  if (nvml_->driver != nullptr && nvml_->driver(version, sizeof version - 1) == 0)
    set_text(facts.driver, version);
  facts.power_cap_default_uw = ask<unsigned>(1000, nvml_->default_cap, device);
  unsigned least_mw = 0;
  unsigned most_mw = 0;
  if (nvml_->cap_range != nullptr && nvml_->cap_range(device, &least_mw, &most_mw) == 0) {
    facts.power_cap_least_uw = std::uint64_t{least_mw} * 1000;
    facts.power_cap_most_uw = std::uint64_t{most_mw} * 1000;
  }
  facts.core_clock_most_hz = ask<unsigned>(1'000'000, nvml_->clock_most, device, kNvmlGraphicsClock);
  facts.memory_clock_most_hz = ask<unsigned>(1'000'000, nvml_->clock_most, device, kNvmlMemoryClock);
  facts.fan_most = 100;  // NVML speaks of percent
  return Status::ok();
}

void NvidiaRuntime::sample_load(void* device, Sample& sample) const {
  Nvml::Utilization use;
  if (nvml_->utilization != nullptr && nvml_->utilization(device, &use) == 0) {
    sample.core_busy_percent = use.gpu;
    sample.memory_busy_percent = use.memory;
  }
  Nvml::Memory memory;
  if (nvml_->memory != nullptr && nvml_->memory(device, &memory) == 0) sample.memory_used_bytes = memory.used;
  sample.core_clock_hz = ask<unsigned>(1'000'000, nvml_->clock, device, kNvmlGraphicsClock);
  sample.memory_clock_hz = ask<unsigned>(1'000'000, nvml_->clock, device, kNvmlMemoryClock);
}

void NvidiaRuntime::sample_link(void* device, Sample& sample) const {
  sample.pcie_sent_bytes_per_s = ask<unsigned>(1024, nvml_->throughput, device, kSentCounter);
  sample.pcie_received_bytes_per_s = ask<unsigned>(1024, nvml_->throughput, device, kReceivedCounter);
  sample.pcie_replays = ask<unsigned>(1, nvml_->replays, device);
}

Status NvidiaRuntime::sample(const Target& target, Sample& sample) {
  NvmlDevice device = nullptr;
  TF_RETURN_IF_ERROR(find(target, device));
  sample_load(device, sample);
  sample_link(device, sample);
  sample_pci("/", target.pci, sample);
  sample.edge_temperature_mc = ask<unsigned>(1000, nvml_->temperature, device, kGpuTemperature);
  sample.critical_temperature_mc = ask<unsigned>(1000, nvml_->threshold, device, kSlowdownThreshold);
  sample.power_uw = ask<unsigned>(1000, nvml_->power, device);
  sample.power_cap_uw = ask<unsigned>(1000, nvml_->cap, device);
  sample.energy_uj = ask<unsigned long long>(1000, nvml_->energy, device);
  sample.fan_level = ask<unsigned>(1, nvml_->fan, device);
  sample.errors_corrected = ask<unsigned long long>(1, nvml_->errors, device, kCorrected, kAggregate);
  sample.errors_uncorrected = ask<unsigned long long>(1, nvml_->errors, device, kUncorrected, kAggregate);
  return Status::ok();
}

// Two devices without NVLink meet in the host: one hop of each.
Status NvidiaRuntime::find_link(const Target& from, const Target& to, Link& link) {
  NvmlDevice one = nullptr;
  NvmlDevice other = nullptr;
  TF_RETURN_IF_ERROR(find(from, one));
  TF_RETURN_IF_ERROR(find(to, other));
  if (ask<unsigned>(1, nvml_->peer_status, one, other, kAcrossNvlink) == 0) {
    link.kind = static_cast<std::uint64_t>(LinkKind::kNvlink);
    link.hops = 1;
    link.weight = kWeightOfFabric;
    return Status::ok();
  }
  const std::uint64_t level = ask<unsigned>(1, nvml_->common_ancestor, one, other);
  if (level > kBetweenNodes) return Status::ok();
  link.hops = level <= kWithinNode ? 2 : 3;
  link.weight = 2 * kWeightOfPcie + (level <= kWithinNode ? 0 : kWeightOfSockets);
  return Status::ok();
}

}  // namespace tf::smi
