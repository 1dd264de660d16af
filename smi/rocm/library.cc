// SPDX-License-Identifier: Apache-2.0
// The library itself: sessions, versions, texts of codes, and who uses the devices.
#include <algorithm>
#include <iterator>

#include "smi/gen/rocm/custom.h"
#include "smi/rocm/layout.h"
#include "smi/rocm/support.h"
#include "smi/vendor/processes.h"

namespace tf::rsmi {

const char* version_text() { return version().build; }

namespace custom {
namespace {

struct CodeText {
  rsmi_status_t code;
  const char* text;
};
constexpr CodeText kTexts[] = {
    {0, "success"},
    {1, "an argument is not valid"},
    {2, "not supported by this device, or not remotely"},
    {3, "a file cannot be read"},
    {4, "permission denied: a tenant of a worker may only read"},
    {5, "out of memory or of another resource"},
    {6, "an exception inside the library"},
    {7, "the input is out of range"},
    {8, "not initialized: there is no session with a worker"},
    {9, "not implemented yet"},
    {10, "not found"},
    {11, "the buffer is too small"},
    {12, "interrupted"},
    {13, "data of an unexpected size"},
    {14, "no data"},
    {15, "unexpected data"},
    {16, "busy"},
    {17, "too many references"},
    {18, "the setting is not available"},
    {19, "the driver could not be restarted"},
    {kUnknownError, "unknown error"},
};

rsmi_process_info_t info_of(const smi::Process& process) {
  rsmi_process_info_t info{};
  info.process_id = process.pid;
  info.vram_usage = process.memory();
  return info;
}

}  // namespace

rsmi_status_t init(std::uint64_t) { return smi::init().is_ok() ? kSuccess : kInitError; }

rsmi_status_t shut_down() { return smi::shut_down().is_ok() ? kSuccess : kInitError; }

rsmi_status_t status_string(rsmi_status_t status, const char** status_string) {
  if (status_string == nullptr) return kInvalidArguments;
  const auto* const found =
      std::ranges::find_if(kTexts, [&](const CodeText& known) { return known.code == status; });
  *status_string = found != std::end(kTexts) ? found->text : "unknown error";
  return found != std::end(kTexts) ? kSuccess : kInvalidArguments;
}

rsmi_status_t version_get(rsmi_version_t* version) {
  if (version == nullptr) return kInvalidArguments;
  *version = rsmi::version();
  return kSuccess;
}

// The driver is the only component. rocm-smi asks before it initializes, which the vendor's library allows.
rsmi_status_t version_str_get(rsmi_sw_component_t component, char* ver_str, std::uint32_t len) {
  if (component != 0 || ver_str == nullptr) return kInvalidArguments;
  smi::Facts facts;
  rsmi_status_t code = Answers::read_facts(0, facts);
  if (code == kInitError && smi::init().is_ok()) {
    code = Answers::read_facts(0, facts);
    static_cast<void>(smi::shut_down());
  }
  if (code != kSuccess) return code;
  const std::string version = smi::text_of(facts.driver);
  return version.empty() ? rsmi_status_t{kNotSupported} : Answers::write_text(version, ver_str, len);
}

rsmi_status_t num_monitor_devices(std::uint32_t* num_devices) {
  if (num_devices == nullptr) return kInvalidArguments;
  return Answers::count_devices(*num_devices);
}

rsmi_status_t compute_process_info_get(rsmi_process_info_t* procs, std::uint32_t* num_items) {
  return smi::write_processes<Vendor>(&info_of, procs, num_items);
}

rsmi_status_t compute_process_info_by_pid_get(std::uint32_t pid, rsmi_process_info_t* proc) {
  if (proc == nullptr) return kInvalidArguments;
  smi::Process process;
  const rsmi_status_t code = smi::find_process<Vendor>(pid, process);
  if (code == kSuccess) *proc = info_of(process);
  return code;
}

rsmi_status_t compute_process_info_by_device_get(std::uint32_t pid, std::uint32_t dv_ind,
                                                 rsmi_process_info_t* proc) {
  int device = 0;
  if (proc == nullptr) return kInvalidArguments;
  smi::Process process;
  rsmi_status_t code = Answers::find(dv_ind, device);
  if (code == kSuccess) code = smi::find_process<Vendor>(pid, process);
  if (code != kSuccess) return code;
  *proc = info_of(process);
  proc->vram_usage = process.memory_bytes.at(dv_ind);
  return kSuccess;
}

rsmi_status_t compute_process_gpus_get(std::uint32_t pid, std::uint32_t* dv_indices,
                                       std::uint32_t* num_devices) {
  return smi::write_devices_of<Vendor>(pid, dv_indices, num_devices);
}

}  // namespace custom
}  // namespace tf::rsmi
