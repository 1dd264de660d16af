// SPDX-License-Identifier: Apache-2.0
// The stand-in's agents, as programs find them, and what it refuses.
#include <hsa/hsa_ven_amd_loader.h>

#include <cstdlib>
#include <string>

#include "tests/amd/hsa/isas.h"
#include "tests/amd/hsa/newer.h"
#include "tests/amd/hsa/test/hsa_fixture.h"

namespace tf::amd::hsa::test {
namespace {

class SystemTest : public HsaTest {};

// A number that the enumeration does not name, as a C program may pass it.
template <typename Enumeration>
Enumeration as(unsigned number) {
  return static_cast<Enumeration>(number);
}

std::string text_of(hsa_agent_t agent, unsigned attribute) {
  char text[64] = {};
  EXPECT_EQ(hsa_agent_get_info(agent, static_cast<hsa_agent_info_t>(attribute), text), HSA_STATUS_SUCCESS);
  return text;
}

TEST_F(SystemTest, NothingWorksBeforeInitAndAfterShutDown) {
  ASSERT_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
  void* memory = nullptr;
  EXPECT_EQ(hsa_amd_memory_pool_allocate(host_pools_.fine, 4096, 0, &memory),
            HSA_STATUS_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
  ASSERT_EQ(hsa_init(), HSA_STATUS_SUCCESS);
}

TEST_F(SystemTest, AGpuAgentSaysThatItIsAStandIn) {
  for (const hsa_agent_t gpu : gpus_) {
    EXPECT_EQ(text_of(gpu, HSA_AGENT_INFO_NAME), isa_name());
    EXPECT_EQ(text_of(gpu, HSA_AMD_AGENT_INFO_PRODUCT_NAME), isa_name() + " stand-in on the host's cores");
    std::uint32_t lanes = 0;
    EXPECT_EQ(hsa_agent_get_info(gpu, HSA_AGENT_INFO_WAVEFRONT_SIZE, &lanes), HSA_STATUS_SUCCESS);
    EXPECT_EQ(lanes, isa_name() == "gfx1100" ? 32U : 64U);
  }
}

TEST_F(SystemTest, AGpuAgentTellsItsClockItsEnginesAndItsFreeMemory) {
  const auto ask = [&](unsigned attribute, auto number) {
    EXPECT_EQ(hsa_agent_get_info(gpus_[0], as<hsa_agent_info_t>(attribute), &number), HSA_STATUS_SUCCESS);
    return number;
  };
  EXPECT_EQ(ask(HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY, std::uint64_t{0}), 100'000'000U);
  EXPECT_EQ(ask(HSA_AMD_AGENT_INFO_NUM_SDMA_ENG, std::uint32_t{0}), 2U);
  EXPECT_EQ(ask(HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG, std::uint32_t{9}), 0U);
  const std::uint64_t before = ask(HSA_AMD_AGENT_INFO_MEMORY_AVAIL, std::uint64_t{0});
  EXPECT_LE(before, kGpuBytes);
  allocate(gpu_pools_[0].coarse, 1 << 20);
  EXPECT_EQ(ask(HSA_AMD_AGENT_INFO_MEMORY_AVAIL, std::uint64_t{0}), before - (1 << 20));
}

TEST_F(SystemTest, ALibraryThatDoesNotNameAProcessorDoesNotKnowIt) {
  std::string library;
  constexpr Isa kThere{.name = "gfx1100"};
  EXPECT_TRUE(library_knows(kThere, reinterpret_cast<const void*>(&hsa_init), library));
  EXPECT_NE(library.find("libhsa-runtime64"), std::string::npos) << library;
  const auto* of_c = reinterpret_cast<const void*>(&std::getenv);
  EXPECT_FALSE(library_knows(kThere, of_c, library)) << library;
}

TEST_F(SystemTest, TheIsaIsNamedWithItsFeatures) {
  std::string name;
  const auto read = [](hsa_isa_t isa, void* data) {
    std::uint32_t length = 0;
    hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, &length);
    std::string text(length, 'x');
    const hsa_status_t status = hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, text.data());
    *static_cast<std::string*>(data) = text.c_str();
    return status;
  };
  ASSERT_EQ(hsa_agent_iterate_isas(gpus_[1], read, &name), HSA_STATUS_SUCCESS);
  EXPECT_EQ(name, "amdgcn-amd-amdhsa--" + isa_name() + (isa_name() == "gfx1100" ? "" : ":sramecc+:xnack-"));
}

TEST_F(SystemTest, UnknownAttributesAndAgentsAreRefused) {
  std::uint32_t value = 0;
  EXPECT_EQ(hsa_agent_get_info(gpus_[0], as<hsa_agent_info_t>(0xafff), &value),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_agent_get_info({0}, HSA_AGENT_INFO_NODE, &value), HSA_STATUS_ERROR_INVALID_AGENT);
  EXPECT_EQ(hsa_agent_get_info({12345}, HSA_AGENT_INFO_NODE, &value), HSA_STATUS_ERROR_INVALID_AGENT);
  EXPECT_EQ(hsa_system_get_info(as<hsa_system_info_t>(999), &value), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(SystemTest, EveryStatusHasItsName) {
  const char* text = nullptr;
  ASSERT_EQ(hsa_status_string(static_cast<hsa_status_t>(HSA_STATUS_ERROR_MEMORY_FAULT), &text),
            HSA_STATUS_SUCCESS);
  EXPECT_STREQ(text, "HSA_STATUS_ERROR_MEMORY_FAULT");
  EXPECT_EQ(hsa_status_string(as<hsa_status_t>(0x7777), &text), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(SystemTest, ImagesAndTheLoaderAreExtensions) {
  bool supported = false;
  EXPECT_EQ(hsa_system_extension_supported(HSA_EXTENSION_IMAGES, 1, 0, &supported), HSA_STATUS_SUCCESS);
  EXPECT_TRUE(supported);
  EXPECT_EQ(hsa_agent_extension_supported(HSA_EXTENSION_IMAGES, host_, 1, 0, &supported), HSA_STATUS_SUCCESS);
  EXPECT_FALSE(supported);
  EXPECT_EQ(hsa_system_extension_supported(HSA_EXTENSION_FINALIZER, 1, 0, &supported), HSA_STATUS_SUCCESS);
  EXPECT_FALSE(supported);
  hsa_ven_amd_loader_1_01_pfn_t table{};
  ASSERT_EQ(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof table, &table),
            HSA_STATUS_SUCCESS);
  EXPECT_NE(table.hsa_ven_amd_loader_loaded_code_object_get_info, nullptr);
  EXPECT_EQ(hsa_system_get_major_extension_table(HSA_EXTENSION_IMAGES, 1, sizeof table, &table),
            HSA_STATUS_ERROR);
}

TEST_F(SystemTest, WhatIsNotDoneFails) {
  EXPECT_EQ(hsa_amd_image_create(gpus_[0], nullptr, nullptr, nullptr, HSA_ACCESS_PERMISSION_RW, nullptr),
            HSA_STATUS_ERROR);
  EXPECT_EQ(hsa_amd_interop_unmap_buffer(nullptr), HSA_STATUS_ERROR);
  EXPECT_EQ(hsa_amd_svm_attributes_get(nullptr, 0, nullptr, 0), HSA_STATUS_ERROR);
}

}  // namespace
}  // namespace tf::amd::hsa::test
