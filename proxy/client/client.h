// SPDX-License-Identifier: Apache-2.0
// Client: everything that a process has at a worker. It owns the connection and the parts built on it, and
// tells the parts about the connection's events. A part knows only the parts below it, each through the
// interface that it needs; no part knows the client. Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hipcore/memory/external_memory.h"
#include "hipcore/memory/memory_advice.h"
#include "hipcore/wire/device_snapshot.h"
#include "proxy/base/handles.h"
#include "proxy/client/device_limits.h"
#include "proxy/client/host_allocations.h"
#include "proxy/client/texture_references.h"
#include "proxy/copy/engine.h"
#include "proxy/copy/mirror.h"
#include "proxy/graphs/graphs.h"
#include "proxy/memory/address_window.h"
#include "proxy/memory/arrays.h"
#include "proxy/memory/device_memory.h"
#include "proxy/memory/host_memory.h"
#include "proxy/memory/host_parts.h"
#include "proxy/memory/host_window.h"
#include "proxy/memory/huge_pages.h"
#include "proxy/memory/lease_mappings.h"
#include "proxy/memory/leases.h"
#include "proxy/memory/pools.h"
#include "proxy/memory/shared_memory.h"
#include "proxy/memory/textures.h"
#include "proxy/memory/virtual_memory.h"
#include "proxy/module/module_cache.h"
#include "proxy/session/callbacks.h"
#include "proxy/session/connect.h"
#include "proxy/session/connection.h"
#include "proxy/session/reply_cache.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

class Client final : private ConnectionObserver, private DeviceVariables, private BlockSource {
 public:
  // `copy_helpers`: as for CopyThreads.
  explicit Client(Connected connected, unsigned copy_helpers = 0);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  const protocol::WorkerSnapshot& snapshot() const { return snapshot_; }
  // Around the session, in the worker's words.
  const std::string& walls() const { return walls_; }
  // The limits of the session's tenant, as hip-worker --limit takes them; empty: none.
  const std::string& share() const { return share_; }
  int device_count() const { return static_cast<int>(snapshot_.devices.size()); }
  bool has_devices() const { return !snapshot_.devices.empty(); }
  Connection& connection() { return connection_; }
  const Connection& connection() const { return connection_; }
  Streams& streams() { return connection_.streams(); }
  Handles& handles() { return connection_.handles(); }
  Callbacks& callbacks() { return callbacks_; }
  DeviceMemory& device_memory() { return device_memory_; }
  Arrays& arrays() { return arrays_; }
  Textures& textures() { return textures_; }
  const LeaseMappings& lease_mappings() const { return lease_mappings_; }
  OutsideWindows& outside_windows() { return outside_windows_; }
  // Whether fine-grained memory (hipExtMallocWithFlags) is a device's, and none that the host reaches.
  bool is_fine_grained_on_device() const { return fine_grained_on_device_; }
  VirtualMemoryMap& virtual_memory() { return virtual_memory_; }
  SharedMemory& shared_memory() { return shared_memory_; }
  Pools& pools() { return pools_; }
  const HostMemory& host_memory() const { return host_memory_; }
  hipcore::MemoryAdvice& advice() { return advice_; }
  // The facts about a range of memory; nothing: it is not known here.
  std::optional<hipcore::AdvisedMemory> advised(const void* pointer, std::uint64_t bytes) const;
  hipcore::ExternalMemories& external_memory() { return external_memory_; }
  HostAllocations& host_allocations() { return host_allocations_; }
  Mirror& mirror() { return mirror_; }
  CopyEngine& copies() { return copies_; }
  ModuleCache& modules() { return modules_; }
  Graphs& graphs() { return graphs_; }
  TextureReferences& texture_references() { return texture_references_; }
  // Objects that exist once per set of arguments, such as a device's default pool. `created_order` is held
  // from the lookup until the creation is posted, so that nobody uses a handle that the worker has not heard
  // of.
  ReplyCache& created() { return created_; }
  Mutex& created_order() TF_RETURN_CAPABILITY(created_order_) { return created_order_; }

  // The allocation at `base` is about to be freed: from now on nobody can open it.
  void unshare(int device, std::uint64_t base);
  // Frees our host memory, and forgets its key. Waits for all devices.
  hipError_t free_host(const HostRange& range) {
    static_cast<void>(shared_memory_.freed(range.base));
    return host_allocations_.free(range);
  }
  // Physical or foreign memory is no longer mapped at `base`.
  void end_mapping(std::uint64_t base);
  // hipMalloc, and hipFree of what is no managed memory.
  hipError_t allocate_block(int device, std::size_t bytes, std::uint64_t& address) override;
  hipError_t free_block(std::uint64_t address) override;
  // As if the program freed all memory of the device, and its managed memory. REQUIRES: no work uses it any
  // more
  void free_memory(int device);
  // Every call that has waited for some work calls this, if it found no failure.
  hipError_t waited() { return mirror_.any() ? mirror_.after_wait() : hipSuccess; }
  // Every call that waits, or asks whether work is done, begins with it: work may wait for what the program
  // has written to memory that is its own at any time.
  void about_to_wait() {
    if (mirror_.any()) static_cast<void>(mirror_.before_wait());  // a failure has lost the connection
  }

  // Natively hipFree and its like wait for the devices. Here they wait if the program could tell: if pending
  // work may print, write the program's memory, or include host functions. Not in a host function, whose
  // stream would wait for it. Failures are left to the program's next waiting call.
  void await_what_shows() {
    if (!connection_.streams().pending_work().idle()) await_what_shows_of_pending();
  }

  // A stream with these flags is about to be created. Synchronous copies that have returned are over before
  // there is a stream that is not ordered behind them.
  void about_to_add_stream(unsigned flags) {
    if ((flags & hipStreamNonBlocking) != 0 && !connection_.streams().has_unordered()) await_left_copies();
  }

  // hipSetDeviceFlags: stored, with no effect. REQUIRES: 0 <= device < device_count()
  unsigned device_flags(int device) const {
    return device_flags_[static_cast<std::size_t>(device)].load(std::memory_order_relaxed);
  }
  void set_device_flags(int device, unsigned flags) {
    device_flags_[static_cast<std::size_t>(device)].store(flags,
                                                          std::memory_order_relaxed);  // a value of its own
  }

  DeviceLimits& limits() { return limits_; }

  // Call it when the process ends while the client exists: nobody will join its threads.
  void leave_threads() {
    connection_.leave_thread();
    copies_.threads().leave();
  }

 private:
  // `seen`: as seen_devices() says.
  Client(Connected&& connected, const std::vector<int>& seen, unsigned copy_helpers);
  bool seen_by_others(std::uint64_t address) override;
  std::optional<hipError_t> before_post(protocol::OpTraits what, int device, std::span<const std::byte> head,
                                        std::span<const std::byte> tail) override;
  void after_post(protocol::OpTraits what) override { mirror_.posted(what); }
  void await_what_shows_of_pending();
  void await_left_copies();
  void pools_wait_for_stream(int device, std::uint64_t stream);
  hipError_t stream_waited(int device, std::uint64_t stream) override;
  hipError_t device_waited(int device) override;
  void callback_due(std::uint64_t cookie, hipError_t error, std::uint32_t output) override;
  void callback_refused(std::uint64_t cookie) override;
  void add_variable(int device, std::uint64_t address, std::uint64_t bytes) override;
  void remove_variable(std::uint64_t address) override;
  void unloading(std::uint64_t module) override;
  hipError_t make_managed(int device, std::uint64_t initial, std::uint64_t bytes,
                          std::uint64_t& address) override;
  void remove_managed(std::uint64_t address) override;

  bool reserve_windows();
  void map_leases(net::OwnedFd socket, bool reserved);
  void map_host_window(int file, bool mirrors_pinned);

  protocol::WorkerSnapshot snapshot_;
  const std::string walls_;
  const std::string share_;
  const bool fine_grained_on_device_;
  std::vector<ReservedWindow> windows_;
  Connection connection_;
  ReplyCache created_{protocol::kHandleSlotsMax};  // never full: there are no more than handles
  Mutex created_order_;
  std::array<std::atomic<unsigned>, protocol::kDevicesMax> device_flags_{};
  DeviceLimits limits_{snapshot_};
  Callbacks callbacks_;
  LeaseMappings lease_mappings_;
  HugePages huge_pages_;
  OutsideWindows outside_windows_;
  Leases leases_;
  DeviceMemory device_memory_;
  Arrays arrays_;
  Textures textures_{connection_, device_memory_, host_memory_, host_allocations_, arrays_};
  VirtualMemoryMap virtual_memory_;
  SharedMemory shared_memory_;
  Pools pools_;
  HostParts host_parts_;
  HostWindow host_window_;
  HostMemory host_memory_;
  Mirror mirror_;
  hipcore::MemoryAdvice advice_;
  hipcore::ExternalMemories external_memory_;
  HostAllocations host_allocations_;
  ModuleCache modules_;
  CopyEngine copies_;
  TextureReferences texture_references_{copies_, modules_, arrays_, textures_};
  Graphs graphs_;  // destroyed first: executable graphs tell the worker
};

}  // namespace tf::proxy
