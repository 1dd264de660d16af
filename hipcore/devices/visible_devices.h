// SPDX-License-Identifier: Apache-2.0
// Which devices a program sees by ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES and CUDA_VISIBLE_DEVICES, as
// AMD's runtimes read them. Any thread; only read_visible_devices() reads the environment.
//
// Sources: ROCR-Runtime, core/runtime/amd_filter_device.cpp (RvdFilter); clr,
// rocclr/device/rocm/rocdevice.cpp (Device::init()). ROCR's list numbers all devices; HIP's numbers those
// that ROCR's leaves.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tf::hipcore {

struct VisibleDevices {
  std::optional<std::string> rocr;  // empty: no device; none: all
  std::string hip;  // HIP_VISIBLE_DEVICES, and if that is empty CUDA_VISIBLE_DEVICES; empty: all
};

VisibleDevices read_visible_devices();

// As the lists name a device: "GPU-" and 16 hexadecimal digits for AMD's, whose hipDeviceGetUuid gives these
// digits as text; for others as NVIDIA writes the 16 bytes.
std::string uuid_text(const std::array<std::uint8_t, 16>& uuid);

// Indices of `uuids`, one for each device that there is, in the program's order.
std::vector<std::size_t> choose_visible(const VisibleDevices& visible, std::span<const std::string> uuids);

}  // namespace tf::hipcore
