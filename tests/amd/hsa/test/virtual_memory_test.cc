// SPDX-License-Identifier: Apache-2.0
// Reserved addresses, physical memory and mappings.
#include <unistd.h>

#include <cstring>
#include <optional>
#include <vector>

#include "tests/amd/hsa/memory.h"
#include "tests/amd/hsa/newer.h"
#include "tests/amd/hsa/test/hsa_fixture.h"
#include "tests/amd/hsa/virtual_memory.h"

namespace tf::amd::hsa::test {
namespace {

constexpr std::size_t kMappedBytes = 64 << 10;

// Debian 12's header does not name it, so it is no constant of the type.
template <typename Attribute>
Attribute of(unsigned number) {
  return static_cast<Attribute>(number);
}

class VirtualMemoryTest : public HsaTest {
 protected:
  char* reserve(std::size_t bytes, std::uint64_t wanted = 0, std::uint64_t alignment = 0) {
    void* address = nullptr;
    EXPECT_EQ(hsa_amd_vmem_address_reserve_align(&address, bytes, wanted, alignment, 0), HSA_STATUS_SUCCESS);
    return static_cast<char*>(address);
  }
  hsa_amd_vmem_alloc_handle_t create(unsigned gpu, std::size_t bytes = kMappedBytes) {
    hsa_amd_vmem_alloc_handle_t handle{0};
    EXPECT_EQ(hsa_amd_vmem_handle_create(gpu_pools_[gpu].coarse, bytes, MEMORY_TYPE_NONE, 0, &handle),
              HSA_STATUS_SUCCESS);
    return handle;
  }
  hsa_status_t allow(void* address, unsigned gpu,
                     hsa_access_permission_t permission = HSA_ACCESS_PERMISSION_RW) {
    const hsa_amd_memory_access_desc_t wanted{permission, gpus_[gpu]};
    return hsa_amd_vmem_set_access(address, kMappedBytes, &wanted, 1);
  }
  std::uint64_t available(unsigned gpu) {
    std::uint64_t bytes = 0;
    EXPECT_EQ(hsa_agent_get_info(gpus_[gpu], of<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_MEMORY_AVAIL), &bytes),
              HSA_STATUS_SUCCESS);
    return bytes;
  }
  hsa_amd_pointer_info_t info_of(const void* address) {
    hsa_amd_pointer_info_t info{};
    info.size = sizeof info;
    EXPECT_EQ(hsa_amd_pointer_info(address, &info, nullptr, nullptr, nullptr), HSA_STATUS_SUCCESS);
    return info;
  }
};

TEST_F(VirtualMemoryTest, TheSystemSaysThatThereIsSome) {
  bool supported = false;
  const auto system_info = of<hsa_system_info_t>(HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED);
  ASSERT_EQ(hsa_system_get_info(system_info, &supported), HSA_STATUS_SUCCESS);
  EXPECT_TRUE(supported);
  std::size_t granule = 0;
  const auto recommended = of<hsa_amd_memory_pool_info_t>(HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE);
  ASSERT_EQ(hsa_amd_memory_pool_get_info(gpu_pools_[0].coarse, recommended, &granule), HSA_STATUS_SUCCESS);
  EXPECT_EQ(granule, kGranuleBytes);
}

TEST_F(VirtualMemoryTest, MemoryIsReachedByWhomAccessIsGiven) {
  char* const place = reserve(4 * kMappedBytes);
  char* const mapped = place + kMappedBytes;
  const auto handle = create(0);
  EXPECT_EQ(info_of(mapped).type, HSA_EXT_POINTER_TYPE_RESERVED_ADDR);
  ASSERT_EQ(hsa_amd_vmem_map(mapped, kMappedBytes, 0, handle, 0), HSA_STATUS_SUCCESS);
  const auto info = info_of(mapped + 100);
  EXPECT_EQ(info.agentBaseAddress, mapped);
  EXPECT_EQ(info.sizeInBytes, kMappedBytes);
  EXPECT_EQ(info.agentOwner.handle, gpus_[0].handle);

  hsa_access_permission_t permission{};
  ASSERT_EQ(hsa_amd_vmem_get_access(mapped, &permission, gpus_[1]), HSA_STATUS_SUCCESS);
  EXPECT_EQ(static_cast<int>(permission), 0);
  ASSERT_EQ(allow(mapped, 1), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_amd_vmem_get_access(mapped, &permission, gpus_[1]), HSA_STATUS_SUCCESS);
  EXPECT_EQ(permission, HSA_ACCESS_PERMISSION_RW);
  std::memset(mapped, 0x5a, kMappedBytes);

  char* const own = allocate(gpu_pools_[1].coarse, kMappedBytes);
  const hsa_signal_t done = make_signal(1);
  ASSERT_EQ(hsa_amd_memory_async_copy(own, gpus_[1], mapped, gpus_[1], kMappedBytes, 0, nullptr, done),
            HSA_STATUS_SUCCESS);
  ASSERT_EQ(wait(done, HSA_SIGNAL_CONDITION_EQ, 0), 0);
  EXPECT_EQ(std::memcmp(own, mapped, kMappedBytes), 0);
  EXPECT_EQ(hsa_amd_memory_async_copy(own, gpus_[2], mapped, gpus_[2], kMappedBytes, 0, nullptr, done),
            HSA_STATUS_ERROR_INVALID_ALLOCATION);

  EXPECT_EQ(hsa_amd_vmem_address_free(place, 4 * kMappedBytes), HSA_STATUS_ERROR_RESOURCE_FREE);
  EXPECT_EQ(hsa_amd_vmem_unmap(mapped, kMappedBytes / 2), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(hsa_amd_vmem_unmap(mapped, kMappedBytes), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_vmem_unmap(mapped, kMappedBytes), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_EQ(hsa_amd_vmem_address_free(place, kMappedBytes), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_vmem_address_free(place, 4 * kMappedBytes), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_vmem_handle_release(handle), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_vmem_handle_release(handle), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

// A kernel writes where its agent's view says so.
TEST(AgentMemoryTest, WhoMayOnlyReadDoesNotWrite) {
  Memory memory;
  ASSERT_TRUE(memory.add_owner("host", kMappedBytes) && memory.add_owner("agent", kMappedBytes));
  const AgentMemory view(memory, 1);
  char bytes[64];
  memory.add_mapped(bytes, sizeof bytes, 1, 0);
  EXPECT_FALSE(view.find(number_of(bytes)).has_value());
  memory.set_mapped_access(bytes, agent_bit(1), 0);
  ASSERT_TRUE(view.find(number_of(bytes)).has_value());
  EXPECT_FALSE(view.find(number_of(bytes))->writable);
  memory.set_mapped_access(bytes, agent_bit(1), agent_bit(1));
  EXPECT_TRUE(view.find(number_of(bytes))->writable);
  memory.remove_mapped(bytes);
  EXPECT_FALSE(view.find(number_of(bytes)).has_value());
}

TEST_F(VirtualMemoryTest, PlacesThatAreNotFreeAreRefused) {
  char* const place = reserve(4 * kMappedBytes);
  const auto handle = create(0);
  const auto status_of = [&](char* address, std::size_t bytes, hsa_amd_vmem_alloc_handle_t what) {
    return hsa_amd_vmem_map(address, bytes, 0, what, 0);
  };
  EXPECT_EQ(status_of(place - kPageBytes, kMappedBytes, handle), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  char* const too_late = place + 3 * kMappedBytes + kPageBytes;
  EXPECT_EQ(status_of(too_late, kMappedBytes, handle), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of(place + 1, kMappedBytes, handle), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of(place, 2 * kMappedBytes, handle), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of(place, kMappedBytes, {handle.handle + 7}), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_vmem_map(place, kMappedBytes, kPageBytes, handle, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(status_of(place, kMappedBytes, handle), HSA_STATUS_SUCCESS);
  EXPECT_EQ(status_of(place + kPageBytes, kMappedBytes, handle), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  char* const second = place + kMappedBytes;
  ASSERT_EQ(status_of(second, kMappedBytes, handle), HSA_STATUS_SUCCESS);  // the same memory twice
  const hsa_amd_memory_access_desc_t both{HSA_ACCESS_PERMISSION_RW, gpus_[0]};
  EXPECT_EQ(hsa_amd_vmem_set_access(place, 3 * kMappedBytes, &both, 1), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_EQ(hsa_amd_vmem_set_access(place, 5 * kMappedBytes, &both, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(hsa_amd_vmem_set_access(place, 2 * kMappedBytes, &both, 1), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_amd_agents_allow_access(1, &gpus_[2], nullptr, place + 100), HSA_STATUS_SUCCESS);
  hsa_access_permission_t permission{};
  for (const hsa_agent_t gpu : {gpus_[0], gpus_[2]}) {
    ASSERT_EQ(hsa_amd_vmem_get_access(second, &permission, gpu), HSA_STATUS_SUCCESS);
    EXPECT_EQ(permission, HSA_ACCESS_PERMISSION_RW);
  }
  place[17] = 'x';
  EXPECT_EQ(second[17], 'x');
  EXPECT_EQ(hsa_amd_vmem_unmap(place, 2 * kMappedBytes), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_vmem_unmap(place, kMappedBytes), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_vmem_unmap(second, kMappedBytes), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_vmem_handle_release(handle), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_vmem_address_free(place, 4 * kMappedBytes), HSA_STATUS_SUCCESS);
}

TEST_F(VirtualMemoryTest, AddressesAreWhereTheyWereAskedForAndAligned) {
  constexpr std::uint64_t kAlignment = 64 << 20;
  char* const aligned = reserve(kMappedBytes, 0, kAlignment);
  EXPECT_EQ(number_of(aligned) % kAlignment, 0U);
  ASSERT_EQ(hsa_amd_vmem_address_free(aligned, kMappedBytes), HSA_STATUS_SUCCESS);
  char* const again = reserve(kMappedBytes, number_of(aligned));
  EXPECT_EQ(again, aligned);
  char* const elsewhere = reserve(kMappedBytes, number_of(aligned));
  EXPECT_NE(elsewhere, aligned);
  EXPECT_EQ(hsa_amd_vmem_address_free(again, kMappedBytes), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_vmem_address_free(elsewhere, kMappedBytes), HSA_STATUS_SUCCESS);
  void* address = nullptr;
  EXPECT_EQ(hsa_amd_vmem_address_reserve(&address, kMappedBytes + 1, 0, 0),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_vmem_address_reserve_align(&address, kMappedBytes, 0, 3 * kPageBytes, 0),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(VirtualMemoryTest, PhysicalMemoryIsTheAgents) {
  const std::uint64_t before = available(0);
  const auto handle = create(0);
  EXPECT_EQ(available(0), before - kMappedBytes);
  hsa_amd_vmem_alloc_handle_t none{0};
  EXPECT_EQ(hsa_amd_vmem_handle_create(gpu_pools_[0].coarse, 2 * kGpuBytes, MEMORY_TYPE_NONE, 0, &none),
            HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  EXPECT_EQ(hsa_amd_vmem_handle_create(gpu_pools_[0].group, kMappedBytes, MEMORY_TYPE_NONE, 0, &none),
            HSA_STATUS_ERROR_INVALID_ALLOCATION);
  hsa_amd_memory_pool_t pool{0};
  hsa_amd_memory_type_t type{};
  ASSERT_EQ(hsa_amd_vmem_get_alloc_properties_from_handle(handle, &pool, &type), HSA_STATUS_SUCCESS);
  EXPECT_EQ(pool.handle, gpu_pools_[0].coarse.handle);

  char* const place = reserve(kMappedBytes);
  ASSERT_EQ(hsa_amd_vmem_map(place, kMappedBytes, 0, handle, 0), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_amd_vmem_handle_release(handle), HSA_STATUS_SUCCESS);
  EXPECT_EQ(available(0), before - kMappedBytes);  // the mapping keeps it
  hsa_amd_vmem_alloc_handle_t retained{0};
  ASSERT_EQ(hsa_amd_vmem_retain_alloc_handle(&retained, place), HSA_STATUS_SUCCESS);
  EXPECT_EQ(retained.handle, handle.handle);
  ASSERT_EQ(hsa_amd_vmem_unmap(place, kMappedBytes), HSA_STATUS_SUCCESS);
  EXPECT_EQ(available(0), before - kMappedBytes);
  ASSERT_EQ(hsa_amd_vmem_handle_release(retained), HSA_STATUS_SUCCESS);
  EXPECT_EQ(available(0), before);
  EXPECT_EQ(hsa_amd_vmem_address_free(place, kMappedBytes), HSA_STATUS_SUCCESS);
}

TEST_F(VirtualMemoryTest, ADescriptorIsTheSameMemory) {
  const auto handle = create(1);
  int file = -1;
  ASSERT_EQ(hsa_amd_vmem_export_shareable_handle(&file, handle, 0), HSA_STATUS_SUCCESS);
  hsa_amd_vmem_alloc_handle_t imported{0};
  ASSERT_EQ(hsa_amd_vmem_import_shareable_handle(file, &imported), HSA_STATUS_SUCCESS);
  close(file);
  char* const place = reserve(2 * kMappedBytes);
  char* const second = place + kMappedBytes;
  ASSERT_EQ(hsa_amd_vmem_map(place, kMappedBytes, 0, handle, 0), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_amd_vmem_map(second, kMappedBytes, 0, imported, 0), HSA_STATUS_SUCCESS);
  ASSERT_EQ(allow(place, 1), HSA_STATUS_SUCCESS);
  ASSERT_EQ(allow(second, 0), HSA_STATUS_SUCCESS);
  std::strcpy(place, "the same");
  EXPECT_STREQ(second, "the same");
  EXPECT_EQ(info_of(second).agentOwner.handle, gpus_[1].handle);
  for (char* const one : {place, second})
    EXPECT_EQ(hsa_amd_vmem_unmap(one, kMappedBytes), HSA_STATUS_SUCCESS);
  for (const auto one : {handle, imported}) EXPECT_EQ(hsa_amd_vmem_handle_release(one), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_vmem_address_free(place, 2 * kMappedBytes), HSA_STATUS_SUCCESS);

  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  for (const int other : {ends[0], -1})
    EXPECT_EQ(hsa_amd_vmem_import_shareable_handle(other, &imported), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  for (const int end : ends) close(end);
}

}  // namespace
}  // namespace tf::amd::hsa::test
