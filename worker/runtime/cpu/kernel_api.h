// SPDX-License-Identifier: Apache-2.0
// What the CPU runtime needs of its kernels: code objects loaded from memory, and grids run to their end.
//
// The seam between worker/runtime/cpu (streams, memory, modules), which calls, and
// worker/runtime/cpu/kernel, which implements. Everything here may be called from any thread; a CodeObject
// is immutable once loaded.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tf::cpu {

class DeviceHeap;  // kernel/device_heap.h

// The bundle target of our devices: hipDeviceProp_t::gcnArchName.
inline constexpr char kTargetName[] = "x86_64-cpu";
inline constexpr std::uint32_t kMaxThreadsPerBlock = 1024;
inline constexpr std::uint32_t kMaxSharedBytes = 64 * 1024;  // static + dynamic, per block
inline constexpr std::uint32_t kWarpSize = 64;

// One explicit argument in the kernel argument block.
struct KernelArgument {
  std::uint32_t offset_bytes = 0;
  std::uint32_t size_bytes = 0;
};

// A kernel of a loaded code object. Lives as long as its CodeObject; the address is stable.
struct Kernel {
  std::string name;                       // as hipModuleGetFunction asks for it
  std::vector<KernelArgument> arguments;  // explicit ones only, in source order
  std::uint32_t argument_bytes = 0;       // size of the block run_grid() reads
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t private_bytes = 0;   // 0 when not known
  std::uint32_t constant_bytes = 0;  // of the object's __constant__ variables
  std::uint32_t max_threads_per_block = kMaxThreadsPerBlock;
  void* entry = nullptr;  // kernel/'s own: the trampoline
  void* owner = nullptr;  // kernel/'s own: what the trampoline's object needs at run time
};

class CodeObject {
 public:
  // `image` is what hipModuleLoadData or a fat binary wrapper's `binary` field points to: an ELF shared
  // object, an offload bundle (the entry for kTargetName is taken) or a compressed bundle; its length is
  // found from its headers. Copies what it keeps. Every load has its own __device__ variables.
  // Errors: hipErrorInvalidImage (not one of these), hipErrorNoBinaryForGpu (no entry for us),
  // hipErrorSharedObjectInitFailed.
  static hipError_t load(const void* image, std::unique_ptr<CodeObject>& loaded);

  virtual ~CodeObject() = default;  // unloads: no grid of it may run any more
  CodeObject(const CodeObject&) = delete;
  CodeObject& operator=(const CodeObject&) = delete;

  // Null if there is no such kernel.
  virtual const Kernel* find(std::string_view name) const = 0;
  virtual std::size_t kernel_count() const = 0;
  // Address and size of a __device__ or __constant__ variable; null when there is none.
  // Of a managed variable: where its value lies, and the value's size.
  virtual void* global(std::string_view name, std::size_t& bytes) const = 0;
  // Kernels find the managed variable of this name in `memory` from now on; at first it lies in the object
  // itself. False: there is none. REQUIRES: no grid of it runs
  virtual bool bind_managed(std::string_view name, void* memory) = 0;
  // Whether the value of a managed variable lies in the object, under this name
  // (hipcore/codeobject/managed.h).
  virtual bool has_managed(std::string_view name) const = 0;

 protected:
  CodeObject() = default;
};

struct Grid {
  std::uint32_t blocks[3] = {1, 1, 1};
  std::uint32_t threads[3] = {1, 1, 1};  // per block; the product is at most max_threads_per_block
  std::uint32_t dynamic_shared_bytes = 0;
  bool cooperative = false;  // all blocks are resident at once: grid-wide sync works
};

// What a kernel did that its grid failed of.
struct KernelFault {
  int signal = 0;              // by which the processor refused an instruction; 0: assert() or a trap
  std::uintptr_t address = 0;  // SIGSEGV, SIGBUS: the faulting address, 0 if unknown
  std::uint32_t block[3] = {};
  // Where threads run as a plain loop, nobody knows which of them crashes.
  bool thread_is_known = false;
  std::uint32_t thread[3] = {};
  bool wrong_free = false;  // of `address`, which is no allocation of a kernel

  // hipErrorIllegalAddress for memory that is not there, else hipErrorLaunchFailure.
  hipError_t error() const;
};

// Runs the grid and returns when every block is done. Called by a stream's thread, several streams at once;
// spreads the blocks over a process-wide pool of threads and the caller. `arguments` (kernel.argument_bytes
// long, 16-byte aligned) is only read; `heap` is what its malloc() and free() use. The caller has checked the
// shape; what is returned becomes the device's failure, and `fault` says of what, when the kernel itself did
// it.
hipError_t run_grid(const Kernel& kernel, const Grid& grid, const void* arguments, DeviceHeap& heap,
                    std::optional<KernelFault>* fault = nullptr);

// The calling thread runs no grids for now. To be said by one that has run grids and is about to wait.
void rest();

// From now on grids take turns with those of other processes that share the host's processors by the page in
// this file (worker/runtime/common/turn_page.h). `slot` is this process's own; `weight`, 1 to kTurnWeightMax:
// its part, in proportion to the others'. Call it once. The descriptor stays the caller's.
// hipErrorInvalidValue: that is no such page, or not its slot.
hipError_t share_processors(int descriptor, std::uint32_t slot, std::uint32_t weight);

// How many blocks of one cooperative grid can be resident at once with this many threads each.
std::uint32_t max_cooperative_blocks(std::uint32_t threads_per_block);

}  // namespace tf::cpu
