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

inline constexpr std::uint32_t kSpirvMagic = 0x07230203;    // first word of a SPIR-V module
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
// kInvalidArgument if it has none of the known forms, kUnsupported if it is SPIR-V.
Result<std::uint64_t> image_extent(const void* image);

bool is_bundle(Bytes image);
bool is_compressed_bundle(Bytes image);
Result<std::vector<BundleEntry>> read_bundle(Bytes image);
// The bundle inside a CCOB image. kUnsupported: a version or method that is not known, or its library is not
// installed.
Result<std::vector<std::byte>> decompress_bundle(Bytes image);

// The code object for the device: the best entry of a bundle, or the image itself if it is a bare code
// object. NVIDIA code fits NVIDIA devices only, and the reverse. kUnavailable: none for this device.
// kUnsupported: code for this device that cannot be used here, as SPIR-V. kInvalidArgument: not an image.
Result<Selected> select_code_object(Bytes image, std::string_view device_target);

}  // namespace tf::codeobject
