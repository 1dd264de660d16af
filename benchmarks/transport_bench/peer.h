// SPDX-License-Identifier: Apache-2.0
// The two ends of transport_bench: a Client in this process and a forked Peer that serves it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transport/endpoint.h"
#include "transport/net/transport.h"

namespace tf::bench {

inline constexpr unsigned kStreamMax = 1 << 15;  // payloads per stream
inline constexpr unsigned kStreamWindow = 4;     // of which so many are under way

// `count` payloads of `bytes` each.
struct Stream {
  unsigned count = 1;
  std::uint64_t bytes = 0;
};

// The other end: a process that waits until this one connects, and serves it.
class Peer {
 public:
  // Over `transport` (one of transport_names()). With `pin` this process will run on the first and the peer
  // on the last processor it may use. `environment`: NAME=VALUE for the peer only, so that the two ends can
  // use different devices. REQUIRES: no other thread yet, and no transport used yet: transports keep what
  // they first read from the environment, and the peer would inherit that.
  static Result<Peer> start(const std::string& transport, bool pin,
                            const std::vector<std::string>& environment);
  Peer(Peer&& other) noexcept;
  Peer& operator=(Peer&&) = delete;
  ~Peer();  // ends it

  const std::string& transport() const { return transport_; }
  bool is_pinned() const { return pin_; }
  Result<std::unique_ptr<Endpoint>> connect() const;
  // Waits until it has ended by itself, as requested by Client::quit(). True: normally.
  bool wait();

 private:
  // The peer listens on both, and the transport decides.
  struct Addresses {
    net::Address local;  // a Unix socket
    net::Address tcp;
  };
  Peer(pid_t child, std::string transport, bool pin, Addresses addresses, const net::Token& token);

  pid_t child_;  // -1: moved from or waited for
  std::string transport_;
  bool pin_;
  Addresses addresses_;
  net::Token token_;
};

// Drives one endpoint against the peer. After a failure every call returns at once.
class Client {
 public:
  explicit Client(Endpoint& endpoint);

  // For its lifetime `memory` is registered with a device, if there is one, like pinned memory.
  class Remembered {
   public:
    Remembered(Client& client, std::span<std::byte> memory)
        : bulk_(client.endpoint_.bulk()), memory_(memory) {
      bulk_.remember(memory_);
    }
    Remembered(const Remembered&) = delete;
    Remembered& operator=(const Remembered&) = delete;
    ~Remembered() { bulk_.forget(memory_); }

   private:
    BulkPlane& bulk_;
    std::span<std::byte> memory_;
  };

  // One end's device reads and writes the other's memory.
  bool one_sided() const { return endpoint_.capabilities().one_sided; }
  // One message of `bytes` (header included) there and one back.
  void round_trip(std::size_t bytes);
  // `count` messages one way; returns when the peer has counted them all.
  void post_and_count(std::size_t bytes, std::uint64_t count);
  // A stream of `count` payloads of `bytes` each, one way; returns when the peer has them all. They take
  // turns with the places in `memory`, which has one for each payload that may be in flight. REQUIRES, both:
  // count is 1 to kStreamMax, memory.size() >= min(count, kStreamWindow) * bytes
  void send_bulk(std::span<const std::byte> memory, std::uint64_t bytes, unsigned count = 1);
  // The other way; returns when the last is in `memory`.
  void receive_bulk(std::span<std::byte> memory, std::uint64_t bytes, unsigned count = 1);
  void quit();
  const Status& failure() const { return failure_; }

 private:
  template <typename Memory, typename Transfer>
  void stream(std::uint16_t opcode, Memory memory, const Stream& stream, Transfer&& transfer);
  void post(std::uint16_t opcode, std::size_t bytes, std::uint64_t argument);
  void await_reply();

  Endpoint& endpoint_;
  Deadline deadline_;
  Status failure_;
  std::uint64_t tag_ = 0;
  std::uint64_t receive_tag_ = 0;
};

}  // namespace tf::bench
