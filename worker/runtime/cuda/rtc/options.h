// SPDX-License-Identifier: Apache-2.0
// hiprtc's options, which are clang's, as NVRTC wants them. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tf::cuda::rtc {

struct Translated {
  std::vector<std::string> options;
  std::string notes;         // a line for each option that was left out
  std::string architecture;  // "sm_90", "compute_90": in the options too
};

// `architecture` is what the code is for unless an option names another one of NVIDIA's. Options for AMD's
// processors and those that only clang has are left out.
Translated translate_options(const std::vector<std::string>& options, std::string_view architecture);

}  // namespace tf::cuda::rtc
