// SPDX-License-Identifier: Apache-2.0
// A wrapper around every function of the hiprtc C interface.
#pragma once

#include <hip/hiprtc.h>

#include <exception>
#include <new>

namespace tf::runtime::rtc {

// Lets no exception out through the C interface.
template <typename Body>
hiprtcResult guarded(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return HIPRTC_ERROR_OUT_OF_MEMORY;
  } catch (const std::exception&) {
    return HIPRTC_ERROR_INTERNAL_ERROR;
  }
}

}  // namespace tf::runtime::rtc
