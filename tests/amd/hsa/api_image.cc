// SPDX-License-Identifier: Apache-2.0
// hsa_ext_image.h, "Images and Samplers".
#include <hsa/hsa_ext_image.h>

#include "tests/amd/hsa/api.h"
#include "tests/amd/hsa/newer.h"

namespace tf::amd::hsa {
namespace {

const isa::Processor* with_images(const Runtime& runtime) {
  const isa::Processor* processor = isa::find_processor(runtime.isa->name);
  return processor != nullptr && processor->images != isa::ImageLayout::kNone ? processor : nullptr;
}

// Calls `body(runtime, agent, processor)` for a GPU agent that has images.
template <typename Body>
hsa_status_t with_agent(hsa_agent_t handle, Body&& body) {
  return with_runtime([&](Runtime& runtime) {
    const Agent* agent = runtime.gpu(handle);
    const isa::Processor* processor = with_images(runtime);
    if (agent == nullptr || processor == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
    return body(runtime, *agent, *processor);
  });
}

hsa_status_t create_image(const char* function, hsa_agent_t handle, const hsa_ext_image_descriptor_t* wanted,
                          const void* data, std::size_t row_bytes, hsa_ext_image_t* result) {
  return with_agent(handle, [&](Runtime& runtime, const Agent&, const isa::Processor& processor) {
    if (wanted == nullptr || data == nullptr || result == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_status_t status = HSA_STATUS_SUCCESS;
    std::string why;
    auto shape = shape_of(*wanted, row_bytes, status, why);
    if (!shape) return why.empty() ? status : refuse(function, why, status);
    if (number_of(data) % (shape->buffer ? 4 : isa::kImageAlignment) != 0) {
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    // Whether there is as much memory is seen where a kernel reads it: programs bind as much as can be.
    shape->image.base = number_of(data);
    result->handle = runtime.images.create(processor, *wanted, *shape, runtime.all_agents());
    return result->handle != 0 ? HSA_STATUS_SUCCESS
                               : refuse(function, "an image that has no descriptor",
                                        image_status(HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED));
  });
}

// Rows of a region, and where each lies in the image and in linear memory.
template <typename Row>
hsa_status_t for_each_row(hsa_agent_t agent, hsa_ext_image_t handle, const void* memory,
                          std::size_t row_bytes, std::size_t slice_bytes,
                          const hsa_ext_image_region_t* region, Row&& copy) {
  return with_agent(agent, [&](Runtime& runtime, const Agent& gpu, const isa::Processor&) {
    const auto image = runtime.images.find(handle.handle);
    if (!image || memory == nullptr || region == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const hsa_dim3_t& from = region->offset;
    const hsa_dim3_t& size = region->range;
    const auto fits = [](std::uint64_t at, std::uint64_t count, std::uint64_t of) {
      return at + count <= of;
    };
    if (!fits(from.x, size.x, image->width) || !fits(from.y, size.y, image->height) ||
        !fits(from.z, size.z, image->depth)) {
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    const std::uint64_t all = image->slice_bytes() * image->depth;
    if (!runtime.memory.reaches(gpu.index, pointer_to(image->base), all))
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const std::size_t element = image->format.bytes();
    const std::size_t row = row_bytes != 0 ? row_bytes : size.x * element;
    const std::size_t slice = slice_bytes != 0 ? slice_bytes : row * size.y;
    for (std::uint32_t z = 0; z < size.z; z++) {
      for (std::uint32_t y = 0; y < size.y; y++) {
        const std::uint64_t inside = image->base + (from.z + z) * image->slice_bytes() +
                                     (from.y + y) * image->row_bytes() + from.x * element;
        copy(static_cast<char*>(pointer_to(inside)), z * slice + y * row, size.x * element);
      }
    }
    return HSA_STATUS_SUCCESS;
  });
}

bool address_mode(std::uint32_t mode, isa::AddressMode& to) {
  switch (mode) {
    case HSA_EXT_SAMPLER_ADDRESSING_MODE_UNDEFINED:  // coordinates are never outside
    case HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE: return to = isa::AddressMode::kClamp, true;
    case HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_BORDER: return to = isa::AddressMode::kBorder, true;
    case HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT: return to = isa::AddressMode::kWrap, true;
    case HSA_EXT_SAMPLER_ADDRESSING_MODE_MIRRORED_REPEAT: return to = isa::AddressMode::kMirror, true;
    default: return false;
  }
}

hsa_status_t create_sampler(hsa_agent_t handle, const hsa_ext_sampler_descriptor_v2_t& wanted,
                            hsa_ext_sampler_t* result) {
  return with_agent(handle, [&](Runtime& runtime, const Agent&, const isa::Processor& processor) {
    if (result == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    isa::SamplerDescriptor sampler;
    sampler.normalized = wanted.coordinate_mode == HSA_EXT_SAMPLER_COORDINATE_MODE_NORMALIZED;
    sampler.linear = wanted.filter_mode == HSA_EXT_SAMPLER_FILTER_MODE_LINEAR;
    bool known = wanted.coordinate_mode <= HSA_EXT_SAMPLER_COORDINATE_MODE_NORMALIZED &&
                 wanted.filter_mode <= HSA_EXT_SAMPLER_FILTER_MODE_LINEAR;
    for (std::size_t axis = 0; axis < 3; axis++) {
      known = known && address_mode(wanted.address_modes[axis], sampler.modes[axis]);
    }
    if (!known) return image_status(HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED);
    result->handle = runtime.images.create(processor, sampler, runtime.all_agents());
    return result->handle != 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  });
}

}  // namespace

hsa_status_t image_info(const Runtime& runtime, const Agent& agent, unsigned attribute, void* value) {
  const bool has = agent.is_gpu() && with_images(runtime) != nullptr;
  const auto edges = [&](std::uint32_t x, std::uint32_t y = 0, std::uint32_t z = 0) {
    const std::uint32_t all[] = {has ? x : 0, has ? y : 0, has ? z : 0};
    std::memcpy(value, all, (1 + (y != 0 ? 1 : 0) + (z != 0 ? 1 : 0)) * sizeof all[0]);
    return HSA_STATUS_SUCCESS;
  };
  // The header says size_t; ROCr writes 32 bits, and AMD's runtime has room for no more.
  switch (attribute) {
    case HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS:
    case HSA_EXT_AGENT_INFO_IMAGE_1DA_MAX_ELEMENTS: return edges(kImageEdgeMax);
    case HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS: return edges(kImageElementsMax);
    case HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS:
    case HSA_EXT_AGENT_INFO_IMAGE_2DA_MAX_ELEMENTS: return edges(kImageEdgeMax, kImageEdgeMax);
    case HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS: return edges(kImageEdgeMax, kImageEdgeMax, kImageDepthMax);
    case HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS: return edges(kImageDepthMax);
    case HSA_EXT_AGENT_INFO_MAX_IMAGE_RD_HANDLES: return edges(128);
    case HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES: return edges(64);
    case HSA_EXT_AGENT_INFO_MAX_SAMPLER_HANDLERS: return edges(16);
    case HSA_EXT_AGENT_INFO_IMAGE_LINEAR_ROW_PITCH_ALIGNMENT: return edges(isa::kImageAlignment);
    default: return refuse_attribute("hsa_agent_get_info", attribute);
  }
}

bool has_images(const Runtime& runtime) { return with_images(runtime) != nullptr; }

}  // namespace tf::amd::hsa

using namespace tf::amd::hsa;  // the C functions below

hsa_status_t hsa_ext_image_data_get_info(hsa_agent_t agent, const hsa_ext_image_descriptor_t* wanted,
                                         hsa_access_permission_t /*permission*/,
                                         hsa_ext_image_data_info_t* info) {
  return with_agent(agent, [&](Runtime&, const Agent&, const tf::amd::isa::Processor&) {
    if (wanted == nullptr || info == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_status_t status = HSA_STATUS_SUCCESS;
    std::string why;
    const auto shape = shape_of(*wanted, 0, status, why);
    if (!shape) return why.empty() ? status : refuse("hsa_ext_image_data_get_info", why, status);
    *info = {shape->bytes(), tf::amd::isa::kImageAlignment};
    return HSA_STATUS_SUCCESS;
  });
}

hsa_status_t hsa_ext_image_create(hsa_agent_t agent, const hsa_ext_image_descriptor_t* wanted,
                                  const void* data, hsa_access_permission_t /*permission*/,
                                  hsa_ext_image_t* image) {
  return create_image("hsa_ext_image_create", agent, wanted, data, 0, image);
}

// A row's bytes; slices follow each other without a gap.
hsa_status_t hsa_ext_image_create_with_layout(hsa_agent_t agent, const hsa_ext_image_descriptor_t* wanted,
                                              const void* data, hsa_access_permission_t /*permission*/,
                                              hsa_ext_image_data_layout_t layout, size_t row_bytes,
                                              size_t slice_bytes, hsa_ext_image_t* image) {
  constexpr const char* kName = "hsa_ext_image_create_with_layout";
  if (slice_bytes != 0) return refuse(kName, "bytes of a slice", HSA_STATUS_ERROR_INVALID_ARGUMENT);
  const bool buffer = wanted != nullptr && wanted->geometry == HSA_EXT_IMAGE_GEOMETRY_1DB;
  const bool chosen = layout == HSA_EXT_IMAGE_DATA_LAYOUT_OPAQUE || buffer;
  return create_image(kName, agent, wanted, data, chosen ? 0 : row_bytes, image);
}

hsa_status_t hsa_ext_image_destroy(hsa_agent_t agent, hsa_ext_image_t image) {
  return with_agent(agent, [&](Runtime& runtime, const Agent&, const tf::amd::isa::Processor&) {
    return runtime.images.destroy_image(image.handle) ? HSA_STATUS_SUCCESS
                                                      : HSA_STATUS_ERROR_INVALID_ARGUMENT;
  });
}

hsa_status_t hsa_ext_image_import(hsa_agent_t agent, const void* memory, size_t row_bytes, size_t slice_bytes,
                                  hsa_ext_image_t image, const hsa_ext_image_region_t* region) {
  return for_each_row(agent, image, memory, row_bytes, slice_bytes, region,
                      [&](char* inside, std::size_t offset, std::size_t bytes) {
                        std::memcpy(inside, static_cast<const char*>(memory) + offset, bytes);
                      });
}

hsa_status_t hsa_ext_image_export(hsa_agent_t agent, hsa_ext_image_t image, void* memory, size_t row_bytes,
                                  size_t slice_bytes, const hsa_ext_image_region_t* region) {
  return for_each_row(agent, image, memory, row_bytes, slice_bytes, region,
                      [&](const char* inside, std::size_t offset, std::size_t bytes) {
                        std::memcpy(static_cast<char*>(memory) + offset, inside, bytes);
                      });
}

hsa_status_t hsa_ext_sampler_create(hsa_agent_t agent, const hsa_ext_sampler_descriptor_t* wanted,
                                    hsa_ext_sampler_t* sampler) {
  if (wanted == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const std::uint32_t mode = wanted->address_mode;
  return create_sampler(agent, {wanted->coordinate_mode, wanted->filter_mode, {mode, mode, mode}}, sampler);
}

hsa_status_t hsa_ext_sampler_create_v2(hsa_agent_t agent, const hsa_ext_sampler_descriptor_v2_t* wanted,
                                       hsa_ext_sampler_t* sampler) {
  return wanted == nullptr ? HSA_STATUS_ERROR_INVALID_ARGUMENT : create_sampler(agent, *wanted, sampler);
}

hsa_status_t hsa_ext_sampler_destroy(hsa_agent_t agent, hsa_ext_sampler_t sampler) {
  return with_agent(agent, [&](Runtime& runtime, const Agent&, const tf::amd::isa::Processor&) {
    return runtime.images.destroy_sampler(sampler.handle) ? HSA_STATUS_SUCCESS
                                                          : HSA_STATUS_ERROR_INVALID_ARGUMENT;
  });
}
