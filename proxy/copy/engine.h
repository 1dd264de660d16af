// SPDX-License-Identifier: Apache-2.0
// CopyEngine: every copy of the API, and of a graph's launch, comes down to copy() and copy_box().
//
// The pointers decide where a copy goes; `kind` must agree. HIP's rule decides when a call may return
// (may_return_early() in plan.h, docs/copy-semantics.md). With pageable memory a copy is done with that
// memory on return, whichever function was called. If the function is asynchronous, memory of hipHostMalloc,
// hipHostRegister and hipMallocManaged belongs to the copy until the stream is synchronized. Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <optional>

#include "proxy/copy/copy_threads.h"
#include "proxy/copy/plan.h"
#include "proxy/copy/staged.h"
#include "proxy/copy/stream_words.h"
#include "proxy/memory/device_memory.h"
#include "proxy/memory/host_memory.h"
#include "proxy/memory/host_window.h"
#include "proxy/memory/huge_pages.h"
#include "proxy/memory/lease_mappings.h"
#include "proxy/session/callbacks.h"
#include "proxy/session/connection.h"

namespace tf::proxy {

// Adds copies to captures.
class CopyCapture {
 public:
  // The call's result if the copy is captured or refused. Nothing: the copy is to be made.
  virtual std::optional<hipError_t> offer_copy(const CopyMode& mode, const Box& box, hipMemcpyKind kind) = 0;

 protected:
  ~CopyCapture() = default;
};

// The client's parts that copies need, and the copies' own state.
class CopyEngine {
 public:
  struct Memory {
    DeviceMemory& device;
    HostMemory& host;
    HostWindow& window;
    const LeaseMappings& leases;
    HugePages& huge_pages;
  };
  // `helpers`: as for CopyThreads.
  CopyEngine(Connection& connection, Callbacks& callbacks, const Memory& memory, unsigned helpers)
      : connection_(connection),
        callbacks_(callbacks),
        memory_(memory),
        threads_(helpers),
        words_(connection, memory.window),
        staged_copies_(connection, memory.window, words_, threads_) {}
  CopyEngine(const CopyEngine&) = delete;
  CopyEngine& operator=(const CopyEngine&) = delete;
  // Call it once, before the first copy. `capture` outlives the last one.
  void capture_by(CopyCapture& capture) { capture_ = &capture; }

  Connection& connection() { return connection_; }
  Streams& streams() { return connection_.streams(); }
  Callbacks& callbacks() { return callbacks_; }
  DeviceMemory& device_memory() { return memory_.device; }
  HostMemory& host_memory() { return memory_.host; }
  HostWindow& host_window() { return memory_.window; }
  const LeaseMappings& lease_mappings() { return memory_.leases; }
  HugePages& huge_pages() { return memory_.huge_pages; }
  CopyThreads& threads() { return threads_; }
  StreamWords& stream_words() { return words_; }
  StagedCopies& staged_copies() { return staged_copies_; }
  CopyCapture& capture() { return *capture_; }

  // Whether a program can tell that posted work is not over, if a call returns that waits for it natively:
  // the work may print, write the program's memory, or include host functions. Not in a host function, whose
  // stream would wait for it.
  bool pending_work_shows();

  // Whether the worker has, or will have, all of [address, address + bytes): device memory, or host memory
  // that devices reach, registered memory at HostMemory::will_be_seen_by_devices().
  bool reaches(std::uint64_t address, std::uint64_t bytes) const {
    return memory_.device.contains(address, bytes) ||
           memory_.host.could_reach(memory_.host.will_be_seen_by_devices(address, bytes), bytes);
  }

 private:
  Connection& connection_;
  Callbacks& callbacks_;
  const Memory memory_;
  CopyThreads threads_;
  StreamWords words_;
  StagedCopies staged_copies_;
  CopyCapture* capture_ = nullptr;
};

hipError_t copy(CopyEngine& engine, const CopyMode& mode, void* target, const void* source,
                std::uint64_t bytes, hipMemcpyKind kind);
hipError_t copy_box(CopyEngine& engine, const CopyMode& mode, const Box& box, hipMemcpyKind kind);

}  // namespace tf::proxy
