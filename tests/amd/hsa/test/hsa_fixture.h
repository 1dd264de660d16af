// SPDX-License-Identifier: Apache-2.0
// What the tests of the stand-in share: its agents and pools, found as any program finds them. Three GPU
// agents with 64 MiB each are asked for by the environment of the tests (CMakeLists.txt).
#pragma once

#include <gtest/gtest.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

namespace tf::amd::hsa::test {

constexpr std::size_t kGpuBytes = 64 << 20;
constexpr std::uint64_t kSoon_ns = 10'000'000'000;  // more than anything here takes

// What the agents are.
inline std::string isa_name() {
  const char* name = std::getenv("HSA_STANDIN_ISA");
  return name == nullptr ? "gfx90a" : name;
}

struct Pools {
  hsa_amd_memory_pool_t fine{0}, kernarg{0}, coarse{0}, group{0};
};

inline hsa_status_t sort_pool(hsa_amd_memory_pool_t pool, void* data) {
  auto& pools = *static_cast<Pools*>(data);
  hsa_amd_segment_t segment{};
  std::uint32_t flags = 0;
  hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
  hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
  if (segment == HSA_AMD_SEGMENT_GROUP) {
    pools.group = pool;
  } else if ((flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) != 0) {
    pools.kernarg = pool;
  } else if ((flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED) != 0) {
    pools.fine = pool;
  } else {
    pools.coarse = pool;
  }
  return HSA_STATUS_SUCCESS;
}

class HsaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(hsa_init(), HSA_STATUS_SUCCESS);
    const auto sort_agent = [](hsa_agent_t agent, void* data) {
      auto& test = *static_cast<HsaTest*>(data);
      hsa_device_type_t type{};
      hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
      if (type == HSA_DEVICE_TYPE_GPU) test.gpus_.push_back(agent);
      if (type == HSA_DEVICE_TYPE_CPU) test.host_ = agent;
      return HSA_STATUS_SUCCESS;
    };
    ASSERT_EQ(hsa_iterate_agents(sort_agent, this), HSA_STATUS_SUCCESS);
    ASSERT_EQ(gpus_.size(), 3U);
    ASSERT_EQ(hsa_amd_agent_iterate_memory_pools(host_, sort_pool, &host_pools_), HSA_STATUS_SUCCESS);
    for (const hsa_agent_t gpu : gpus_) {
      ASSERT_EQ(hsa_amd_agent_iterate_memory_pools(gpu, sort_pool, &gpu_pools_.emplace_back()),
                HSA_STATUS_SUCCESS);
    }
  }
  void TearDown() override {
    for (const hsa_signal_t signal : signals_) EXPECT_EQ(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
    for (void* memory : memory_) EXPECT_EQ(hsa_amd_memory_pool_free(memory), HSA_STATUS_SUCCESS);
    EXPECT_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
  }

  // Both live until the end of the test.
  hsa_signal_t make_signal(hsa_signal_value_t value) {
    hsa_signal_t signal{0};
    EXPECT_EQ(hsa_signal_create(value, 0, nullptr, &signal), HSA_STATUS_SUCCESS);
    signals_.push_back(signal);
    return signal;
  }
  template <typename Element = char>
  Element* allocate(hsa_amd_memory_pool_t pool, std::size_t count) {
    void* memory = nullptr;
    EXPECT_EQ(hsa_amd_memory_pool_allocate(pool, count * sizeof(Element), 0, &memory), HSA_STATUS_SUCCESS);
    memory_.push_back(memory);
    return static_cast<Element*>(memory);
  }
  // Of the host, reached by the first GPU agent.
  template <typename Element = char>
  Element* allocate_shared(std::size_t count) {
    auto* memory = allocate<Element>(host_pools_.fine, count);
    EXPECT_EQ(hsa_amd_agents_allow_access(1, &gpus_[0], nullptr, memory), HSA_STATUS_SUCCESS);
    return memory;
  }
  // The value once `condition` holds, or after kSoon_ns.
  static hsa_signal_value_t wait(hsa_signal_t signal, hsa_signal_condition_t condition,
                                 hsa_signal_value_t value) {
    return hsa_signal_wait_scacquire(signal, condition, value, kSoon_ns, HSA_WAIT_STATE_BLOCKED);
  }

  hsa_agent_t host_{0};
  std::vector<hsa_agent_t> gpus_;
  Pools host_pools_;
  std::vector<Pools> gpu_pools_;

 private:
  std::vector<hsa_signal_t> signals_;
  std::vector<void*> memory_;
};

}  // namespace tf::amd::hsa::test
