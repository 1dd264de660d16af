// SPDX-License-Identifier: Apache-2.0
// Plane: one end of one plane. A stream each way (stream.h), on two queue pairs, with their memory,
// completion queues, and the channel that a sleeper polls.
//
// Memory, one mapping, three registrations:
//   mirror, then a page with the Line                           READ by the peer
//   ring, then a page with credit and watch                     written by the peer
//   a page with the fetched Line and the sources of our WRITEs  ours alone
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

#include "rdma/consumer.h"
#include "rdma/producer.h"
#include "rdma/queue_pair.h"
#include "rdma/stream.h"

namespace tf::rdma {

inline constexpr std::size_t kMessageRingBytes = std::size_t{1} << 20;
inline constexpr std::size_t kBulkRingBytes = std::size_t{256} << 10;
static_assert(kMessageRingBytes / kLineBytes <= kRingLinesMax);

// What the peer must know, in its wire form. Hostile until check_facts() has accepted it. Addresses and keys
// need no check: only the peer's own memory is at stake.
struct PlaneFacts {
  std::uint32_t out_number = 0;  // the queue pair of our producer
  std::uint32_t out_packet = 0;
  std::uint32_t in_number = 0;  // and of our consumer
  std::uint32_t in_packet = 0;
  std::uint64_t readable_address = 0;
  std::uint64_t writable_address = 0;
  std::uint32_t readable_key = 0;
  std::uint32_t writable_key = 0;
  std::uint64_t ring_bytes = 0;
  std::uint64_t ring_secret = 0;  // random; part of the stamps in our ring (stamp.h)
};
static_assert(sizeof(PlaneFacts) == 56 && std::has_unique_object_representations_v<PlaneFacts>);

// A place in a dma-buf: the memory of another device.
struct DeviceMemory {
  int file = -1;
  std::uint64_t offset = 0;
};

// Memory of ours, registered for the lifetime of this object. The keys are those of libibverbs.
class Registration {
 public:
  Registration() = default;
  static Result<Registration> make(const Verbs& verbs, ibv_pd* pd, std::span<std::byte> memory, int access);
  // Registers the memory in `device` under the addresses of `memory`, which nobody here accesses. The file
  // may be closed afterwards.
  static Result<Registration> make(const Verbs& verbs, ibv_pd* pd, std::span<std::byte> memory, int access,
                                   const DeviceMemory& device);
  Registration(Registration&& other) noexcept;
  Registration& operator=(Registration&& other) noexcept;
  ~Registration() { reset(); }
  void reset();
  explicit operator bool() const { return region_ != nullptr; }
  std::uint32_t local_key() const { return region_->lkey; }
  std::uint32_t remote_key() const { return region_->rkey; }

 private:
  const Verbs* verbs_ = nullptr;
  ibv_mr* region_ = nullptr;
};

// Zeroed pages, private to this process.
class Pages {
 public:
  static Result<Pages> map(std::size_t bytes);
  Pages() = default;
  Pages(Pages&& other) noexcept : memory_(std::exchange(other.memory_, {})) {}
  Pages& operator=(Pages&& other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~Pages();
  std::span<std::byte> memory() const { return memory_; }

 private:
  std::span<std::byte> memory_;
};

class Plane {
 public:
  struct Plan {
    ibv_context* context = nullptr;
    ibv_pd* pd = nullptr;
    std::uint8_t port = 1;
    unsigned inline_bytes = 0;
    std::size_t ring_bytes = kMessageRingBytes;  // a power of two
    bool wake_for_sends = false;  // events for completions of the producer's requests, not only failures
  };
  static Result<std::unique_ptr<Plane>> create(const Verbs& verbs, const Plan& plan);
  Plane(const Plane&) = delete;
  Plane& operator=(const Plane&) = delete;
  ~Plane();

  PlaneFacts facts() const;
  // kProtocol: no correct peer sends these.
  Status check_facts(const PlaneFacts& peer) const;
  // Call it once, with checked facts. Afterwards producer() and consumer() exist.
  Status connect(const Route& route, const PlaneFacts& peer);

  Producer& producer() { return *producer_; }
  const Producer& producer() const { return *producer_; }
  Consumer& consumer() { return *consumer_; }
  // Afterwards the peer's requests neither read nor write here. Any thread.
  void to_error();

  // Afterwards no device touches our memory, and producer and consumer must not be used.
  void destroy_queues();

  // To sleep: arm(), look once more, poll(2) on fd(), take_events(). Any thread; an event that one sleeper
  // takes does not wake the others. True: one of them is for the producer's requests.
  Status arm();
  int fd() const { return channel_->fd; }
  Result<bool> take_events();

 private:
  Plane(const Verbs& verbs, const Plan& plan) : verbs_(verbs), plan_(plan) {}
  Status map();
  Result<ibv_cq*> make_queue(unsigned entries);

  const Verbs& verbs_;
  const Plan plan_;
  std::uint64_t ring_secret_ = 0;
  Pages pages_;
  Registration readable_, writable_, scratch_;
  ibv_comp_channel* channel_ = nullptr;
  ibv_cq* arrivals_ = nullptr;  // for the consumer's queue pair
  ibv_cq* sends_ = nullptr;     // for the producer's:
  ibv_cq* kicks_ = nullptr;     // its sends, and its receives
  std::unique_ptr<QueuePair> out_, in_;
  std::optional<Consumer> consumer_;
  std::optional<Producer> producer_;
};

}  // namespace tf::rdma
