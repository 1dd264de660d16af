// SPDX-License-Identifier: Apache-2.0
// Converts hiprtc's options, which are clang's, to NVRTC's. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tf::cuda::rtc {

struct Translated {
  std::vector<std::string> options;
  std::string notes;         // a line for each option that was left out
  std::string architecture;  // "sm_90", "compute_90"; also in the options
};

// The code is for `architecture`, unless an option names another NVIDIA architecture. Leaves out options for
// AMD's processors and options that only clang has.
Translated translate_options(const std::vector<std::string>& options, std::string_view architecture);

}  // namespace tf::cuda::rtc
