// SPDX-License-Identifier: Apache-2.0
// librocm_smi64 as smi/vendor/answers.h needs it.
#pragma once

#include <cstdint>

#include "smi/rocm/types.h"
#include "smi/vendor/answers.h"

namespace tf::rsmi {

struct Vendor {
  using Code = rsmi_status_t;
  using Handle = std::uint32_t;  // a device's number
  static constexpr Handle kNoHandle = ~0u;
  static constexpr Code kSuccess = rsmi::kSuccess;
  static constexpr Code kInvalidArguments = rsmi::kInvalidArguments;
  static constexpr Code kNotSupported = rsmi::kNotSupported;
  static constexpr Code kPermission = rsmi::kPermission;
  static constexpr Code kOutOfResources = rsmi::kOutOfResources;
  static constexpr Code kInternalException = rsmi::kInternalException;
  static constexpr Code kInitError = rsmi::kInitError;
  static constexpr Code kNotFound = rsmi::kNotFound;
  static constexpr Code kInsufficientSize = rsmi::kInsufficientSize;
  static constexpr Code kUnknownError = rsmi::kUnknownError;

  static int index_of(Handle device) { return device <= 0x7fffffff ? static_cast<int>(device) : -1; }
  static Code no_device(Handle) { return kInvalidArguments; }
};

using Answers = smi::Answers<Vendor>;

const char* version_text();

}  // namespace tf::rsmi
