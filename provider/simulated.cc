// SPDX-License-Identifier: Apache-2.0
// The CPU runtime's devices under a name that says what they are. Values are the host's.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "hipcore/devices/visible_devices.h"
#include "provider/devices.h"
#include "provider/sessions.h"
#include "smi/runtime/host.h"
#include "smi/runtime/library.h"

namespace tf::provider {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNameBytesMax = 40;  // the number, and a partition's, follow
constexpr double kFlopsPerCycle = 16;      // of a core: fp32, eight lanes, a multiplication and an addition

struct CpuRuntime {
  int (*count)(int*) = nullptr;
  int (*memory)(std::size_t*, int) = nullptr;
  int (*uuid)(std::array<std::uint8_t, 16>*, int) = nullptr;
};

std::string own_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&open_simulated), &info) == 0 || info.dli_fname == nullptr)
    return ".";
  return fs::path(info.dli_fname).parent_path().string();
}

Result<CpuRuntime> open_cpu_runtime() {
  const std::string folder = own_folder().empty() ? "." : own_folder();
  const std::string beside = folder + "/libhip_cpu.so";
  const std::string above = folder + "/../libhip_cpu.so";
  Result<smi::Library> library = smi::Library::open({beside.c_str(), above.c_str(), "libhip_cpu.so"});
  if (!library) return library.status();
  CpuRuntime runtime;
  library->find("hipGetDeviceCount", runtime.count);
  library->find("hipDeviceTotalMem", runtime.memory);
  library->find("hipDeviceGetUuid", runtime.uuid);
  if (runtime.count == nullptr || runtime.memory == nullptr || runtime.uuid == nullptr)
    return Status(Code::kUnavailable, library->name() + " is no HIP runtime");
  return runtime;
}

// A label of DNS: small letters, digits, hyphens in between.
bool is_label(const std::string& name) {
  const auto fits = [](char one) {
    return (one >= 'a' && one <= 'z') || (one >= '0' && one <= '9') || one == '-';
  };
  return !name.empty() && name.size() <= kNameBytesMax && std::ranges::all_of(name, fits) &&
         name.front() != '-' && name.back() != '-';
}

Device device_of(const std::string& name, int index, std::uint64_t memory, const std::string& visible,
                 const smi::Facts& facts, std::uint64_t cores) {
  Device device;
  device.uuid = name + "-" + std::to_string(index);
  device.visible = visible;
  device.vendor = "Unknown";
  device.model = "Simulated GPU (hip-remote CPU runtime)";
  device.driver = smi::text_of(facts.driver);
  device.firmware = smi::text_of(facts.firmware);
  device.target = {"", "cpu"};
  device.number = static_cast<std::uint64_t>(index);
  device.memory_bytes = memory;
  device.compute_units = cores;
  const double hz =
      smi::is_known(facts.core_clock_most_hz) ? static_cast<double>(facts.core_clock_most_hz) : 1e9;
  device.tflops = static_cast<double>(cores) * hz * kFlopsPerCycle / 1e12;
  device.simulated = true;
  device.properties = {{"simulated", "true"}, {"processor", smi::text_of(facts.vendor)}};
  return device;
}

class Simulated final : public Source {
 public:
  Simulated(std::unique_ptr<smi::HostRuntime> host, std::vector<Device> devices)
      : host_(std::move(host)), devices_(std::move(devices)) {}

  const std::vector<Device>& devices() const override { return devices_; }
  Status sample(const Device& device, smi::Sample& sample) override {
    TF_RETURN_IF_ERROR(host_->sample(device.target, sample));
    sample.memory_used_bytes = 0;
    for (const smi::Process& process : processes(device)) sample.memory_used_bytes += process.memory_bytes;
    return Status::ok();
  }
  // Nothing outside of a session says which of several devices it uses: all count for the first one.
  std::vector<smi::Process> processes(const Device& device) override {
    return device.number == 0 ? sessions_.list() : std::vector<smi::Process>();
  }

 private:
  const std::unique_ptr<smi::HostRuntime> host_;
  const std::vector<Device> devices_;
  Sessions sessions_;
};

}  // namespace

Result<std::unique_ptr<Source>> open_simulated(const std::string& name) {
  if (!is_label(name))
    return Status(Code::kInvalidArgument,
                  "TF_PROVIDER_SIMULATED has to be a name of small letters, digits and hyphens, 40 at most");
  Result<CpuRuntime> runtime = open_cpu_runtime();
  if (!runtime) return runtime.status();
  int count = 0;
  if (runtime->count(&count) != 0 || count <= 0)
    return Status(Code::kUnavailable, "the CPU runtime shows no device");
  auto host = std::make_unique<smi::HostRuntime>();
  smi::Facts facts = smi::unknown_facts();
  TF_RETURN_IF_ERROR(host->describe({}, facts));
  const std::uint64_t cores = std::max(1u, usable_processors() / static_cast<unsigned>(count));
  std::vector<Device> devices;
  for (int index = 0; index < count; ++index) {
    std::size_t memory = 0;
    std::array<std::uint8_t, 16> uuid{};
    if (runtime->memory(&memory, index) != 0 || runtime->uuid(&uuid, index) != 0)
      return Status(Code::kUnavailable, "the CPU runtime does not describe its devices");
    devices.push_back(device_of(name, index, memory, hipcore::uuid_text(uuid), facts, cores));
  }
  return std::unique_ptr<Source>(std::make_unique<Simulated>(std::move(host), std::move(devices)));
}

Result<std::unique_ptr<Source>> open_source() {
  const char* const name = std::getenv("TF_PROVIDER_SIMULATED");
  return name != nullptr && *name != '\0' ? open_simulated(name) : open_gpus(nullptr, "/");
}

}  // namespace tf::provider
