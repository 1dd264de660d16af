// SPDX-License-Identifier: Apache-2.0
// The stand-in's one runtime of a process: its agents, their pools and memory, signals, queues, code.
//
// HSA_STANDIN_AGENTS      GPU agents, 1 to 15 (1)
// HSA_STANDIN_MEMORY_MIB  memory of each GPU agent, in MiB (4096)
// HSA_STANDIN_ISA         what GPU agents are: gfx90a, gfx940, gfx942 or gfx1100 (gfx90a)
// HSA_STANDIN_TIMES       not empty: what each kernel took, on standard error
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/amd/hsa/copies.h"
#include "tests/amd/hsa/images.h"
#include "tests/amd/hsa/isas.h"
#include "tests/amd/hsa/loader.h"
#include "tests/amd/hsa/memory.h"
#include "tests/amd/hsa/queues.h"
#include "tests/amd/hsa/signals.h"
#include "tests/amd/hsa/virtual_memory.h"
#include "tests/amd/isa/executor.h"

namespace tf::amd::hsa {

struct Pool {
  unsigned owner = 0;  // index of the agent
  hsa_amd_segment_t segment = HSA_AMD_SEGMENT_GLOBAL;
  std::uint32_t global_flags = 0;
  std::size_t bytes = 0;
  bool allocates = true;
};

struct Agent {
  unsigned index = 0;
  bool is_gpu() const { return index != 0; }
  // Of a GPU agent.
  std::unique_ptr<AgentMemory> view;
  std::unique_ptr<isa::Executor> executor;
  std::unique_ptr<CopyEngine> to_device;
  std::unique_ptr<CopyEngine> from_device;
};

// Who wants to hear of what happens to agents: hsa_amd_register_system_event_handler.
class SystemEvents {
 public:
  // False: there is one already.
  bool set_handler(hsa_amd_system_event_callback_t callback, void* data);
  // A kernel touched what it may not.
  void tell_fault(hsa_agent_t agent, std::uint64_t address);

 private:
  std::mutex mutex_;
  hsa_amd_system_event_callback_t callback_ = nullptr;
  void* data_ = nullptr;
};

class Runtime {
 public:
  // The runtime of this process; it is made by the first hsa_init and stays until the process ends. A child
  // of fork() has none until it calls hsa_init. Null: not initialised, or shut down.
  static Runtime* current();
  static hsa_status_t init();
  static hsa_status_t shut_down();

  // Null: no such agent.
  Agent* agent(hsa_agent_t handle);
  Agent* gpu(hsa_agent_t handle);
  const Pool* pool(std::uint64_t handle) const;

  static hsa_agent_t handle_of(unsigned agent) { return {std::uint64_t{agent} + kFirstHandle}; }
  static std::uint64_t pool_handle(std::size_t number) { return number + kFirstHandle; }
  AgentMask all_agents() const { return agent_bit(static_cast<unsigned>(agents.size())) - 1; }
  // Bits of a list of handles. False: one is no agent.
  bool mask_of(const hsa_agent_t* handles, std::size_t count, AgentMask& mask);

  Memory memory;
  VirtualMemory virtual_memory{memory};
  Images images{memory};
  Signals signals{memory};
  std::vector<Agent> agents;  // [0] is the host
  std::vector<Pool> pools;
  const Isa* isa = nullptr;  // of the GPU agents
  std::size_t gpu_bytes = 0;
  bool says_times = false;
  std::array<std::atomic<std::uint64_t>, kAgentsMax> scratch_limits{};  // by agent; told, and not used
  SystemEvents events;
  Queues queues;
  Loader loader;

 private:
  static constexpr std::uint64_t kFirstHandle =
      0x100;  // 0 is no handle, and indices shall not pass for handles
  static void begin_anew_after_fork();
  bool make_agents();
  void add_pools(unsigned owner);
};

}  // namespace tf::amd::hsa
