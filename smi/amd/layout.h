// SPDX-License-Identifier: Apache-2.0
// What differs by major of libamd_smi: compiled once for each (layout.cc), behind types that have no layout
// for anybody else. What is not known becomes an empty text or a number of all ones. Nothing here throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hipcore/smi/values.h"
#include "smi/amd/types.h"
#include "smi/vendor/processes.h"

namespace tf::amdsmi {

// Whether this library is that of ROCm 6.1. Its numbers for what is not known are not always all ones:
// amd-smi of that release computes with some of them, and prints others.
bool is_of_rocm_61();

void write_version(amdsmi_version_t& to);
const char* version_text();

void write_asic(amdsmi_asic_info_t& to, const smi::Facts& facts);
void write_board(amdsmi_board_info_t& to, const smi::Facts& facts);
void write_driver(amdsmi_driver_info_t& to, const smi::Facts& facts);
void write_vbios(amdsmi_vbios_info_t& to, const smi::Facts& facts);
void write_vram(amdsmi_vram_info_t& to, const smi::Facts& facts);
// `index`: HIP's number of the device.
void write_enumeration(amdsmi_enumeration_info_t& to, const smi::Facts& facts, std::uint32_t index);
void write_power(amdsmi_power_info_t& to, const smi::Sample& sample);
// Sleep and lock of a clock, which are not known.
void write_sleep(amdsmi_clk_info_t& to);
void write_metrics(amdsmi_gpu_metrics_t& to, const smi::Sample& sample);
amd_metrics_table_header_t metrics_header(const smi::Sample& sample);
amdsmi_process_info_t process_info(const smi::Process& process);

// The `place`th of a list: what `process` has of a device, or of all (device -1).
void write_process(amdsmi_proc_info_t* list, std::size_t place, const smi::Process& process, int device);
// Likewise, with an entry for each of the listed devices that it has memory of.
void write_process_devices(amdsmi_proc_info_by_pid_t* list, std::size_t place, const smi::Process& process,
                           std::span<const std::uint32_t> devices);

// As many as fit.
void write_nearest(amdsmi_topology_nearest_t& to, std::span<const amdsmi_processor_handle> devices);
// This major's number of a kind of links: as amdsmi_get_link_topology_nearest is asked, and as
// amdsmi_topo_get_link_type answers.
std::uint32_t asked_link_type(smi::LinkKind kind);
std::uint32_t answered_link_type(smi::LinkKind kind);

}  // namespace tf::amdsmi
