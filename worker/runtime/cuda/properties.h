// SPDX-License-Identifier: Apache-2.0
// A device's properties and attributes, as HIP has them. Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <optional>
#include <string>

#include "worker/runtime/cuda/driver.h"

namespace tf::cuda {

// "sm_90": by which code objects and bundles are chosen.
std::string architecture(int major, int minor);

hipDeviceProp_t make_properties(const driver::Driver& driver, driver::Device device);

// CUDA's number of the attribute; none if CUDA has no such attribute.
std::optional<int> driver_attribute(hipDeviceAttribute_t attribute);
// Attributes that follow from the properties alone, without asking the driver; none for others.
std::optional<int> fixed_attribute(const hipDeviceProp_t& properties, hipDeviceAttribute_t attribute);

}  // namespace tf::cuda
