// SPDX-License-Identifier: Apache-2.0
// GPUs: numbers and states from librocm_smi64, shapes and links from the kernel's compute driver.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string_view>

#include "provider/devices.h"
#include "smi/runtime/amd.h"
#include "smi/runtime/files.h"
#include "smi/runtime/kfd.h"

namespace tf::provider {
namespace {

using smi::is_known;

struct Rate {
  std::string_view architecture;
  double flops;
};
// Of AMD's data sheets: peak fp16 divided by compute units and peak clock. The first that a name begins with.
constexpr std::array kRates = {Rate{"gfx950", 4096}, Rate{"gfx94", 2048}, Rate{"gfx90a", 1024},
                               Rate{"gfx908", 1024}, Rate{"gfx90", 256},  Rate{"gfx12", 1024},
                               Rate{"gfx11", 512},   Rate{"gfx10", 256}};
constexpr double kLeastRate = 128;  // 64 lanes, a multiplication and an addition

// MT/s of a lane, by the generation of PCI Express.
constexpr std::array<std::uint64_t, 6> kPcieSpeeds = {2500, 5000, 8000, 16'000, 32'000, 64'000};

std::uint32_t generation_of(std::uint64_t speed_mtps) {
  if (!is_known(speed_mtps)) return 0;
  const auto found = std::ranges::find_if(kPcieSpeeds, [&](auto speed) { return speed >= speed_mtps; });
  return found == kPcieSpeeds.end() ? 0 : static_cast<std::uint32_t>(found - kPcieSpeeds.begin() + 1);
}

// As ROCr and HIP call it. Older GPUs have no number of their own: then by host and address, which only
// Kubernetes understands.
std::string uuid_of(std::uint64_t unique_id, const std::string& pci, const std::string& root) {
  char text[32];
  if (unique_id != 0 && is_known(unique_id)) {
    std::snprintf(text, sizeof text, "GPU-%016llx", static_cast<unsigned long long>(unique_id));
    return text;
  }
  std::string place = pci;
  std::ranges::replace(place, ':', '-');
  std::ranges::replace(place, '.', '-');
  const std::string host = smi::read_text(std::filesystem::path(root) / "etc/machine-id").substr(0, 12);
  return "amd-" + (host.empty() ? std::string("host") : host) + "-" + place;
}

std::uint64_t known_or(std::uint64_t value, std::uint64_t other) { return is_known(value) ? value : other; }

Device device_of(const std::string& pci, const smi::Facts& facts, const smi::KfdGpu& gpu,
                 const std::string& root) {
  Device device;
  const std::uint64_t unique_id = gpu.unique_id != 0 ? gpu.unique_id : facts.unique_id;
  device.uuid = uuid_of(unique_id, pci, root);
  device.visible = device.uuid.starts_with("GPU-") ? device.uuid : "";
  device.vendor = "AMD";
  device.model = smi::text_of(facts.name);
  if (device.model.empty())
    device.model = gpu.architecture.empty() ? "AMD GPU" : "AMD GPU " + gpu.architecture;
  device.driver = smi::text_of(facts.driver);
  device.firmware = smi::text_of(facts.firmware);
  device.target = {pci, gpu.architecture};
  device.number = gpu.node;
  const std::uint64_t minor = known_or(facts.drm_render_minor, gpu.render_minor);
  if (minor != 0) device.node = "/dev/dri/renderD" + std::to_string(minor);
  if (is_known(facts.numa_node) && facts.numa_node < 4096)
    device.numa_node = static_cast<int>(facts.numa_node);
  device.memory_bytes = known_or(facts.memory_total_bytes, gpu.memory_bytes);
  device.compute_units = gpu.compute_units;
  const std::uint64_t hz = known_or(facts.core_clock_most_hz, gpu.clock_mhz * 1'000'000);
  device.tflops = static_cast<double>(device.compute_units) * static_cast<double>(hz) *
                  flops_per_cycle(gpu.architecture) / 1e12;
  device.pcie_generation = generation_of(facts.pcie_speed_max_mtps);
  device.pcie_width = static_cast<std::uint32_t>(known_or(facts.pcie_width_max, 0));
  device.linked = gpu.xgmi;
  device.properties = {{"architecture", gpu.architecture},
                       {"pciAddress", pci},
                       {"uuidSource", device.visible.empty() ? "address" : "hardware"}};
  if (is_known(facts.xgmi_hive_id) && facts.xgmi_hive_id != 0)
    device.properties.emplace_back("xgmiHive", std::to_string(facts.xgmi_hive_id));
  return device;
}

class Gpus final : public Source {
 public:
  Gpus(std::unique_ptr<smi::Runtime> runtime, std::vector<Device> devices)
      : runtime_(std::move(runtime)), devices_(std::move(devices)) {}

  const std::vector<Device>& devices() const override { return devices_; }
  Status sample(const Device& device, smi::Sample& sample) override {
    return runtime_->sample(device.target, sample);
  }
  std::vector<smi::Process> processes(const Device& device) override {
    return runtime_->processes(device.target);
  }

 private:
  const std::unique_ptr<smi::Runtime> runtime_;
  const std::vector<Device> devices_;
};

}  // namespace

double flops_per_cycle(const std::string& architecture) {
  const auto found = std::ranges::find_if(
      kRates, [&](const Rate& rate) { return architecture.starts_with(rate.architecture); });
  return found == kRates.end() ? kLeastRate : found->flops;
}

Result<std::unique_ptr<Source>> open_gpus(const char* library, const std::string& root) {
  Result<std::unique_ptr<smi::Runtime>> runtime = smi::AmdRuntime::open(library);
  if (!runtime) return runtime.status();
  const std::vector<smi::KfdGpu> gpus = smi::read_kfd(root);
  std::vector<Device> devices;
  for (const std::string& pci : (*runtime)->addresses()) {
    smi::Facts facts = smi::unknown_facts();
    TF_RETURN_IF_ERROR((*runtime)->describe({pci, ""}, facts));
    const auto gpu = std::ranges::find(gpus, pci, &smi::KfdGpu::pci);
    devices.push_back(device_of(pci, facts, gpu != gpus.end() ? *gpu : smi::KfdGpu(), root));
  }
  return std::unique_ptr<Source>(std::make_unique<Gpus>(std::move(*runtime), std::move(devices)));
}

}  // namespace tf::provider
