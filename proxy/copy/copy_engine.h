// SPDX-License-Identifier: Apache-2.0
// CopyEngine: every copy of the API comes down to copy() and copy_box().
//
// The pointers decide where a copy goes; `kind` must agree. When a call may return is HIP's rule
// (may_return_early() in copy_route.h, docs/copy-semantics.md). A copy with pageable memory is done with that
// memory on return, whatever the function is called. Memory of hipHostMalloc, hipHostRegister and
// hipMallocManaged belongs to the copy until the stream was synchronized, if the function is asynchronous.
// Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <optional>

#include "proxy/copy/box.h"
#include "proxy/copy/copy_threads.h"
#include "proxy/copy/staging.h"
#include "proxy/copy/turns.h"
#include "proxy/memory/device_memory.h"
#include "proxy/memory/host_memory.h"
#include "proxy/memory/host_window.h"
#include "proxy/memory/huge_pages.h"
#include "proxy/memory/lease_mappings.h"
#include "proxy/session/callbacks.h"
#include "proxy/session/connection.h"

namespace tf::proxy {

// Host rows packed at a time.
inline constexpr std::uint64_t kPackBytesMax = 1 << 20;

// How one copy is issued.
struct CopyMode {
  int device = 0;
  std::uint64_t stream = 0;  // handle on the wire
  bool wait = false;         // the synchronous forms, and others where HIP's rule says so
  bool in_turn = false;      // made for a stream that is held meanwhile (copy_turns.h)
};

// Takes copies into captures.
class CopyCapture {
 public:
  // What the call returns if the copy is captured or refused. Nothing: it is made.
  virtual std::optional<hipError_t> offer_copy(const CopyMode& mode, const Box& box, hipMemcpyKind kind) = 0;

 protected:
  ~CopyCapture() = default;
};

// What copies need of the client, and what they keep.
class CopyEngine {
 public:
  struct Memory {
    DeviceMemory& device;
    HostMemory& host;
    HostWindow& window;
    const LeaseMappings& leases;
    HugePages& huge_pages;
  };
  // `helpers`: as CopyThreads takes them.
  CopyEngine(Connection& connection, Callbacks& callbacks, const Memory& memory, unsigned helpers)
      : connection_(connection),
        callbacks_(callbacks),
        memory_(memory),
        threads_(helpers),
        staging_(connection, memory.window, threads_) {}
  CopyEngine(const CopyEngine&) = delete;
  CopyEngine& operator=(const CopyEngine&) = delete;
  // Once, before the first copy. `capture` outlives the last one.
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
  Staging& staging() { return staging_; }
  Turns& turns() { return turns_; }
  CopyCapture& capture() { return *capture_; }

  // Whether the worker has all of [address, address + bytes) at the same addresses: device memory, or host
  // memory that devices reach.
  bool reaches(std::uint64_t address, std::uint64_t bytes) const {
    return memory_.device.contains(address, bytes) || memory_.host.reaches(address, bytes);
  }

 private:
  Connection& connection_;
  Callbacks& callbacks_;
  const Memory memory_;
  CopyThreads threads_;
  Staging staging_;
  Turns turns_;
  CopyCapture* capture_ = nullptr;
};

// Copies that the client can make itself (between memory that is all its own):
// at most this many bytes when the call need not wait and nothing is pending, what about a message costs;
inline constexpr std::uint64_t kBriefCopyBytesMax = 16 << 10;
// up to so many go to a busy stream, which takes them when it gets there, and the caller goes on.
inline constexpr std::uint64_t kPostedCopyBytesMax = 1 << 20;

enum class CopyWay { kToDevice, kFromDevice, kOnDevice, kOnHost };

// The direction of a copy between these addresses.
CopyWay way_between(CopyEngine& engine, std::uint64_t target, std::uint64_t source);
// The same for a whole copy. hipErrorInvalidValue: an end is not what `kind` says, or
// reaches beyond its allocation. REQUIRES: is_valid(box)
hipError_t copy_way(CopyEngine& engine, const Box& box, hipMemcpyKind kind, CopyWay& way);
// Posts a copy between addresses that the worker reaches (CopyEngine::reaches()), and does not wait.
hipError_t post_copy(Connection& connection, const CopyMode& mode, std::uint64_t target, std::uint64_t source,
                     std::uint64_t bytes);
// The same for a strided copy.
hipError_t post_box(Connection& connection, const CopyMode& mode, const Box& box);
// Copies within the client's memory, now.
void copy_on_host(const Box& box);

hipError_t copy(CopyEngine& engine, const CopyMode& mode, void* target, const void* source,
                std::uint64_t bytes, hipMemcpyKind kind);
hipError_t copy_box(CopyEngine& engine, const CopyMode& mode, const Box& box, hipMemcpyKind kind);

}  // namespace tf::proxy
