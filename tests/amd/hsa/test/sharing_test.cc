// SPDX-License-Identifier: Apache-2.0
// Memory and signals between processes: the test starts itself as the other process. And that children of
// fork() share nothing.
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>

#include "tests/amd/hsa/newer.h"
#include "tests/amd/hsa/test/hsa_fixture.h"

extern char** environ;

namespace tf::amd::hsa::test {
namespace {

constexpr std::size_t kBytes = 100000;
constexpr const char* kMemoryVariable = "HSA_TEST_MEMORY";
constexpr const char* kSignalVariable = "HSA_TEST_SIGNAL";

class SharingTest : public HsaTest {};

std::string text_of(const hsa_amd_ipc_memory_t& handle) {
  std::string text;
  for (const std::uint32_t word : handle.handle) text += std::to_string(word) + ",";
  return text;
}

hsa_amd_ipc_memory_t handle_of(const char* text) {
  hsa_amd_ipc_memory_t handle{};
  for (std::uint32_t& word : handle.handle) {
    char* end = nullptr;
    word = static_cast<std::uint32_t>(std::strtoul(text, &end, 10));
    text = end + 1;
  }
  return handle;
}

// Runs the test TheOtherProcess of this program with the handles. Returns its exit status.
int run_other_process(const hsa_amd_ipc_memory_t& memory, const hsa_amd_ipc_signal_t& signal) {
  setenv(kMemoryVariable, text_of(memory).c_str(), 1);
  setenv(kSignalVariable, text_of(signal).c_str(), 1);
  char program[] = "/proc/self/exe";
  char filter[] = "--gtest_filter=SharingTest.TheOtherProcess";
  char* arguments[] = {program, filter, nullptr};
  pid_t child = 0;
  int status = -1;
  if (posix_spawn(&child, program, nullptr, nullptr, arguments, environ) == 0) waitpid(child, &status, 0);
  unsetenv(kMemoryVariable);
  unsetenv(kSignalVariable);
  return status;
}

TEST_F(SharingTest, TheOtherProcess) {
  const char* text = std::getenv(kMemoryVariable);
  if (text == nullptr) return;  // SharingTest.BothProcessesSeeMemoryAndSignal runs it
  const hsa_amd_ipc_memory_t memory_handle = handle_of(text);
  const hsa_amd_ipc_signal_t signal_handle = handle_of(std::getenv(kSignalVariable));
  void* memory = nullptr;
  ASSERT_EQ(hsa_amd_ipc_memory_attach(&memory_handle, kBytes, 1, gpus_.data(), &memory), HSA_STATUS_SUCCESS);
  hsa_signal_t signal{0};
  ASSERT_EQ(hsa_amd_ipc_signal_attach(&signal_handle, &signal), HSA_STATUS_SUCCESS);
  EXPECT_EQ(static_cast<unsigned char*>(memory)[kBytes - 1], 0x11);
  std::memset(memory, 0x22, kBytes);
  hsa_amd_pointer_info_t info{};
  info.size = sizeof info;
  ASSERT_EQ(hsa_amd_pointer_info(memory, &info, nullptr, nullptr, nullptr), HSA_STATUS_SUCCESS);
  EXPECT_EQ(info.type, HSA_EXT_POINTER_TYPE_IPC);
  hsa_signal_subtract_relaxed(signal, 1);
  ASSERT_EQ(hsa_amd_ipc_memory_detach(memory), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_ipc_memory_detach(memory), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
}

TEST_F(SharingTest, BothProcessesSeeMemoryAndSignal) {
  char* memory = allocate(gpu_pools_[0].coarse, kBytes);
  std::memset(memory, 0x11, kBytes);
  const hsa_signal_t signal = make_signal(1);
  hsa_amd_ipc_memory_t memory_handle{};
  hsa_amd_ipc_signal_t signal_handle{};
  ASSERT_EQ(hsa_amd_ipc_memory_create(memory, kBytes, &memory_handle), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_amd_ipc_signal_create(signal, &signal_handle), HSA_STATUS_SUCCESS);
  EXPECT_EQ(run_other_process(memory_handle, signal_handle), 0);
  EXPECT_EQ(wait(signal, HSA_SIGNAL_CONDITION_EQ, 0), 0);
  EXPECT_EQ(memory[0], 0x22);
  EXPECT_EQ(memory[kBytes - 1], 0x22);
}

TEST_F(SharingTest, OnlyWholeAllocationsAndRealHandles) {
  char* memory = allocate(gpu_pools_[0].coarse, kBytes);
  hsa_amd_ipc_memory_t handle{};
  EXPECT_EQ(hsa_amd_ipc_memory_create(memory + 4096, kBytes - 4096, &handle),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_ipc_memory_create(memory, 50, &handle), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  void* mapped = nullptr;
  EXPECT_EQ(hsa_amd_ipc_memory_attach(&handle, kBytes, 0, nullptr, &mapped),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(hsa_amd_ipc_memory_create(memory, kBytes, &handle), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_ipc_memory_attach(&handle, kBytes * 2, 0, nullptr, &mapped),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

// What `check` returns in a child of fork(), which ends then.
template <typename Check>
int in_child(const Check& check) {
  const pid_t child = fork();
  if (child == 0) _exit(check());
  int status = -1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Fills new memory of each pool, and says which step failed.
int use_memory(std::initializer_list<hsa_amd_memory_pool_t> pools) {
  for (const hsa_amd_memory_pool_t pool : pools) {
    void* memory = nullptr;
    if (hsa_amd_memory_pool_allocate(pool, kBytes, 0, &memory) != HSA_STATUS_SUCCESS) return 1;
    if (static_cast<char*>(memory)[0] != 0) return 2;
    std::memset(memory, 0x22, kBytes);
  }
  return 0;
}

bool is_zero(const char* memory) {
  return std::all_of(memory, memory + kBytes, [](char byte) { return byte == 0; });
}

TEST_F(SharingTest, AChildOfForkHasARuntimeOfItsOwn) {
  char* before = allocate(gpu_pools_[0].coarse, kBytes);
  hsa_amd_vmem_alloc_handle_t physical{0};
  ASSERT_EQ(hsa_amd_vmem_handle_create(gpu_pools_[0].coarse, 4096, MEMORY_TYPE_NONE, 0, &physical),
            HSA_STATUS_SUCCESS);
  int file = -1;
  ASSERT_EQ(hsa_amd_vmem_export_shareable_handle(&file, physical, 0), HSA_STATUS_SUCCESS);
  struct stat there {};
  ASSERT_EQ(fstat(file, &there), 0);
  close(file);
  // Whether this process has the file open.
  const auto is_open = [&there] {
    for (int one = 0; one < 1024; one++) {
      struct stat status {};
      if (fstat(one, &status) == 0 && status.st_ino == there.st_ino && status.st_dev == there.st_dev)
        return true;
    }
    return false;
  };
  EXPECT_TRUE(is_open());
  EXPECT_EQ(
      in_child([&] {
        if (is_open()) return 9;
        void* memory = nullptr;
        if (hsa_amd_memory_pool_allocate(host_pools_.fine, 1, 0, &memory) != HSA_STATUS_ERROR_NOT_INITIALIZED)
          return 10;
        if (hsa_init() != HSA_STATUS_SUCCESS) return 11;
        const int failed = use_memory({host_pools_.fine, gpu_pools_[0].coarse});
        return hsa_shut_down() == HSA_STATUS_SUCCESS ? failed : 12;
      }),
      0);
  EXPECT_EQ(hsa_amd_vmem_handle_release(physical), HSA_STATUS_SUCCESS);
  EXPECT_TRUE(is_zero(before));
  EXPECT_TRUE(is_zero(allocate(gpu_pools_[0].coarse, kBytes)));
  EXPECT_TRUE(is_zero(allocate(host_pools_.fine, kBytes)));
}

// As RCCL's tests count the devices before they start a process for each.
TEST_F(SharingTest, ChildrenOfAProcessThatHasShutDownDoNotShareMemory) {
  ASSERT_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
  EXPECT_EQ(
      in_child([&] {
        return hsa_init() == HSA_STATUS_SUCCESS ? use_memory({host_pools_.fine, gpu_pools_[0].coarse}) : 11;
      }),
      0);
  ASSERT_EQ(hsa_init(), HSA_STATUS_SUCCESS);
  EXPECT_TRUE(is_zero(allocate(gpu_pools_[0].coarse, kBytes)));
  EXPECT_TRUE(is_zero(allocate(host_pools_.fine, kBytes)));
}

}  // namespace
}  // namespace tf::amd::hsa::test
