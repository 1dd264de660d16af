// SPDX-License-Identifier: Apache-2.0
// Who uses the devices: the tenant's other sessions.
#include "smi/vendor/processes.h"

#include <algorithm>
#include <vector>

#include "smi/amd/layout.h"
#include "smi/amd/support.h"
#include "smi/gen/amd/custom.h"

namespace tf::amdsmi::custom {
namespace {

// As the vendor's: the number becomes that of all; kOutOfResources says that not all have fitted. `write`
// puts a process into a place of the caller's list.
template <typename Write>
amdsmi_status_t hand_out(const std::vector<smi::Process>& all, bool wanted, std::uint32_t* room,
                         Write write) {
  const auto there = static_cast<std::uint32_t>(all.size());
  const std::uint32_t fitting = std::min(there, *room);
  const bool counted = *room == 0;
  if (fitting != 0 && !wanted) return kInvalidArguments;
  for (std::uint32_t place = 0; place < fitting; ++place) write(place, all[place]);
  *room = there;
  return counted || fitting == there ? kSuccess : kOutOfResources;
}

}  // namespace

amdsmi_status_t get_gpu_compute_process_info(amdsmi_process_info_t* procs, std::uint32_t* num_items) {
  return smi::write_processes<Vendor>(&process_info, procs, num_items);
}

amdsmi_status_t get_gpu_compute_process_info_by_pid(std::uint32_t pid, amdsmi_process_info_t* proc) {
  if (proc == nullptr) return kInvalidArguments;
  smi::Process process;
  const amdsmi_status_t code = smi::find_process<Vendor>(pid, process);
  if (code == kSuccess) *proc = process_info(process);
  return code;
}

amdsmi_status_t get_gpu_compute_process_gpus(std::uint32_t pid, std::uint32_t* dv_indices,
                                             std::uint32_t* num_devices) {
  return smi::write_devices_of<Vendor>(pid, dv_indices, num_devices);
}

// Those with memory of the device; kernels may run without.
amdsmi_status_t get_gpu_process_list(amdsmi_processor_handle device, std::uint32_t* max_processes,
                                     amdsmi_proc_info_t* list) {
  int index = 0;
  if (const amdsmi_status_t code = Answers::find(device, index); code != kSuccess) return code;
  if (max_processes == nullptr) return kInvalidArguments;
  std::vector<smi::Process> all;
  if (const amdsmi_status_t code = smi::list_processes<Vendor>(all); code != kSuccess) return code;
  std::erase_if(all, [&](const smi::Process& process) {
    return process.memory_bytes.at(static_cast<std::size_t>(index)) == 0;
  });
  return hand_out(all, list != nullptr, max_processes, [&](std::uint32_t place, const smi::Process& process) {
    write_process(list, place, process, index);
  });
}

amdsmi_status_t get_gpu_process_list_by_pid(amdsmi_processor_handle* devices, std::uint32_t num_processors,
                                            amdsmi_proc_info_by_pid_t* procs, std::uint32_t* max_processes) {
  std::uint32_t there = 0;
  if (const amdsmi_status_t code = Answers::count_devices(there); code != kSuccess) return code;
  if (devices == nullptr || num_processors == 0 || num_processors > kHandles || max_processes == nullptr)
    return kInvalidArguments;
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t each = 0; each < num_processors; ++each) {
    int index = 0;
    if (const amdsmi_status_t code = Answers::find(devices[each], index); code != kSuccess) return code;
    wanted.push_back(static_cast<std::uint32_t>(index));
  }
  std::vector<smi::Process> all;
  if (const amdsmi_status_t code = smi::list_processes<Vendor>(all); code != kSuccess) return code;
  std::erase_if(all, [&](const smi::Process& process) {
    return std::ranges::all_of(wanted,
                               [&](std::uint32_t index) { return process.memory_bytes.at(index) == 0; });
  });
  return hand_out(all, procs != nullptr, max_processes,
                  [&](std::uint32_t place, const smi::Process& process) {
                    write_process_devices(procs, place, process, wanted);
                  });
}

}  // namespace tf::amdsmi::custom
