// SPDX-License-Identifier: Apache-2.0
// Messages of the system management interface (SMI), opcodes 0x08xx. Parsed as proxy/api/messages.h is, and
// with the same words; but they have a header of their own (hipcore/wire/gen/smi_messages.h), which HIP's
// side does not include.
//
// All of them read. There is no message that sets anything, so a tenant cannot reach clocks, power caps,
// resets or other tenants' processes, whatever its client library does: libraries answer such calls with the
// vendor's permission error.
//
// Names of fields end in their unit. A number that the worker's SMI runtime does not know is all ones
// (smi::kUnknown). Texts are zero-terminated bytes in words; an empty one is unknown. Devices are those of
// the session, by ordinal.
#pragma once

// --- 0x08xx system management ------------------------------------------------------------------------

// What does not change.
MESSAGE(0x0801, call, SmiDescribe) {
  u32 device;
  u32 reserved;
};
REPLY(SmiDescribe) {
  u64 pci_domain;
  u64 pci_bus;
  u64 pci_device;
  u64 pci_function;
  u64 vendor_id;  // of PCI, as all to the revision
  u64 device_id;
  u64 subsystem_vendor_id;
  u64 subsystem_id;
  u64 revision_id;
  u64 unique_id;
  u64 numa_node;
  u64 drm_render_minor;
  u64 xgmi_hive_id;
  u64 compute_units;
  u64 memory_total_bytes;  // of this session: its tenant's part of the device
  u64 pcie_width_max;
  u64 pcie_speed_max_mtps;  // million transfers per second and lane
  u64 power_cap_default_uw;
  u64 power_cap_least_uw;
  u64 power_cap_most_uw;
  u64 core_clock_least_hz;
  u64 core_clock_most_hz;
  u64 memory_clock_least_hz;
  u64 memory_clock_most_hz;
  u64 fan_most;  // of SmiSample's fan_level
  u64 name[16];
  u64 vendor[8];
  u64 architecture[8];  // "gfx942", "sm_90", "x86_64-cpu"
  u64 driver[8];        // its version
  u64 firmware[8];      // the device's (VBIOS)
  u64 serial[8];
  u64 memory_vendor[4];
  u64 runtime[4];  // that has answered: "host", "nvidia", "amd"
};

// What changes.
MESSAGE(0x0802, call, SmiSample) {
  u32 device;
  u32 reserved;
};
REPLY(SmiSample) {
  u64 time_ns;  // of the worker's monotonic clock
  u64 core_busy_percent;
  u64 memory_busy_percent;  // of the time that memory is read or written
  u64 media_busy_percent;
  u64 memory_used_bytes;       // of SmiDescribe's memory_total_bytes
  u64 host_memory_used_bytes;  // that the device can reach
  u64 host_memory_total_bytes;
  u64 edge_temperature_mc;  // thousandths of a degree Celsius; two's complement
  u64 hotspot_temperature_mc;
  u64 memory_temperature_mc;
  u64 critical_temperature_mc;
  u64 power_uw;
  u64 power_cap_uw;
  u64 energy_uj;  // since some moment in the past
  u64 core_clock_hz;
  u64 memory_clock_hz;
  u64 fan_rpm;
  u64 fan_level;
  u64 core_voltage_mv;
  u64 pcie_width;
  u64 pcie_speed_mtps;
  u64 pcie_replays;
  u64 pcie_sent_bytes_per_s;
  u64 pcie_received_bytes_per_s;
  u64 errors_corrected;  // of its memory
  u64 errors_uncorrected;
  u64 performance_level;  // smi::PerformanceLevel
};

// The session of this number in the list of the sessions that the same tenant has at this worker, without the
// one that asks. Sessions of others do not exist for it. A list may change between two questions.
MESSAGE(0x0803, call, SmiFindSession) {
  u32 index;
  u32 reserved;
};
REPLY(SmiFindSession) {
  u64 known;  // 1; 0: there are not so many
  u64 session;
  u64 client_pid;  // where the program runs
  u64 worker_pid;  // of the session process
  u64 age_ms;
  u64 memory_bytes[64];  // that it holds of each device
  u64 program[8];        // its name, cut
  u64 peer[8];           // where it comes from: "unix pid N" or an address
};

// How two devices reach each other.
MESSAGE(0x0804, call, SmiFindLink) {
  u32 from;
  u32 to;
};
REPLY(SmiFindLink) {
  u64 kind;  // smi::LinkKind
  u64 hops;
  u64 weight;
  u64 bandwidth_least_mb_per_s;
  u64 bandwidth_most_mb_per_s;
  u64 peer_access;  // 1: kernels of one can use memory of the other
};
