// SPDX-License-Identifier: Apache-2.0
// The functions of hiprtc, which libamdhip64 passes on to libhiprtc. Any thread.
#pragma once

#include <hip/hiprtc.h>

namespace tf::proxy {

// libhiprtc's function of that name; null if there is no such library or function.
void* rtc_function(const char* name);

template <typename... Parameters, typename... Arguments>
hiprtcResult forward_to_rtc(const char* name, hiprtcResult (*)(Parameters...), Arguments... arguments) {
  auto* const function = reinterpret_cast<hiprtcResult (*)(Parameters...)>(rtc_function(name));
  return function != nullptr ? function(arguments...) : HIPRTC_ERROR_INTERNAL_ERROR;
}

}  // namespace tf::proxy
