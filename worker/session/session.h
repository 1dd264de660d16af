// SPDX-License-Identifier: Apache-2.0
// Session: one client's requests, executed strictly in order against one HIP runtime.
//
// Threads. The executor (whoever calls run()) takes requests, owns objects, addresses, leases, modules and
// copies, and is the endpoint's consumer. A mover thread drives the bulk plane. Waiter threads sit in the
// runtime's blocking calls, compiling threads in its hiprtc. Callback threads are the runtime's. end(),
// drain(), sender(), passed_files() and ending() may be used from any of them; everything else belongs to the
// executor.
//
// The executor never blocks for good: whatever waits for the device or for payload goes through
// wait_until(), which keeps payload moving and goes on taking requests from the ring. A CallbackDone takes
// effect as it is taken, ahead of its turn: the stream that is waited for may be the one that it holds up.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "hipcore/wire/device_snapshot.h"
#include "hipcore/wire/gen/hip_table.h"
#include "transport/endpoint.h"
#include "worker/base/address_map.h"
#include "worker/base/object_table.h"
#include "worker/base/own_calls.h"
#include "worker/copy/copies.h"
#include "worker/copy/direct_copies.h"
#include "worker/memory/device_regions.h"
#include "worker/memory/host_window.h"
#include "worker/memory/lease.h"
#include "worker/memory/lease_files.h"
#include "worker/memory/passed_files.h"
#include "worker/memory/quota.h"
#include "worker/memory/shared_memory.h"
#include "worker/memory/virtual_memory.h"
#include "worker/session/call.h"
#include "worker/session/callbacks.h"
#include "worker/session/compiles.h"
#include "worker/session/graphs.h"
#include "worker/session/modules.h"
#include "worker/session/sender.h"
#include "worker/session/short_waits.h"
#include "worker/session/waiters.h"

namespace tf::worker {

inline constexpr std::size_t kRequestBatchMax = 32;        // polled at once, and executed if prompt
inline constexpr std::size_t kLookaheadMessagesMax = 256;  // taken from the ring while the executor waits
inline constexpr std::size_t kLookaheadBytesMax = 4 << 20;
inline constexpr std::size_t kFailureTextMax = 1024;       // of a device, to the client
inline constexpr std::size_t kFinishingStreamsMax = 1024;  // destroyed by the client and still at work

class Session final : private MessageSink {
 public:
  // All outlive the session. Without `optional.vmm` leases are ordinary allocations. Without `broker` the
  // session shares no memory with others; without `lease_socket` its client does not map leases.
  Session(const protocol::HipTable& hip, const OptionalFunctions& optional,
          const protocol::WorkerSnapshot& snapshot, Endpoint& endpoint, MemoryBroker* broker = nullptr,
          net::OwnedFd lease_socket = {});
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  // Serves until the client says goodbye, its connection ends, or it breaks the protocol. Returns why: ok
  // after Goodbye or drain().
  Status run();
  // Any thread: ends the session with `reason` (the first one counts).
  void end(Status reason);
  // Any thread: no further requests; run() returns when what was sent so far is done.
  void drain() { draining_.store(true, std::memory_order_release); }       // pairs with run()
  bool ending() const { return ending_.load(std::memory_order_acquire); }  // pairs with end()

  const protocol::HipTable& hip() const { return hip_; }
  Endpoint& endpoint() { return endpoint_; }
  BulkPlane& bulk() { return endpoint_.bulk(); }
  Sender& sender() { return sender_; }
  ObjectTable& objects() { return objects_; }
  AddressMap& addresses() { return addresses_; }
  Leases& leases() { return leases_; }
  LeaseFiles& lease_files() { return lease_files_; }
  VirtualMemory& virtual_memory() { return virtual_memory_; }
  HostWindow& host_window() { return host_window_; }
  PassedFiles& passed_files() { return passed_files_; }
  SharedMemory& shared_memory() { return shared_memory_; }
  DeviceRegions& device_regions() { return device_regions_; }
  OwnCalls& own_calls() { return own_calls_; }
  CopyEngine& copies() { return copies_; }
  DirectCopies& direct_copies() { return direct_copies_; }
  Modules& modules() { return modules_; }
  Graphs& graphs() { return graphs_; }
  Compiles& compiles() { return compiles_; }
  Callbacks& callbacks() { return callbacks_; }
  WaiterPool& waiters() { return waiters_; }
  ShortWaits& short_waits() { return short_waits_; }
  // A request that waits uses the runtime's `object`: it must not be destroyed yet.
  bool is_awaited(const void* object) const { return short_waits_.uses(object) || waiters_.uses(object); }
  int device_count() const { return static_cast<int>(snapshot_.devices.size()); }

  // This process may read and write these bytes of the session's memory like its own. Not what the client has
  // mapped itself: that may be without rights.
  bool host_addresses(std::uint64_t address, std::uint64_t bytes) const;
  // So it is with what the worker allocates on this device.
  bool host_addresses_device(int device) const;

  // Makes `device` current on the executor thread; asks the runtime only on change.
  hipError_t use_device(int device);
  int current_device() const { return current_device_; }
  // The same on the worker's own account: `device` was current before. Negative: none was.
  void return_to_device(int device);
  // A handler changed the runtime's current device or reset it.
  void forget_current_device() { current_device_ = -1; }

  // Client's stream handle -> runtime stream and its device. False: unknown. 0 and 1 are the null stream.
  bool find_stream(std::uint64_t raw, hipStream_t& stream, int& device) const;

  // Any thread: tells the client that a device has failed, and of what, in words for the program's user.
  void tell_device_failed(int device, hipError_t error, std::string_view what);
  // Tells the client that the posted `request` failed.
  void fault(hipError_t error, const FrameHeader& request, std::uint64_t stream);

  // Executor only. Waits until `done()`; false when the session ends instead.
  template <typename Done>
  bool wait_until(Done done) {
    for (unsigned round = 0; !done(); ++round) {
      if (ending()) return false;
      pause(round);
    }
    return true;
  }
  // Destroys the stream, once it is idle: until then its device is not.
  hipError_t let_finish(hipStream_t stream, int device);
  // Whether every stream of `device` is idle; makes the device current.
  bool device_idle(int device);
  // Waits until it is. False when the session ends instead.
  bool wait_device_idle(int device);
  bool wait_all_idle();
  // Moves payload unless another thread is doing so.
  void drive_bulk();

 private:
  struct Batch {
    struct Entry {
      FrameHeader header;
      std::size_t offset = 0;
    };
    std::vector<std::byte> bytes;
    std::vector<Entry> entries;
    std::size_t next = 0;

    bool exhausted() const { return next == entries.size(); }
    void clear();
    void add(const FrameHeader& header, std::span<const std::byte> payload);
    std::span<const std::byte> payload(const Entry& entry) const;
  };

  Status on_message(const FrameHeader& header, std::span<const std::byte> payload) override;
  Status serve();
  Status step();
  void execute(Handler handler, const FrameHeader& header, std::span<const std::byte> payload);
  void pause(unsigned round);
  void look_ahead();
  void move_payload();
  void release_objects();
  void tell_of_failure(hipError_t error, hipStream_t stream, int device);
  void sweep_finishing();

  const protocol::HipTable& hip_;
  const protocol::WorkerSnapshot& snapshot_;
  Endpoint& endpoint_;
  Sender sender_;
  OwnCalls own_calls_;
  ObjectTable objects_;
  AddressMap addresses_;
  MemoryQuota quota_;
  MemoryQuota foreign_quota_;
  Leases leases_;
  LeaseFiles lease_files_;
  VirtualMemory virtual_memory_;
  HostWindow host_window_;
  PassedFiles passed_files_;
  SharedMemory shared_memory_;
  DeviceRegions device_regions_;  // after all that frees device memory, before all that uses it
  Callbacks callbacks_;
  Modules modules_;
  Graphs graphs_;
  CopyEngine copies_;
  DirectCopies direct_copies_;
  WaiterPool waiters_;
  ShortWaits short_waits_;
  Compiles compiles_;

  // Streams that the client has destroyed and that still have work: were they the runtime's to finish, nobody
  // here could tell when a device is idle.
  struct Finishing {
    hipStream_t stream = nullptr;
    int device = 0;
  };
  std::vector<Finishing> finishing_;

  Batch current_;    // being executed: what was not executed as it was polled
  Batch lookahead_;  // taken from the ring while the executor waited
  bool in_wait_ = false;
  int current_device_ = -1;
  std::atomic<bool> ending_{false};
  std::atomic<bool> draining_{false};
  std::mutex mover_mutex_;  // the endpoint's mover role
  std::thread mover_;
};

}  // namespace tf::worker
