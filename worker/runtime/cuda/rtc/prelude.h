// SPDX-License-Identifier: Apache-2.0
// HIP's device language on top of CUDA's: what programs for hiprtc expect. Constant data.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace tf::cuda::rtc {

// Goes before the program's text. It has no #line that starts a new file: the program's first line stays 1.
std::string_view prelude();

// The headers that programs for hiprtc include, by name.
const std::map<std::string, std::string>& headers();

}  // namespace tf::cuda::rtc
