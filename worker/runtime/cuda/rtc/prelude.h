// SPDX-License-Identifier: Apache-2.0
// HIP's device language on top of CUDA's: what programs for hiprtc expect to be there. Constant data.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace tf::cuda::rtc {

// Goes before the program's text. Without a line that starts a new file: the program's first line is to be 1.
std::string_view prelude();

// The headers that programs for hiprtc include, by name.
const std::map<std::string, std::string>& headers();

}  // namespace tf::cuda::rtc
