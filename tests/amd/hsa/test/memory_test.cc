// SPDX-License-Identifier: Apache-2.0
// Pools, access of agents, locked memory, copies.
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "tests/amd/hsa/newer.h"
#include "tests/amd/hsa/test/hsa_fixture.h"

namespace tf::amd::hsa::test {
namespace {

class MemoryTest : public HsaTest {
 protected:
  hsa_amd_pointer_info_t info_of(const void* address) {
    hsa_amd_pointer_info_t info{};
    info.size = sizeof info;
    hsa_agent_t* agents = nullptr;
    std::uint32_t count = 0;
    EXPECT_EQ(hsa_amd_pointer_info(address, &info, std::malloc, &count, &agents), HSA_STATUS_SUCCESS);
    accessible_.assign(agents, agents + count);
    std::free(agents);
    return info;
  }
  hsa_status_t copy(void* target, hsa_agent_t to, const void* source, hsa_agent_t from, std::size_t bytes) {
    const hsa_signal_t done = make_signal(1);
    const hsa_status_t status = hsa_amd_memory_async_copy(target, to, source, from, bytes, 0, nullptr, done);
    if (status != HSA_STATUS_SUCCESS) return status;
    EXPECT_EQ(wait(done, HSA_SIGNAL_CONDITION_EQ, 0), 0);
    return status;
  }
  std::vector<hsa_agent_t> accessible_;  // of the last info_of()
};

TEST_F(MemoryTest, NewMemoryIsZeroAlsoWhereOtherMemoryWas) {
  constexpr std::size_t kBytes = 1 << 20;
  for (int round = 0; round < 3; round++) {
    void* memory = nullptr;
    ASSERT_EQ(hsa_amd_memory_pool_allocate(gpu_pools_[0].coarse, kBytes, 0, &memory), HSA_STATUS_SUCCESS);
    auto* bytes = static_cast<unsigned char*>(memory);
    EXPECT_EQ(std::accumulate(bytes, bytes + kBytes, 0ULL), 0U);
    std::memset(memory, 0xee, kBytes);
    ASSERT_EQ(hsa_amd_memory_pool_free(memory), HSA_STATUS_SUCCESS);
    EXPECT_EQ(hsa_amd_memory_pool_free(memory), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  }
}

TEST_F(MemoryTest, AnAgentHasSoMuchMemoryAndNoMore) {
  std::vector<void*> pieces;
  void* piece = nullptr;
  while (hsa_amd_memory_pool_allocate(gpu_pools_[0].coarse, kGpuBytes / 8, 0, &piece) == HSA_STATUS_SUCCESS) {
    pieces.push_back(piece);
    ASSERT_LE(pieces.size(), 8U);
  }
  EXPECT_GE(pieces.size(), 7U);  // code and queues of other tests may take some
  EXPECT_EQ(hsa_amd_memory_pool_allocate(gpu_pools_[0].coarse, kGpuBytes / 8, 0, &piece),
            HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  for (void* one : pieces) EXPECT_EQ(hsa_amd_memory_pool_free(one), HSA_STATUS_SUCCESS);
  // What was given back in pieces is one piece again.
  ASSERT_EQ(hsa_amd_memory_pool_allocate(gpu_pools_[0].coarse, kGpuBytes / 8 * 7, 0, &piece),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_memory_pool_free(piece), HSA_STATUS_SUCCESS);
}

TEST_F(MemoryTest, GroupMemoryCannotBeAllocated) {
  void* memory = nullptr;
  EXPECT_EQ(hsa_amd_memory_pool_allocate(gpu_pools_[0].group, 64, 0, &memory),
            HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_EQ(static_cast<int>(hsa_amd_memory_pool_allocate({7}, 64, 0, &memory)),
            HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
}

TEST_F(MemoryTest, PointerInfoTellsTheAllocationAndWhoReachesIt) {
  char* memory = allocate(gpu_pools_[1].coarse, 10000);
  const auto info = info_of(memory + 5000);
  EXPECT_EQ(info.type, HSA_EXT_POINTER_TYPE_HSA);
  EXPECT_EQ(info.agentBaseAddress, memory);
  EXPECT_EQ(info.sizeInBytes, 12288U);
  EXPECT_EQ(info.agentOwner.handle, gpus_[1].handle);
  ASSERT_EQ(accessible_.size(), 1U);
  ASSERT_EQ(hsa_amd_agents_allow_access(1, &gpus_[2], nullptr, memory), HSA_STATUS_SUCCESS);
  info_of(memory);
  ASSERT_EQ(accessible_.size(), 2U);
  EXPECT_EQ(accessible_[1].handle, gpus_[2].handle);
  int local = 0;
  EXPECT_EQ(info_of(&local).type, HSA_EXT_POINTER_TYPE_UNKNOWN);
}

TEST_F(MemoryTest, APeerCopiesOnlyWhatItMayReach) {
  constexpr std::size_t kBytes = 8192;
  char* first = allocate(gpu_pools_[0].coarse, kBytes);
  char* second = allocate(gpu_pools_[1].coarse, kBytes);
  std::memset(first, 0x5a, kBytes);
  EXPECT_EQ(copy(second, gpus_[1], first, gpus_[0], kBytes), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  ASSERT_EQ(hsa_amd_agents_allow_access(1, &gpus_[0], nullptr, second), HSA_STATUS_SUCCESS);
  ASSERT_EQ(copy(second, gpus_[1], first, gpus_[0], kBytes), HSA_STATUS_SUCCESS);
  EXPECT_EQ(std::memcmp(first, second, kBytes), 0);
  EXPECT_EQ(copy(second, gpus_[1], first, gpus_[0], kBytes + 1), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

TEST_F(MemoryTest, MemoryOfTheHostIsReachedWhileItIsLocked) {
  std::vector<char> own(3 * 4096, 'q');
  char* device = allocate(gpu_pools_[0].coarse, own.size());
  EXPECT_EQ(copy(device, gpus_[0], own.data(), host_, own.size()), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  void* seen = nullptr;
  ASSERT_EQ(hsa_amd_memory_lock_to_pool(own.data(), own.size(), nullptr, 0, host_pools_.fine, 0, &seen),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(info_of(own.data()).type, HSA_EXT_POINTER_TYPE_LOCKED);
  ASSERT_EQ(copy(device, gpus_[0], seen, host_, own.size()), HSA_STATUS_SUCCESS);
  EXPECT_EQ(std::memcmp(device, own.data(), own.size()), 0);
  ASSERT_EQ(hsa_amd_memory_unlock(own.data()), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_memory_unlock(own.data()), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(copy(device, gpus_[0], own.data(), host_, own.size()), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

TEST_F(MemoryTest, LockedRangesOverlap) {
  std::vector<char> own(8 * 4096, 'r');
  char* device = allocate(gpu_pools_[0].coarse, own.size());
  void* seen = nullptr;
  for (const std::size_t bytes : {std::size_t{4096}, own.size(), std::size_t{100}}) {
    ASSERT_EQ(hsa_amd_memory_lock(own.data(), bytes, nullptr, 0, &seen), HSA_STATUS_SUCCESS);
  }
  EXPECT_EQ(copy(device, gpus_[0], own.data(), host_, own.size()), HSA_STATUS_SUCCESS);
  for (int lock = 0; lock < 3; lock++) EXPECT_EQ(hsa_amd_memory_unlock(own.data()), HSA_STATUS_SUCCESS);
  EXPECT_EQ(copy(device, gpus_[0], own.data(), host_, own.size()), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

TEST_F(MemoryTest, ACopyWaitsForItsSignalsAndTellsItsTimes) {
  int* source = allocate_shared<int>(1000);
  int* target = allocate<int>(gpu_pools_[0].coarse, 1000);
  const hsa_signal_t go = make_signal(1);
  const hsa_signal_t done = make_signal(1);
  ASSERT_EQ(hsa_amd_memory_async_copy(target, gpus_[0], source, host_, 4000, 1, &go, done),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, 20'000'000, HSA_WAIT_STATE_BLOCKED),
            1);
  source[999] = 77;  // the copy has not begun
  hsa_signal_store_screlease(go, 0);
  ASSERT_EQ(wait(done, HSA_SIGNAL_CONDITION_EQ, 0), 0);
  EXPECT_EQ(target[999], 77);
  hsa_amd_profiling_async_copy_time_t time{};
  ASSERT_EQ(hsa_amd_profiling_get_async_copy_time(done, &time), HSA_STATUS_SUCCESS);
  EXPECT_GT(time.start, 0U);
  EXPECT_GE(time.end, time.start);
}

TEST_F(MemoryTest, ACopyTakesTheEngineOfItsDirection) {
  int* host = allocate_shared<int>(1000);
  int* device = allocate<int>(gpu_pools_[0].coarse, 1000);
  std::uint32_t engines = 0, back = 0;
  ASSERT_EQ(hsa_amd_memory_copy_engine_status(gpus_[0], host_, &engines), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_amd_memory_copy_engine_status(host_, gpus_[0], &back), HSA_STATUS_SUCCESS);
  EXPECT_EQ(engines & back, 0U);
  EXPECT_EQ(hsa_amd_memory_copy_engine_status(gpus_[0], gpus_[0], &engines), HSA_STATUS_ERROR_INVALID_AGENT);
  const auto copy_by = [&](std::uint32_t engine, hsa_signal_t done) {
    return hsa_amd_memory_async_copy_on_engine(device, gpus_[0], host, host_, 4000, 0, nullptr, done,
                                               static_cast<hsa_amd_sdma_engine_id_t>(engine), false);
  };
  host[999] = 42;
  const hsa_signal_t done = make_signal(1);
  EXPECT_EQ(copy_by(back, done), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(copy_by(engines, done), HSA_STATUS_SUCCESS);
  ASSERT_EQ(wait(done, HSA_SIGNAL_CONDITION_EQ, 0), 0);
  EXPECT_EQ(device[999], 42);
}

TEST_F(MemoryTest, ABoxIsCopiedRowByRow) {
  constexpr std::uint32_t kPitch = 64, kRows = 4, kSlices = 2;
  auto* source = allocate_shared<unsigned char>(kPitch * kRows * kSlices);
  auto* target = allocate<unsigned char>(gpu_pools_[0].coarse, kPitch * kRows * kSlices);
  for (unsigned at = 0; at < kPitch * kRows * kSlices; at++)
    source[at] = static_cast<unsigned char>(at * 3 + 1);
  const hsa_pitched_ptr_t from{source, kPitch, kPitch * kRows};
  const hsa_pitched_ptr_t to{target, kPitch, kPitch * kRows};
  const hsa_dim3_t from_offset{8, 1, 0}, to_offset{4, 0, 1}, range{16, 2, 1};
  const hsa_signal_t done = make_signal(1);
  ASSERT_EQ(hsa_amd_memory_async_copy_rect(&to, &to_offset, &from, &from_offset, &range, gpus_[0],
                                           hsaHostToDevice, 0, nullptr, done),
            HSA_STATUS_SUCCESS);
  ASSERT_EQ(wait(done, HSA_SIGNAL_CONDITION_EQ, 0), 0);
  unsigned copied = 0;
  for (unsigned at = 0; at < kPitch * kRows * kSlices; at++) copied += target[at] != 0;
  EXPECT_LE(copied, 32U);
  for (unsigned row = 0; row < 2; row++) {
    EXPECT_EQ(std::memcmp(target + kPitch * kRows + row * kPitch + 4, source + (row + 1) * kPitch + 8, 16), 0)
        << row;
  }
  const hsa_dim3_t odd{15, 2, 1}, tall{16, 4, 2};
  EXPECT_EQ(hsa_amd_memory_async_copy_rect(&to, &to_offset, &from, &from_offset, &odd, gpus_[0],
                                           hsaHostToDevice, 0, nullptr, done),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  const hsa_pitched_ptr_t huge{target, std::size_t{1} << 50, std::size_t{1} << 60};
  EXPECT_EQ(hsa_amd_memory_async_copy_rect(&huge, &to_offset, &from, &from_offset, &tall, gpus_[0],
                                           hsaHostToDevice, 0, nullptr, done),
            HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

TEST_F(MemoryTest, FillWritesWords) {
  auto* memory = allocate<std::uint32_t>(gpu_pools_[0].coarse, 1024);
  ASSERT_EQ(hsa_amd_memory_fill(memory + 1, 0xabcd1234, 1000), HSA_STATUS_SUCCESS);
  EXPECT_EQ(memory[0], 0U);
  EXPECT_EQ(memory[1000], 0xabcd1234U);
  EXPECT_EQ(memory[1001], 0U);
  EXPECT_EQ(hsa_amd_memory_fill(memory, 0, 1025), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

}  // namespace
}  // namespace tf::amd::hsa::test
