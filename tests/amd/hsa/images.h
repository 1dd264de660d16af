// SPDX-License-Identifier: Apache-2.0
// Images and samplers: objects in memory that every agent reads, which hold the words of a descriptor. Their
// handle is their address: AMD's runtime copies the words to where kernels find them.
//
// Sources of facts: hsa_ext_image.h. How many words there are is AMD's (HIP_IMAGE_OBJECT_SIZE_DWORD and
// HIP_SAMPLER_OBJECT_SIZE_DWORD of HIP's headers), and so is what the words behind an image's descriptor say.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_image.h>

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "tests/amd/hsa/memory.h"
#include "tests/amd/isa/image_descriptor.h"

namespace tf::amd::hsa {

constexpr int kImageObjectWords = 12;
constexpr int kSamplerObjectWords = 8;

// Of images in all, as AMD has them.
constexpr std::uint32_t kImageEdgeMax = 16384;
constexpr std::uint32_t kImageDepthMax = 8192;           // and layers
constexpr std::uint32_t kImageElementsMax = UINT32_MAX;  // of a buffer

// HSA_EXT_STATUS_*, which HSA's enumeration does not have.
inline hsa_status_t image_status(unsigned status) { return static_cast<hsa_status_t>(status); }

// What a descriptor of HSA means. Nothing: no image can be made so, for the reason in `why`.
struct ImageShape {
  isa::ImageDescriptor image;  // without its address; a buffer of elements is a row
  bool buffer = false;
  std::uint64_t bytes() const;
};
// `row_bytes`: 0 where the runtime shall choose.
std::optional<ImageShape> shape_of(const hsa_ext_image_descriptor_t& wanted, std::size_t row_bytes,
                                   hsa_status_t& status, std::string& why);

class Images {
 public:
  explicit Images(Memory& memory) : memory_(memory) {}

  // 0: no room, or a processor whose descriptors have none for this image.
  std::uint64_t create(const isa::Processor& processor, const hsa_ext_image_descriptor_t& wanted,
                       const ImageShape& shape, AgentMask agents);
  std::uint64_t create(const isa::Processor& processor, const isa::SamplerDescriptor& sampler,
                       AgentMask agents);
  std::optional<isa::ImageDescriptor> find(std::uint64_t handle) const;
  // False: there is none.
  bool destroy_image(std::uint64_t handle);
  bool destroy_sampler(std::uint64_t handle);

 private:
  std::uint32_t* words(AgentMask agents);

  Memory& memory_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, isa::ImageDescriptor> images_;
  std::map<std::uint64_t, isa::SamplerDescriptor> samplers_;
};

}  // namespace tf::amd::hsa
