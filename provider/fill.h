// SPDX-License-Identifier: Apache-2.0
// Puts what we know into the caller's structs. Each is cleared first; texts that are too long are cut; what
// is not known is 0, and a metric that is not known is left out. Structs are large: the caller owns them,
// none is copied.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "provider/abi.h"
#include "provider/devices.h"
#include "provider/partitions.h"

namespace tf::provider {

void fill(const Device& device, int index, tf_accel_device& out);
void fill(const std::vector<Device>& devices, tf_accel_topology& out);
void fill(const Partition& partition, tf_accel_partition& out);
void fill(const smi::Process& process, const Device& device, tf_accel_process& out);
void fill(const Device& device, const smi::Sample& sample, tf_accel_values& out);
// Seen in the worker where it is on the host.
void fill(const std::string& folder, tf_accel_mount& out);

}  // namespace tf::provider
