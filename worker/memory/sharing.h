// SPDX-License-Identifier: Apache-2.0
// Sharing: memory and events that this session shares with other sessions of the worker, and those it has
// opened.
//
// Names are random, and only the client that asked for one learns it. Anyone who knows a name may open the
// piece. Pieces of leases are opened at an address in their device's window; those of leases that are
// ordinary allocations at one that the runtime chooses, through its own IPC. Physical memory is imported
// under a handle, and the client maps it. Belongs to the executor thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <initializer_list>
#include <map>

#include "hipcore/wire/device_snapshot.h"
#include "hipcore/wire/gen/hip_table.h"
#include "transport/net/attach.h"
#include "worker/base/current_device.h"
#include "worker/base/life.h"
#include "worker/base/object_table.h"
#include "worker/base/optional_functions.h"
#include "worker/memory/lease.h"
#include "worker/memory/memory_broker.h"
#include "worker/memory/physical_memory.h"

namespace tf::worker {

class Sharing {
 public:
  // What can be shared, and the places for what others share. All outlive it.
  struct Parts {
    const protocol::HipTable& hip;
    const OptionalFunctions& optional;
    const protocol::WorkerSnapshot& snapshot;
    Life& life;
    CurrentDevice& device;
    const ObjectTable& objects;  // events
    Leases& leases;
    PhysicalMemory& physical;
  };
  // `broker` may be null: then nothing can be shared.
  Sharing(const Parts& parts, MemoryBroker* broker) : parts_(parts), broker_(broker) {}

  // [address, address + bytes) of a lease.
  hipError_t share_lease(std::uint64_t address, std::uint64_t bytes, net::Token& name);
  // Returns the same name again for the same memory.
  hipError_t share_physical(std::uint64_t raw, net::Token& name);
  hipError_t share_event(std::uint64_t raw, net::Token& name);
  hipError_t withdraw(const net::Token& name);
  // Withdraw what was shared of a lease, physical memory or event that is about to go away.
  void withdraw_lease(std::uint64_t address);
  void withdraw_physical(std::uint64_t raw);
  void withdraw_event(std::uint64_t raw);

  // `device` is to use it, and whichever else reaches it.
  hipError_t open(const net::Token& name, int device, std::uint64_t& address, SharedPiece& piece);
  // hipErrorInvalidContext: the event is this session's own.
  hipError_t open_event(const net::Token& name, hipEvent_t& event, int& device);
  hipError_t import(const net::Token& name, std::uint64_t raw, SharedPiece& piece);

 private:
  struct Shared {
    SharedPiece::Kind kind = SharedPiece::Kind::kNone;
    std::uint64_t of = 0;  // the lease's address, or a handle
  };

  hipError_t share(hipMemGenericAllocationHandle_t memory, const SharedPiece& piece, std::uint64_t of,
                   net::Token& name);
  // What the runtime's own IPC shares: whole allocations.
  hipError_t share_allocation(SharedPiece piece, std::uint64_t lease, net::Token& name);
  hipError_t open_allocation(const SharedPiece& piece, int device, std::uint64_t& address);
  hipError_t offer(const SharedPiece& piece, net::OwnedFd memory, std::uint64_t of, net::Token& name);
  // The name under which `of` is shared already.
  bool known(SharedPiece::Kind kind, std::uint64_t of, net::Token& name) const;
  void withdraw_of(SharedPiece::Kind kind, std::uint64_t of);
  // Asks for another session's memory of these kinds, checks the piece, and makes its device current.
  hipError_t ask_for(const net::Token& name, std::initializer_list<SharedPiece::Kind> kinds,
                     ChannelMessage& answer);
  // Imports the memory that came with an answer into the runtime.
  hipError_t fetch(const ChannelMessage& answer, hipMemGenericAllocationHandle_t& memory);
  hipError_t ask(Status asked, ChannelMessage& answer);

  const Parts parts_;
  MemoryBroker* const broker_;
  std::map<net::Token, Shared> shared_;
};

}  // namespace tf::worker
