// SPDX-License-Identifier: Apache-2.0
// Plane: what one end has of one plane: a stream each way (stream.h), on two queue pairs, with their memory,
// completion queues and the channel that a sleeper polls.
//
// Memory, one mapping, three registrations:
//   mirror, then a page with the Line                READ by the peer
//   ring, then a page with credit and watch          written by the peer
//   a page with the fetched Line and what is written from    ours alone
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

// What the peer has to know, as it travels. Hostile until check_facts() said that it is possible; addresses
// and keys are the peer's own matter.
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
  std::uint64_t ring_secret = 0;  // random; stamps of what is written into our ring have it (stamp.h)
};
static_assert(sizeof(PlaneFacts) == 56 && std::has_unique_object_representations_v<PlaneFacts>);

// A place in a dma-buf: memory of another device than this one.
struct DeviceMemory {
  int file = -1;
  std::uint64_t offset = 0;
};

// Memory of ours, registered as long as this lives. Addresses and keys of `mr` are as libibverbs has them.
class Registration {
 public:
  Registration() = default;
  static Result<Registration> make(const Verbs& verbs, ibv_pd* pd, std::span<std::byte> memory, int access);
  // What lies in `device`, as if it were at `memory`, where nobody looks. The file may be closed afterwards.
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

// Zeroed pages of this process alone.
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
    bool wake_for_sends = false;  // completions of the producer's requests are events, not only failures
  };
  static Result<std::unique_ptr<Plane>> create(const Verbs& verbs, const Plan& plan);
  Plane(const Plane&) = delete;
  Plane& operator=(const Plane&) = delete;
  ~Plane();

  PlaneFacts facts() const;
  // kProtocol: no correct peer has these.
  Status check_facts(const PlaneFacts& peer) const;
  // Once, with checked facts. Then there are a producer and a consumer.
  Status connect(const Route& route, const PlaneFacts& peer);

  Producer& producer() { return *producer_; }
  const Producer& producer() const { return *producer_; }
  Consumer& consumer() { return *consumer_; }
  // Nothing of the peer's gets in or out any more. Any thread.
  void to_error();

  // No device touches any memory afterwards, and neither producer nor consumer may be used.
  void destroy_queues();

  // Sleeping: arm(), look once more, poll(2) on fd(), take_events(). Any thread; an event taken by one
  // sleeper is none to the others. True: one is of the producer's requests.
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
  ibv_cq* arrivals_ = nullptr;  // of the consumer's queue pair
  ibv_cq* sends_ = nullptr;     // of the producer's,
  ibv_cq* kicks_ = nullptr;     // both ways
  std::unique_ptr<QueuePair> out_, in_;
  std::optional<Consumer> consumer_;
  std::optional<Producer> producer_;
};

}  // namespace tf::rdma
