// SPDX-License-Identifier: Apache-2.0
// The inputs of __hipRegisterFatBinary and hipModuleLoadData: the HIPF wrapper, offload bundles, compressed
// bundles and bare code objects (ELF; for PTX and CUDA's fat binaries see nvidia.h). Finds the length of an
// image, and which of its code objects fits a device.
//
// Input is hostile. Nothing here keeps state: any thread.
#pragma once

#include "hipcore/codeobject/bytes.h"
#include "transport/base/status.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tf::codeobject {

inline constexpr std::uint32_t kWrapperMagic = 0x48495046;  // "HIPF" read as a big-endian word
inline constexpr std::size_t kMaxBundleEntries = 4096;
inline constexpr std::size_t kMaxBundleIdBytes = 4096;

struct BundleEntry {
  std::string_view id;  // "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+"
  Bytes image;
};

// A code object: a view of the caller's image, or of `storage` if the image had to be unpacked.
struct Selected {
  Bytes image;
  std::vector<std::byte> storage;
};

// The image that a 24-byte HIPF wrapper points to. kInvalidArgument if this is no wrapper.
Result<const void*> wrapped_image(const void* wrapper);

// Length of the image at `image`, from its own headers (the caller guarantees that it is whole).
// kInvalidArgument if it has none of the known forms.
Result<std::uint64_t> image_extent(const void* image);

bool is_bundle(Bytes image);
bool is_compressed_bundle(Bytes image);
Result<std::vector<BundleEntry>> read_bundle(Bytes image);
// The bundle inside a CCOB image (zstd, loaded on demand; kUnavailable if the library is missing).
Result<std::vector<std::byte>> decompress_bundle(Bytes image);

// Whether code built for `entry_target` ("gfx90a:xnack+") runs on a device that calls itself `device_target`
// ("gfx90a:sramecc+:xnack-"): the same processor, and no required feature that the device has set otherwise.
// A higher result is a more specific match; negative is no match.
int match_target(std::string_view entry_target, std::string_view device_target);
// "gfx90a:xnack+" from "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+"; empty for host entries.
std::string_view target_of_entry(std::string_view id);

// The code object for the device: the best entry of a bundle, or the image itself if it is a bare code
// object. NVIDIA code fits NVIDIA devices only, and the reverse. kUnavailable: none for this device.
// kInvalidArgument: not an image.
Result<Selected> select_code_object(Bytes image, std::string_view device_target);

}  // namespace tf::codeobject
