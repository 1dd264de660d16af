// SPDX-License-Identifier: Apache-2.0
// SessionState: everything that a session has: its client's objects and memory, and the parts that work on
// them. Created and released as one; handlers reach every part through Call.
//
// Belongs to the executor thread, except `sender`, `callbacks`, `passed_files`, `mirror_orders`, `life`,
// mover.drive() and waiters.uses(): their headers say which threads may use them.
#pragma once

#include "hipcore/wire/device_snapshot.h"
#include "hipcore/wire/gen/hip_table.h"
#include "transport/endpoint.h"
#include "transport/net/fd.h"
#include "worker/base/address_map.h"
#include "worker/base/counted_bulk.h"
#include "worker/base/current_device.h"
#include "worker/base/executions.h"
#include "worker/base/life.h"
#include "worker/base/mover.h"
#include "worker/base/object_table.h"
#include "worker/base/optional_functions.h"
#include "worker/base/own_calls.h"
#include "worker/base/sender.h"
#include "worker/base/session_tally.h"
#include "worker/base/share.h"
#include "worker/copy/direct_copies.h"
#include "worker/copy/slot_copies.h"
#include "worker/memory/arrays.h"
#include "worker/memory/device_regions.h"
#include "worker/memory/host_mirror.h"
#include "worker/memory/host_parts.h"
#include "worker/memory/host_reach.h"
#include "worker/memory/lease.h"
#include "worker/memory/lease_files.h"
#include "worker/memory/mirror_orders.h"
#include "worker/memory/passed_files.h"
#include "worker/memory/physical_memory.h"
#include "worker/memory/quota.h"
#include "worker/memory/sharing.h"
#include "worker/memory/textures.h"
#include "worker/session/attendant.h"
#include "worker/session/callbacks.h"
#include "worker/session/compiles.h"
#include "worker/session/graphs.h"
#include "worker/session/late_fills.h"
#include "worker/session/modules.h"
#include "worker/session/short_waits.h"
#include "worker/session/streams.h"
#include "worker/session/waiters.h"
#include "worker/smi/monitor.h"

namespace tf::worker {

// The inputs of a session. All outlive it.
struct SessionSetup {
  const protocol::HipTable& hip;
  const OptionalFunctions& optional;  // without `vmm`, leases are ordinary allocations
  const protocol::WorkerSnapshot& snapshot;
  Endpoint& endpoint;
  MemoryBroker* broker = nullptr;        // null: it shares no memory with other sessions
  net::OwnedFd lease_socket = {};        // none: its client does not map leases
  const KernelOutput* output = nullptr;  // null: what its kernels print does not go to the client
  SessionTally* tally = nullptr;         // null: what it uses interests nobody
  Share* share = nullptr;                // null: no limits
  std::shared_ptr<const CompilerWalls> compilers = {};  // around what compiles for its client; null: none
};

struct SessionState {
  SessionState(SessionSetup setup, Life& session_life);
  SessionState(const SessionState&) = delete;
  SessionState& operator=(const SessionState&) = delete;
  ~SessionState();

  // A waiting request uses the runtime's `object`, which must not be destroyed yet.
  bool is_awaited(const void* object) const { return short_waits.uses(object) || waiters.uses(object); }

  const protocol::HipTable& hip;
  const decltype(&::hipRemoteEmptyHeap) empty_heap;  // null: the runtime has none
  Life& life;
  SessionTally own_tally;  // if the setup has none
  SessionTally& tally;
  CountedBulk bulk;
  Mover mover;
  Sender sender;
  OwnCalls own_calls;
  Share unlimited;
  Share& share;
  CurrentDevice device;
  Executions executions;
  ObjectTable objects;
  LateFills late_fills;
  Streams streams;
  AddressMap addresses;
  HostReach host_reach;
  MemoryQuota quota;
  MemoryQuota foreign_quota;
  Leases leases;
  LeaseFiles lease_files;
  Arrays arrays;
  Textures textures;
  PhysicalMemory physical;
  HostParts host_parts;
  HostMirror host_mirror;  // after the parts that it watches
  MirrorOrders mirror_orders;
  PassedFiles passed_files;
  Sharing sharing;
  DeviceRegions device_regions;  // after all that frees device memory, before all that uses it
  Callbacks callbacks;
  Modules modules;
  Graphs graphs;
  SlotCopies copies;
  Attendant attendant;
  DirectCopies direct_copies;
  WaiterPool waiters;
  ShortWaits short_waits;
  Compiles compiles;
  smi::Monitor monitor;

 private:
  void release_objects();
};

}  // namespace tf::worker
