// SPDX-License-Identifier: Apache-2.0
// libamd_smi as smi/vendor/answers.h needs it; its handles.
#pragma once

#include <cstdint>

#include "smi/amd/types.h"
#include "smi/vendor/answers.h"

namespace tf::amdsmi {

// Handles are addresses inside of these, so that none is null and none of another library's is one.
inline constexpr int kHandles = 64;
amdsmi_processor_handle handle_of(int device);
// -1: it is none.
int device_of(amdsmi_processor_handle handle);
amdsmi_socket_handle socket_of(int device);
int device_of_socket(amdsmi_socket_handle handle);

struct Vendor {
  using Code = amdsmi_status_t;
  using Handle = amdsmi_processor_handle;
  static inline char nobody = 0;  // null is an argument that is not valid
  static inline const Handle kNoHandle = &nobody;
  static constexpr Code kSuccess = amdsmi::kSuccess;
  static constexpr Code kInvalidArguments = amdsmi::kInvalidArguments;
  static constexpr Code kNotSupported = amdsmi::kNotSupported;
  static constexpr Code kPermission = amdsmi::kPermission;
  static constexpr Code kOutOfResources = amdsmi::kOutOfResources;
  static constexpr Code kInternalException = amdsmi::kInternalException;
  static constexpr Code kInitError = amdsmi::kNotInitialized;
  static constexpr Code kNotFound = amdsmi::kNotFound;
  static constexpr Code kInsufficientSize = amdsmi::kInsufficientSize;
  static constexpr Code kUnknownError = amdsmi::kApiFailed;

  static int index_of(Handle device) { return device_of(device); }
  static Code no_device(Handle device) { return device == nullptr ? kInvalidArguments : kNotFound; }
};

using Answers = smi::Answers<Vendor>;

const char* version_text();

}  // namespace tf::amdsmi
