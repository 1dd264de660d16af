// SPDX-License-Identifier: Apache-2.0
// The code that NVIDIA GPUs load: PTX text, cubins (ELF) and CUDA's own fat binaries. Tells them apart, finds
// their length and which of them a device can run.
//
// Input is hostile. Nothing here keeps state: any thread.
#pragma once

#include "hipcore/codeobject/bytes.h"
#include "transport/base/status.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tf::codeobject {

inline constexpr std::uint16_t kMachineCuda = 190;              // EM_CUDA
inline constexpr std::uint32_t kCudaFatbinMagic = 0xba55ed50;   // followed by the code objects
inline constexpr std::uint32_t kCudaWrapperMagic = 0x466243b1;  // holds a pointer to one of those
inline constexpr std::uint64_t kMaxPtxBytes = std::uint64_t{256} << 20;
inline constexpr std::size_t kMaxPtxHeadBytes = 64 * 1024;  // comments before ".version"

// PTX begins with ".version", after comments and blanks. Reads up to the first zero, and at most `limit`
// bytes.
bool starts_ptx(const char* text, std::size_t limit);
inline bool is_ptx(Bytes image) {
  return starts_ptx(reinterpret_cast<const char*>(image.data()), image.size());
}
bool is_cubin(Bytes image);
bool is_cuda_fatbin(Bytes image);
// Whether its kernels may call printf or assert: they name the driver's functions for it. CUDA's fat binaries
// may be compressed, so of them nobody knows.
bool can_print(Bytes image);
inline bool is_nvidia_code(Bytes image) { return is_ptx(image) || is_cubin(image) || is_cuda_fatbin(image); }

// Length of the text at `text`, including its final zero, which the caller guarantees. kResourceExhausted:
// there is none within kMaxPtxBytes.
Result<std::uint64_t> ptx_extent(const char* text);
// The text in `image`: up to its first zero, or all of it.
Bytes ptx_text(Bytes image);

// Length of the fat binary at `image`, from its header alone. The caller guarantees that it is whole.
Result<std::uint64_t> cuda_fatbin_extent(const void* image);
// The same, reading nothing outside `image`. kProtocol if it, or one of its parts, lies outside.
Result<std::uint64_t> cuda_fatbin_extent(Bytes image);

// "sm_90a": compute capability 9.0, and only that GPU.
struct SmVersion {
  std::uint32_t number = 0;  // 10 * major + minor
  bool only = false;         // has a suffix: newer GPUs do not run the code
  std::uint32_t major() const { return number / 10; }
};
// From "sm_90", "compute_90", "sm_90a:whatever"; nothing for other targets.
std::optional<SmVersion> sm_version(std::string_view target);

// How well `image`, built for `entry_target`, suits the device: higher is better, negative is not at all. PTX
// runs on every newer device, a cubin on the same major version from its own minor version on. Of a CUDA fat
// binary the driver itself picks the part.
int match_nvidia(std::string_view entry_target, Bytes image, std::string_view device_target);

}  // namespace tf::codeobject
