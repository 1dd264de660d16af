// SPDX-License-Identifier: Apache-2.0
// DirectCopies: payload directly between the bulk plane and device memory, if the host can address it or the
// transport's device reaches it (device_regions.h).
//
// Works only on a stream that has reached the copy: what is received lands in the memory at once. Until the
// last byte has moved the stream is *lent*: it must not run later work. As long as only further copies on the
// same stream in the same direction come, nothing needs to be done, unless two of them write to the same
// memory and the bulk plane does not fill receives in order. Before anything else is executed, settle() waits
// briefly for the end. If that does not suffice it puts a gate into the stream, a callback that returns when
// the bytes have moved. So the executor never waits long for the client's payload. Belongs to the executor
// thread. Gates run on the runtime's threads and touch only their Batch.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "transport/endpoint.h"
#include "transport/frame.h"
#include "worker/base/current_device.h"
#include "worker/base/executions.h"
#include "worker/base/life.h"
#include "worker/base/mover.h"
#include "worker/base/sender.h"
#include "worker/memory/device_regions.h"
#include "worker/memory/host_reach.h"

namespace tf::worker {

struct StreamRef;

inline constexpr std::size_t kDirectPendingMax = 1024;  // per lent stream; further ones wait for the oldest

class DirectCopies {
 public:
  // All outlive it.
  struct Parts {
    const protocol::HipTable& hip;
    OwnCalls& own_calls;
    BulkPlane& bulk;
    Life& life;
    Sender& sender;  // failures are told to the client
    CurrentDevice& device;
    const HostReach& host_reach;
    DeviceRegions& regions;
    Executions& executions;
    Mover& mover;
  };
  explicit DirectCopies(const Parts& parts) : parts_(parts) {}
  DirectCopies(const DirectCopies&) = delete;
  DirectCopies& operator=(const DirectCopies&) = delete;
  ~DirectCopies();

  enum class Way { kToDevice, kFromDevice };
  struct Order {
    Way way = Way::kToDevice;
    std::span<std::byte> memory;  // on the device; not empty
    std::uint64_t tag = 0;
    FrameHeader request;           // a later failure is reported for this request
    std::uint64_t raw_stream = 0;  // the client's handle
  };
  // Starts the copy. hipErrorNotReady: neither the host nor the transport reaches the memory, or the stream
  // has other work first; then no stream is lent afterwards. Any other error is one of the stream's work, and
  // so of the copy. REQUIRES: the memory is the session's, and the stream's device is current.
  hipError_t start(const Order& order, StreamRef stream);

  // settle() has work to do, and may wait.
  bool is_lent() const { return lent_ != nullptr; }
  // Call it before anything except start() uses a stream.
  void settle() {
    if (is_lent()) settle_lent();
  }
  // Reports failed copies, and forgets those that have ended.
  void collect();
  // Payload is still in flight.
  bool pending();
  // Call it before memory goes away: waits for payload that still moves there, and removes it from the
  // transport. False: the session ends, and the memory with it.
  bool let_go(std::uint64_t address, std::uint64_t bytes);

 private:
  struct Transfer {
    BulkCompletion completion;
    std::span<const std::byte> memory;
    FrameHeader request;
    std::uint64_t raw_stream = 0;
    // Where executions are noted: the worker's clock; else 0.
    std::uint64_t begun_ns = 0;
    std::uint64_t ended_ns = 0;
  };
  // Shared with a gate, which may outlive the session. The list does not change once the gate is in place.
  struct Batch {
    hipStream_t stream = nullptr;
    int device = 0;
    Way way = Way::kToDevice;
    std::list<Transfer> transfers;
    std::vector<int> to_flush;  // devices: see DeviceRegions::note_writes(). Executor only

    bool ended() const;
    bool uses(std::uint64_t address, std::uint64_t bytes) const;
  };

  static void gate(hipStream_t stream, hipError_t error, void* argument);
  hipError_t reached(StreamRef stream);
  bool would_mix(Way way, std::uint64_t address, std::uint64_t bytes) const;
  void settle_lent();
  void flush(Batch& batch);
  void report(const Batch& batch, const Transfer& transfer);
  void note(const Batch& batch, const Transfer& transfer);
  void forget_ended(Batch& batch);
  bool uses(std::uint64_t address, std::uint64_t bytes) const;

  const Parts parts_;
  std::shared_ptr<Batch> lent_;
  std::list<std::shared_ptr<Batch>> gated_;
  std::vector<hipEvent_t> events_;  // one for each device, made when first needed
};

}  // namespace tf::worker
