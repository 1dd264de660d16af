// SPDX-License-Identifier: Apache-2.0
// What a program is compiled for: these cores, or a device that only the worker's runtime can compile for.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tf::cpu::rtc {

// The last option that names an NVIDIA architecture (sm_90, compute_90) or these cores (x86_64-cpu) decides.
// Without one, `device` decides, the architecture of the current device. Options for AMD's processors are
// ignored: programs pass them for any device.
bool is_for_worker(const std::vector<std::string>& options, std::string_view device);

}  // namespace tf::cpu::rtc
