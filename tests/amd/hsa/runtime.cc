// SPDX-License-Identifier: Apache-2.0
#include "tests/amd/hsa/runtime.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "tests/amd/hsa/report.h"

namespace tf::amd::hsa {
namespace {

constexpr std::size_t kMebibyte = 1024 * 1024;
constexpr std::size_t kGroupBytes = isa::kGroupSegmentBytesMax;

std::mutex life_mutex;
Runtime* the_runtime = nullptr;  // never destroyed: threads of queues may run while the process ends
std::uint32_t references = 0;
std::atomic<Runtime*> in_use{nullptr};  // the_runtime while there are references

// The number in a variable of the environment; `otherwise` where it is not set, nothing where it is no such
// number.
std::size_t number_from(const char* variable, std::size_t otherwise, std::size_t most) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return otherwise;
  char* end = nullptr;
  const unsigned long long number = std::strtoull(text, &end, 10);
  if (*end != '\0' || number == 0 || number > most) {
    report(std::string(variable) + "=" + text + " is not a number from 1 to " + std::to_string(most));
    return 0;
  }
  return number;
}

std::size_t host_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
}

}  // namespace

bool SystemEvents::set_handler(hsa_amd_system_event_callback_t callback, void* data) {
  const std::lock_guard lock(mutex_);
  if (callback_ != nullptr) return false;
  callback_ = callback;
  data_ = data;
  return true;
}

void SystemEvents::tell_fault(hsa_agent_t agent, std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  if (callback_ == nullptr) return;
  hsa_amd_event_t event{};
  event.event_type = HSA_AMD_GPU_MEMORY_FAULT_EVENT;
  event.memory_fault = {agent, address, HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT};
  if (callback_(&event, data_) != HSA_STATUS_SUCCESS) report("the handler of a memory fault has failed");
}

// A child of fork() has neither the threads nor the memory of the parent's runtime: it begins anew, with a
// runtime of its own. What is left of the parent's objects is never looked at again.
void Runtime::begin_anew_after_fork() {
  if (the_runtime != nullptr) {
    the_runtime->virtual_memory.abandon();
    the_runtime->memory.abandon();
  }
  the_runtime = nullptr;
  references = 0;
  in_use.store(nullptr, std::memory_order_release);
  life_mutex.unlock();
}

Runtime* Runtime::current() { return in_use.load(std::memory_order_acquire); }

hsa_status_t Runtime::init() {
  const std::lock_guard lock(life_mutex);
  if (references == UINT32_MAX) return HSA_STATUS_ERROR_REFCOUNT_OVERFLOW;
  if (the_runtime == nullptr) {
    static const int kToldOfForks = pthread_atfork([] { life_mutex.lock(); }, [] { life_mutex.unlock(); },
                                                   &Runtime::begin_anew_after_fork);
    if (kToldOfForks != 0) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    auto runtime = std::make_unique<Runtime>();
    if (!runtime->make_agents()) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    the_runtime = runtime.release();
  }
  references++;
  in_use.store(the_runtime, std::memory_order_release);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t Runtime::shut_down() {
  const std::lock_guard lock(life_mutex);
  if (references == 0) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (--references == 0) in_use.store(nullptr, std::memory_order_release);
  return HSA_STATUS_SUCCESS;
}

bool Runtime::make_agents() {
  const std::size_t gpus = number_from("HSA_STANDIN_AGENTS", 1, kAgentsMax - 1);
  const std::size_t mebibytes = number_from("HSA_STANDIN_MEMORY_MIB", 4096, 256 * 1024);
  const char* name = std::getenv("HSA_STANDIN_ISA");
  isa = isa_called(name == nullptr || *name == '\0' ? "gfx90a" : name);
  if (gpus == 0 || mebibytes == 0 || isa == nullptr) return false;
  gpu_bytes = mebibytes * kMebibyte;
  const char* times = std::getenv("HSA_STANDIN_TIMES");
  says_times = times != nullptr && *times != '\0';
  agents.resize(gpus + 1);
  for (unsigned index = 0; index <= gpus; index++) {
    if (!memory.add_owner(index == 0 ? "hsa-host" : "hsa-agent", index == 0 ? host_bytes() : gpu_bytes)) {
      report("the system refuses memory for agent " + std::to_string(index));
      return false;
    }
    Agent& agent = agents[index];
    agent.index = index;
    add_pools(index);
    if (!agent.is_gpu()) continue;
    agent.view = std::make_unique<AgentMemory>(memory, index);
    agent.executor = std::make_unique<amd::isa::Executor>(*agent.view, 0, isa->name);
    agent.to_device = std::make_unique<CopyEngine>();
    agent.from_device = std::make_unique<CopyEngine>();
  }
  return true;
}

void Runtime::add_pools(unsigned owner) {
  constexpr std::uint32_t kFine = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED;
  constexpr std::uint32_t kCoarse = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED;
  constexpr std::uint32_t kKernarg = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT;
  if (owner == 0) {
    pools.push_back({0, HSA_AMD_SEGMENT_GLOBAL, kFine, host_bytes(), true});
    pools.push_back({0, HSA_AMD_SEGMENT_GLOBAL, kFine | kKernarg, host_bytes(), true});
    pools.push_back({0, HSA_AMD_SEGMENT_GLOBAL, kCoarse, host_bytes(), true});
    return;
  }
  pools.push_back({owner, HSA_AMD_SEGMENT_GLOBAL, kCoarse, gpu_bytes, true});
  pools.push_back({owner, HSA_AMD_SEGMENT_GLOBAL, kFine, gpu_bytes, true});
  pools.push_back({owner, HSA_AMD_SEGMENT_GROUP, 0, kGroupBytes, false});
}

Agent* Runtime::agent(hsa_agent_t handle) {
  const std::uint64_t index = handle.handle - kFirstHandle;
  return index < agents.size() ? &agents[index] : nullptr;
}

Agent* Runtime::gpu(hsa_agent_t handle) {
  Agent* found = agent(handle);
  return found != nullptr && found->is_gpu() ? found : nullptr;
}

const Pool* Runtime::pool(std::uint64_t handle) const {
  const std::uint64_t number = handle - kFirstHandle;
  return number < pools.size() ? &pools[number] : nullptr;
}

bool Runtime::mask_of(const hsa_agent_t* handles, std::size_t count, AgentMask& mask) {
  mask = 0;
  for (std::size_t at = 0; at < count; at++) {
    const Agent* found = agent(handles[at]);
    if (found == nullptr) return false;
    mask |= agent_bit(found->index);
  }
  return true;
}

}  // namespace tf::amd::hsa
