// SPDX-License-Identifier: Apache-2.0
// What the kernel's compute driver (amdkfd) says of GPUs: /sys/class/kfd/kfd/topology. Readable for
// everybody. Source: the driver's kfd_topology.c and ROCr's reading of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hipcore/smi/values.h"

namespace tf::smi {

struct KfdGpu {
  std::uint64_t node = 0;
  std::string pci;              // "0000:03:00.0"
  std::string architecture;     // "gfx942"; empty: not known
  std::uint64_t unique_id = 0;  // 0: it has none
  std::uint64_t compute_units = 0;
  std::uint64_t clock_mhz = 0;      // the highest
  std::uint64_t render_minor = 0;   // of /dev/dri/renderD; 0: none
  std::uint64_t memory_bytes = 0;   // its own
  std::vector<std::uint64_t> xgmi;  // nodes that it reaches by XGMI
};

// In the driver's order. `root`: where sys is. None: there is no such driver.
std::vector<KfdGpu> read_kfd(const std::filesystem::path& root);

}  // namespace tf::smi
