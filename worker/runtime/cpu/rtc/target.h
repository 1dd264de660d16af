// SPDX-License-Identifier: Apache-2.0
// For what a program is compiled: these cores, or a device that only the worker's runtime compiles for. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tf::cpu::rtc {

// The last option that names an architecture of NVIDIA's (sm_90, compute_90) or these cores (x86_64-cpu)
// decides; without one, `device`, the architecture of the current device. Options for AMD's processors do not
// count: programs bring them along to whatever device there is.
bool is_for_worker(const std::vector<std::string>& options, std::string_view device);

}  // namespace tf::cpu::rtc
