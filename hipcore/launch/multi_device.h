// SPDX-License-Identifier: Apache-2.0
// The rules of launches on several devices by one call, for the client and our runtimes alike.
#pragma once

#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tf::hipcore {

// Of hip_runtime_api.h: hipCooperativeLaunchMultiDeviceNoPreSync and NoPostSync.
inline constexpr unsigned kNoPreSync = 1;
inline constexpr unsigned kNoPostSync = 2;

namespace internal {

// Every launch has a stream, on a device of its own.
template <typename Launch, typename Work>
hipError_t check_launches(const Launch* launches, std::size_t count, Work& work) {
  std::vector<int> devices;
  for (std::size_t i = 0; i < count; ++i) {
    const Launch& launch = launches[i];
    if (work.stream_of(launch) == nullptr) return hipErrorInvalidHandle;
    int device = 0;
    if (!work.find_device(work.stream_of(launch), device)) return hipErrorInvalidValue;
    if (work.is_empty(launch)) return hipErrorInvalidConfiguration;
    if (std::find(devices.begin(), devices.end(), device) != devices.end()) return hipErrorInvalidDevice;
    devices.push_back(device);
    if (const hipError_t error = work.find_kernel(launch, device); error != hipSuccess) return error;
  }
  return hipSuccess;
}

template <typename Launch, typename Work>
hipError_t synchronize_all(const Launch* launches, std::size_t count, Work& work) {
  hipError_t first = hipSuccess;
  for (std::size_t i = 0; i < count; ++i) {
    const hipError_t error = work.synchronize(work.stream_of(launches[i]));
    if (first == hipSuccess) first = error;
  }
  return first;
}

}  // namespace internal

// Nothing is launched before all has been checked. Unless `flags` say otherwise, waits for the streams before
// and after, as AMD's runtime does. Work: device_count(), stream_of(launch), is_empty(launch) (a block
// without threads), find_device(stream, device) (false: no such stream), find_kernel(launch, device),
// start(launch), synchronize(stream). May throw std::bad_alloc.
template <typename Launch, typename Work>
hipError_t launch_on_devices(const Launch* launches, int count, unsigned flags, Work& work) {
  if (launches == nullptr || count <= 0 || count > work.device_count()) return hipErrorInvalidValue;
  if (flags > (kNoPreSync | kNoPostSync)) return hipErrorInvalidValue;
  const auto number = static_cast<std::size_t>(count);
  hipError_t error = internal::check_launches(launches, number, work);
  if (error == hipSuccess && (flags & kNoPreSync) == 0)
    error = internal::synchronize_all(launches, number, work);
  for (std::size_t i = 0; i < number && error == hipSuccess; ++i) error = work.start(launches[i]);
  if (error == hipSuccess && (flags & kNoPostSync) == 0)
    error = internal::synchronize_all(launches, number, work);
  return error;
}

}  // namespace tf::hipcore
