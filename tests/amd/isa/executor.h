// SPDX-License-Identifier: Apache-2.0
// Executes AMDGPU machine code (gfx90a, gfx940, gfx942, gfx1100) on the host's cores: one kernel dispatch at
// a time per call.
//
// A device address is a host address: kernels read and write the process's own memory, after AddressSpace has
// said that it may. What cannot be executed exactly stops the dispatch with a Failure that names it: no
// instruction is ever skipped. Memory is sequentially consistent per instruction; atomics are atomics of the
// host, so the host's threads and other dispatches see them.
//
// Sources of facts: "AMD Instinct MI200" Instruction Set Architecture (CDNA2), cited as [CDNA2 chapter];
// LLVM's "User Guide for AMDGPU Backend", cited as [LLVM section].
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace tf::amd::isa {

// Bits 32 to 63 of the addresses at which a flat access means LDS or private memory. A runtime writes them to
// amd_queue_t (group_segment_aperture_base_hi, private_segment_aperture_base_hi); kernels also read them from
// the hardware register SH_MEM_BASES and from src_shared_base, src_private_base. No process's address is as
// high.
constexpr std::uint32_t kSharedApertureHigh = 0x00010000;
constexpr std::uint32_t kPrivateApertureHigh = 0x00020000;

// The most that one dispatch may ask for.
constexpr std::uint32_t kGroupSegmentBytesMax = 64 * 1024;
constexpr std::uint32_t kPrivateSegmentBytesMax = 128 * 1024;  // of each lane
constexpr std::uint32_t kWorkGroupItemsMax = 1024;
constexpr std::uint64_t kRealTimeFrequency = 100'000'000;  // in Hz, of s_memrealtime

// What memory a kernel may touch. Called by many threads at once.
class AddressSpace {
 public:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  // one past the last byte
    bool writable = true;
  };
  virtual ~AddressSpace() = default;
  // The one allocation that `address` lies in. None: a kernel that touches it gets a memory fault.
  virtual std::optional<Range> find(std::uint64_t address) const = 0;
  // Counts up whenever a range goes away or shrinks: what find() said before is then asked again.
  virtual const std::atomic<std::uint64_t>& generation() const = 0;
};

// What a dispatch took. Processor time is of all threads together: load by other programs hardly counts.
struct Cost {
  std::uint64_t instructions = 0;  // of waves
  double processor_seconds = 0;
};

// One kernel-dispatch packet [LLVM "Kernel Dispatch", HSA "AQL packet"]. Everything it points to is the
// caller's and lives until run() returns.
struct Dispatch {
  const void* descriptor = nullptr;  // the 64 bytes of a kernel's NAME.kd, code object version 3 and later
  std::array<std::uint32_t, 3> grid_size = {1, 1, 1};       // work-items
  std::array<std::uint32_t, 3> workgroup_size = {1, 1, 1};  // work-items
  std::uint32_t group_segment_bytes = 0;                    // LDS, static and dynamic
  std::uint32_t private_segment_bytes = 0;                  // scratch of one work-item
  const void* kernarg = nullptr;
  const void* queue = nullptr;            // amd_queue_t
  const void* dispatch_packet = nullptr;  // hsa_kernel_dispatch_packet_t
  std::uint64_t dispatch_id = 0;
  // Raised by another thread: the dispatch ends soon after, with kCancelled. May be null.
  const std::atomic<bool>* cancel = nullptr;
  Cost* cost = nullptr;  // filled when it has ended. May be null.
};

enum class FailureKind : std::uint8_t {
  kUnknownInstruction,  // not in the table, or bytes that are no instruction
  kUnsupportedOperand,  // in the table, but not with these operands or modifiers
  kMemoryFault,         // outside of every allocation, or written where it may only be read
  kMisaligned,          // an atomic or LDS access at an address that the hardware refuses
  kTrap,                // s_trap, as of abort() or a failed assert
  kCancelled,
  kInvalidDispatch,  // sizes or descriptor that no device accepts
  kUnavailable,      // this machine cannot execute: no libLLVM with AMDGPU, or a processor without AVX2
};

struct Failure {
  FailureKind kind = FailureKind::kUnknownInstruction;
  std::uint64_t program_counter = 0;  // address of the instruction; 0: none
  std::uint64_t address = 0;          // of kMemoryFault and kMisaligned
  std::uint32_t trap = 0;             // of kTrap: the trap's number
  std::string text;  // for people: what, where, and the instruction as the disassembler writes it
};

const char* name(FailureKind kind);

// Decoded code and the threads that execute it. run() may be called by several threads at once; the
// dispatches share the threads. Code stays decoded between dispatches: forget() where code's memory is freed
// or written.
class Executor {
 public:
  // `memory` outlives the executor. `threads`: 0 means one for each core. `processor`: "gfx1100"; where it is
  // not known, every run() is kUnavailable.
  explicit Executor(const AddressSpace& memory, unsigned threads = 0,
                    const std::string& processor = "gfx90a");
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Returns when all work-items have ended, or the first Failure; other work-groups may have run by then or
  // not.
  [[nodiscard]] std::optional<Failure> run(const Dispatch& dispatch);
  // REQUIRES: nothing of [address, address + bytes) runs
  void forget(std::uint64_t address, std::uint64_t bytes);
  // Wave instructions executed so far, by all dispatches that have ended.
  [[nodiscard]] std::uint64_t instructions() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace tf::amd::isa
