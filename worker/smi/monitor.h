// SPDX-License-Identifier: Apache-2.0
// Monitor: what a session may know of its devices' state, and of its tenant's other sessions. Devices are
// those of the session, so what is not granted to its tenant does not exist here. Nothing can be set.
// Executor thread.
#pragma once

#include <memory>
#include <string>

#include "hipcore/smi/values.h"
#include "hipcore/wire/device_snapshot.h"
#include "hipcore/wire/gen/hip_table.h"
#include "smi/runtime/runtime.h"
#include "worker/base/current_device.h"
#include "worker/base/life.h"
#include "worker/base/own_calls.h"
#include "worker/base/share.h"
#include "worker/memory/memory_broker.h"

namespace tf::worker::smi {

// All outlive it.
struct MonitorParts {
  const protocol::HipTable& hip;
  const protocol::WorkerSnapshot& snapshot;
  OwnCalls& own_calls;
  CurrentDevice& device;
  const Share& share;
  Life& life;
  MemoryBroker* broker = nullptr;  // null: there are no other sessions
  bool runs_on_host = false;       // the runtime's devices are the host's cores
};

class Monitor {
 public:
  explicit Monitor(const MonitorParts& parts) : parts_(parts) {}

  // hipErrorInvalidDevice: there is no such device. What is not known is marked so.
  hipError_t describe(std::uint32_t device, tf::smi::Facts& facts);
  hipError_t sample(std::uint32_t device, tf::smi::Sample& sample);
  hipError_t find_link(std::uint32_t from, std::uint32_t to, tf::smi::Link& link);
  // hipErrorOperatingSystem: the supervisor does not answer. Waits for it through Life.
  hipError_t find_session(std::uint32_t index, tf::smi::Session& session);

 private:
  const protocol::DeviceSnapshot* find(std::uint32_t device) const;
  // Null: there is none, which the log says once.
  tf::smi::Runtime* runtime(const tf::smi::Target& target);
  // Of its tenant, or of all where the tenant has no limit and the runtime knows.
  std::uint64_t memory_used(int device, std::uint64_t known) const;
  void tell_once(const Status& why);

  const MonitorParts parts_;
  std::unique_ptr<tf::smi::Runtime> runtime_;
  bool opened_ = false;
  bool told_ = false;
};

}  // namespace tf::worker::smi
