// SPDX-License-Identifier: Apache-2.0
// The copies of the driver-style API, hip_Memcpy2D and HIP_MEMCPY3D of every major, in one form.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>

namespace tf::abi {

enum class MemoryType { kHost, kDevice, kArray, kUnified, kNone };  // kNone: a number that is no memory type

struct DriverCopyEnd {
  std::size_t x = 0;  // bytes
  std::size_t y = 0;  // rows
  std::size_t z = 0;  // slices
  std::size_t lod = 0;
  MemoryType type = MemoryType::kNone;
  void* host = nullptr;  // by type, one of host, device and array counts; the source is only read
  hipDeviceptr_t device = nullptr;
  hipArray_t array = nullptr;
  std::size_t pitch = 0;   // bytes; 0: rows without gaps
  std::size_t height = 0;  // rows from slice to slice; 0: as many as are copied
};

struct DriverCopy {
  DriverCopyEnd source;
  DriverCopyEnd target;
  std::size_t width = 0;   // bytes
  std::size_t height = 0;  // rows
  std::size_t depth = 1;   // slices
};

}  // namespace tf::abi
