// SPDX-License-Identifier: Apache-2.0
// Images and samplers of the stand-in: what they need, what their words say, and copies to and from them.
#include <hsa/hsa_ext_image.h>

#include <numeric>

#include "tests/amd/hsa/newer.h"
#include "tests/amd/hsa/test/hsa_fixture.h"
#include "tests/amd/isa/image_descriptor.h"

namespace tf::amd::hsa::test {
namespace {

constexpr hsa_ext_image_format_t kFloats{HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT, HSA_EXT_IMAGE_CHANNEL_ORDER_R};
constexpr hsa_ext_image_format_t kColors{HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8,
                                         HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA};

// Which HSA's enumeration does not have.
hsa_agent_info_t as_attribute(unsigned number) { return static_cast<hsa_agent_info_t>(number); }

class ImageTest : public HsaTest {
 protected:
  const isa::Processor& processor() const { return *isa::find_processor(isa_name()); }
  const std::uint32_t* words(std::uint64_t handle) const {
    return reinterpret_cast<const std::uint32_t*>(handle);  // NOLINT: a device address is a host address
  }
  hsa_status_t create(const hsa_ext_image_descriptor_t& wanted, const void* data) {
    return hsa_ext_image_create(gpus_[0], &wanted, data, HSA_ACCESS_PERMISSION_RW, &image_);
  }
  unsigned info(const hsa_ext_image_descriptor_t& wanted) {
    return hsa_ext_image_data_get_info(gpus_[0], &wanted, HSA_ACCESS_PERMISSION_RW, &info_);
  }

  hsa_ext_image_t image_{0};
  hsa_ext_image_data_info_t info_{};
};

TEST_F(ImageTest, AnAgentSaysThatItHasThem) {
  std::uint8_t extensions[128] = {};
  ASSERT_EQ(hsa_agent_get_info(gpus_[0], HSA_AGENT_INFO_EXTENSIONS, extensions), HSA_STATUS_SUCCESS);
  EXPECT_NE(extensions[0] & 1U << HSA_EXTENSION_IMAGES, 0U);
  ASSERT_EQ(hsa_agent_get_info(host_, HSA_AGENT_INFO_EXTENSIONS, extensions), HSA_STATUS_SUCCESS);
  EXPECT_EQ(extensions[0] & 1U << HSA_EXTENSION_IMAGES, 0U);
  std::uint32_t edges[4] = {7, 7, 7, 7};
  const hsa_agent_info_t attribute = as_attribute(HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS);
  ASSERT_EQ(hsa_agent_get_info(gpus_[0], attribute, edges), HSA_STATUS_SUCCESS);
  EXPECT_EQ(edges[0], 16384U);
  EXPECT_EQ(edges[2], 8192U);
  EXPECT_EQ(edges[3], 7U) << "beyond what AMD's runtime has room for";
  ASSERT_EQ(hsa_agent_get_info(host_, attribute, edges), HSA_STATUS_SUCCESS);
  EXPECT_EQ(edges[0], 0U);
}

TEST_F(ImageTest, ItsWordsAreADescriptor) {
  const hsa_ext_image_descriptor_t wanted{HSA_EXT_IMAGE_GEOMETRY_2DA, 100, 20, 0, 3, kFloats};
  ASSERT_EQ(info(wanted), HSA_STATUS_SUCCESS);
  EXPECT_EQ(info_.size, std::size_t{512} * 20 * 3);
  EXPECT_EQ(info_.alignment, 256U);
  char* const memory = allocate(gpu_pools_[0].coarse, info_.size);
  ASSERT_EQ(create(wanted, memory), HSA_STATUS_SUCCESS);
  std::string why;
  const auto image = isa::decode_image(processor(), words(image_.handle), why);
  ASSERT_TRUE(image) << why;
  EXPECT_EQ(image->base, reinterpret_cast<std::uint64_t>(memory));
  EXPECT_EQ(image->width, 100U);
  EXPECT_EQ(image->depth, 3U);
  EXPECT_EQ(words(image_.handle)[8], std::uint32_t{HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT});
  EXPECT_EQ(words(image_.handle)[9], std::uint32_t{HSA_EXT_IMAGE_CHANNEL_ORDER_R});
  EXPECT_EQ(words(image_.handle)[10], 100U);
  EXPECT_EQ(hsa_ext_image_destroy(gpus_[0], image_), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_ext_image_destroy(gpus_[0], image_), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(ImageTest, WhatCannotBeIsRefused) {
  char* const memory = allocate(gpu_pools_[0].coarse, 65536);
  hsa_ext_image_descriptor_t wanted{HSA_EXT_IMAGE_GEOMETRY_2D, 64, 16, 0, 0, kFloats};
  ASSERT_EQ(create(wanted, memory), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_ext_image_destroy(gpus_[0], image_), HSA_STATUS_SUCCESS);
  EXPECT_EQ(create(wanted, memory + 4), HSA_STATUS_ERROR_INVALID_ARGUMENT) << "not aligned";
  EXPECT_EQ(hsa_ext_image_create(host_, &wanted, memory, HSA_ACCESS_PERMISSION_RW, &image_),
            HSA_STATUS_ERROR_INVALID_AGENT);
  wanted.width = 16385;
  EXPECT_EQ(info(wanted), unsigned{HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED});
  wanted.width = 64;
  wanted.height = 0;
  EXPECT_EQ(info(wanted), unsigned{HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED});
  wanted.height = 16;
  wanted.format.channel_order = HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA;
  EXPECT_EQ(info(wanted), unsigned{HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED});
  wanted.format = kColors;
  wanted.format.channel_type = HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT;
  EXPECT_EQ(info(wanted), unsigned{HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED});
  wanted.format = kFloats;
  wanted.geometry = HSA_EXT_IMAGE_GEOMETRY_2DDEPTH;
  EXPECT_EQ(info(wanted), unsigned{HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED});
}

TEST_F(ImageTest, RowsOfMemoryAreAnImage) {
  char* const memory = allocate(gpu_pools_[0].coarse, 65536);
  const hsa_ext_image_descriptor_t wanted{HSA_EXT_IMAGE_GEOMETRY_2D, 20, 16, 0, 0, kFloats};
  const auto with_rows = [&](std::size_t bytes) -> unsigned {
    return hsa_ext_image_create_with_layout(gpus_[0], &wanted, memory, HSA_ACCESS_PERMISSION_RW,
                                            HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, bytes, 0, &image_);
  };
  EXPECT_EQ(with_rows(100), unsigned{HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED});
  ASSERT_EQ(with_rows(512), unsigned{HSA_STATUS_SUCCESS});
  std::string why;
  const auto image = isa::decode_image(processor(), words(image_.handle), why);
  ASSERT_TRUE(image) << why;
  EXPECT_EQ(image->row_bytes(), 512U);
  EXPECT_EQ(hsa_ext_image_destroy(gpus_[0], image_), HSA_STATUS_SUCCESS);
}

TEST_F(ImageTest, ABufferOfElements) {
  float* const memory = allocate<float>(gpu_pools_[0].coarse, 1000);
  const hsa_ext_image_descriptor_t wanted{HSA_EXT_IMAGE_GEOMETRY_1DB, 1000, 0, 0, 0, kFloats};
  ASSERT_EQ(create(wanted, memory), HSA_STATUS_SUCCESS);
  const std::uint32_t* const made = words(image_.handle);
  EXPECT_EQ(made[0], static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(memory)));
  EXPECT_EQ(made[1] >> 16 & 0x3fff, 4U);
  EXPECT_EQ(made[2], 1000U) << "elements";
  EXPECT_EQ(hsa_ext_image_destroy(gpus_[0], image_), HSA_STATUS_SUCCESS);
}

TEST_F(ImageTest, BoxesComeAndGo) {
  const hsa_ext_image_descriptor_t wanted{HSA_EXT_IMAGE_GEOMETRY_3D, 10, 8, 6, 0, kFloats};
  ASSERT_EQ(info(wanted), HSA_STATUS_SUCCESS);
  ASSERT_EQ(create(wanted, allocate(gpu_pools_[0].coarse, info_.size)), HSA_STATUS_SUCCESS);
  std::vector<float> values(10 * 8 * 6), back(4 * 5 * 3), part(4 * 2 * 2, -1);
  std::iota(values.begin(), values.end(), 0.0F);
  const hsa_ext_image_region_t all{{0, 0, 0}, {10, 8, 6}}, box{{3, 1, 2}, {4, 5, 3}};
  ASSERT_EQ(hsa_ext_image_import(gpus_[0], values.data(), 0, 0, image_, &all), HSA_STATUS_SUCCESS);
  const hsa_ext_image_region_t small{{5, 2, 3}, {2, 2, 2}};  // with gaps in memory
  ASSERT_EQ(hsa_ext_image_import(gpus_[0], part.data(), 16, 32, image_, &small), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_ext_image_export(gpus_[0], image_, back.data(), 0, 0, &box), HSA_STATUS_SUCCESS);
  for (unsigned z = 0; z < 3; z++) {
    for (unsigned y = 0; y < 5; y++) {
      for (unsigned x = 0; x < 4; x++) {
        const bool changed = x >= 2 && y >= 1 && y < 3 && z >= 1;
        EXPECT_EQ(back[(z * 5 + y) * 4 + x], changed ? -1 : values[((z + 2) * 8 + y + 1) * 10 + x + 3]);
      }
    }
  }
  const hsa_ext_image_region_t beyond{{7, 0, 0}, {4, 1, 1}};
  EXPECT_EQ(hsa_ext_image_export(gpus_[0], image_, back.data(), 0, 0, &beyond),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_ext_image_destroy(gpus_[0], image_), HSA_STATUS_SUCCESS);
  alignas(isa::kImageAlignment) static std::byte unknown[1 << 16];
  ASSERT_EQ(create(wanted, unknown), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_ext_image_export(gpus_[0], image_, back.data(), 0, 0, &box),
            HSA_STATUS_ERROR_INVALID_ARGUMENT)
      << "memory of nobody";
  EXPECT_EQ(hsa_ext_image_destroy(gpus_[0], image_), HSA_STATUS_SUCCESS);
}

TEST_F(ImageTest, Samplers) {
  const hsa_ext_sampler_descriptor_t wanted{HSA_EXT_SAMPLER_COORDINATE_MODE_NORMALIZED,
                                            HSA_EXT_SAMPLER_FILTER_MODE_LINEAR,
                                            HSA_EXT_SAMPLER_ADDRESSING_MODE_MIRRORED_REPEAT};
  hsa_ext_sampler_t sampler{0};
  ASSERT_EQ(hsa_ext_sampler_create(gpus_[0], &wanted, &sampler), HSA_STATUS_SUCCESS);
  std::string why;
  auto made = isa::decode_sampler(words(sampler.handle), why);
  ASSERT_TRUE(made) << why;
  EXPECT_TRUE(made->normalized && made->linear);
  EXPECT_EQ(made->modes[2], isa::AddressMode::kMirror);
  EXPECT_EQ(hsa_ext_sampler_destroy(gpus_[0], sampler), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_ext_sampler_destroy(gpus_[0], sampler), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  hsa_ext_sampler_descriptor_v2_t newer{
      HSA_EXT_SAMPLER_COORDINATE_MODE_UNNORMALIZED,
      HSA_EXT_SAMPLER_FILTER_MODE_NEAREST,
      {HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE, HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_BORDER,
       HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT}};
  ASSERT_EQ(hsa_ext_sampler_create_v2(gpus_[0], &newer, &sampler), HSA_STATUS_SUCCESS);
  made = isa::decode_sampler(words(sampler.handle), why);
  ASSERT_TRUE(made) << why;
  EXPECT_FALSE(made->normalized || made->linear);
  EXPECT_EQ(made->modes[1], isa::AddressMode::kBorder);
  EXPECT_EQ(hsa_ext_sampler_destroy(gpus_[0], sampler), HSA_STATUS_SUCCESS);
  newer.address_modes[2] = 9;
  EXPECT_EQ(hsa_ext_sampler_create_v2(gpus_[0], &newer, &sampler),
            unsigned{HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED});
}

}  // namespace
}  // namespace tf::amd::hsa::test
