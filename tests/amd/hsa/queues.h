// SPDX-License-Identifier: Apache-2.0
// AQL queues. Each has a thread that takes packets in order and finishes one before it takes the next, so the
// barrier bit holds always.
//
// A packet that the thread does not know, that no device accepts, or whose kernel fails stops the queue: the
// error is said on standard error, the queue's callback gets the status, and the packets behind it never
// complete. That is how AMD's runtime treats a queue in error.
//
// Sources of facts: hsa.h 5.2.3 ("Queues", "Architected Queuing Language"), amd_hsa_queue.h, hsa_ext_amd.h
// (hsa_amd_barrier_value_packet_t).
#pragma once

#include <hsa/amd_hsa_queue.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "tests/amd/isa/executor.h"

namespace tf::amd::hsa {

class Runtime;
struct Agent;

constexpr std::uint32_t kQueuePacketsMin = 64;
constexpr std::uint32_t kQueuePacketsMax = 131072;
constexpr std::size_t kPacketBytes = 64;

using QueueCallback = void (*)(hsa_status_t, hsa_queue_t*, void*);

inline std::atomic_ref<std::uint64_t> write_index_of(const hsa_queue_t* queue) {
  auto* full = reinterpret_cast<amd_queue_t*>(const_cast<hsa_queue_t*>(queue));
  return std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(full->write_dispatch_id));
}
inline std::atomic_ref<std::uint64_t> read_index_of(const hsa_queue_t* queue) {
  auto* full = reinterpret_cast<amd_queue_t*>(const_cast<hsa_queue_t*>(queue));
  return std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(full->read_dispatch_id));
}

class Queue {
 public:
  // Null: no memory.
  static std::unique_ptr<Queue> create(Runtime& runtime, Agent& agent, std::uint32_t packets,
                                       hsa_queue_type32_t type, QueueCallback callback, void* data);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  hsa_queue_t* handle() { return &shared_->hsa_queue; }

 private:
  // Why the queue stops.
  struct Stop {
    hsa_status_t status = HSA_STATUS_SUCCESS;
    std::string text;
    std::optional<std::uint64_t> fault = std::nullopt;  // the address, of a memory fault
  };

  Queue(Runtime& runtime, Agent& agent) : runtime_(runtime), agent_(agent) {}
  bool allocate(std::uint32_t packets, hsa_queue_type32_t type);
  void serve();
  bool drain();
  Stop execute(std::uint16_t header, char* packet, std::uint64_t index);
  Stop dispatch(const hsa_kernel_dispatch_packet_t& packet, std::uint64_t index);
  Stop check(const hsa_kernel_dispatch_packet_t& packet) const;
  Stop barrier(const hsa_signal_t (&dependencies)[5], bool all);
  Stop barrier_value(const hsa_amd_barrier_value_packet_t& packet);
  void complete(hsa_signal_t signal, std::uint64_t start);
  void fail(const Stop& stop);

  Runtime& runtime_;
  Agent& agent_;
  amd_queue_t* shared_ = nullptr;  // in memory that every agent reaches
  char* packets_ = nullptr;
  QueueCallback callback_ = nullptr;
  void* data_ = nullptr;
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

// The queues of a process, by handle.
class Queues {
 public:
  hsa_queue_t* add(std::unique_ptr<Queue> queue);
  // False: no such queue. Waits for what runs; packets that wait for signals end.
  bool remove(const hsa_queue_t* handle);
  bool contains(const hsa_queue_t* handle);

 private:
  std::mutex mutex_;
  std::map<const hsa_queue_t*, std::unique_ptr<Queue>> queues_;
};

}  // namespace tf::amd::hsa
