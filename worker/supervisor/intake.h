// SPDX-License-Identifier: Apache-2.0
// Intake: accepted connections that have no session process yet. Reads their attach frames without blocking,
// lets them prove what they have to, and waits until their HELLO has come. Each has a deadline and holds a
// seat (seats.h). Belongs to the supervisor.
#pragma once

#include <poll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "transport/base/deadline.h"
#include "transport/net/attach.h"
#include "transport/net/fd.h"
#include "worker/base/log_limit.h"
#include "worker/supervisor/metrics.h"
#include "worker/supervisor/prover.h"
#include "worker/supervisor/seats.h"

namespace tf::worker {

inline constexpr std::chrono::seconds kIdentifyTime{5};        // from accept to the last byte of HELLO
inline constexpr std::chrono::seconds kSpareTime{20};          // from there to a session process
inline constexpr std::chrono::milliseconds kHelloPause{20};    // between looks at a HELLO that comes in parts
inline constexpr std::size_t kHelloAwaitedBytesMax = 1 << 12;  // a longer one is not waited for

class Intake {
 public:
  struct Connection {
    net::OwnedFd socket;
    bool is_local = false;  // which door it came through: the Unix socket, or TCP
    std::string peer;       // whose seat it holds: "user 1000", "address 10.0.0.1", "tenant alice"
    std::chrono::steady_clock::time_point accepted = std::chrono::steady_clock::now();
    Deadline deadline = Deadline::never();
    Deadline look_at = Deadline::now();  // not to be read before
    std::array<std::byte, net::kAttachFrameBytes> frame{};
    std::size_t have = 0;
    net::Attach attach;
    bool identified = false;             // the frame is complete
    bool ready = false;                  // a control connection whose HELLO has come
    bool keyed = false;                  // it came where every client has to prove its key
    std::unique_ptr<Prover> prover;      // until it is proven
    std::optional<ProvenClient> client;  // of a control connection that is
  };
  // What the connection has to prove, now that it is identified; null: nothing. Not ok: it is refused, and
  // has been told as far as it may be.
  using Meet = std::function<Result<std::unique_ptr<Prover>>(Connection&)>;
  // Takes ownership of the connection (moves its socket out), or leaves it where it is for now.
  using Take = std::function<void(Connection&)>;

  explicit Intake(std::size_t seats = kSeatsPerDoor) : seats_(seats) {}
  // Counts there what becomes of those that get no session here. It outlives this.
  void count_in(Metrics& metrics) { metrics_ = &metrics; }
  void set_seats(std::size_t seats) { seats_ = seats; }
  std::size_t seats() const { return seats_; }  // of each door
  // Gives it a seat, and kIdentifyTime. If its door has no free one, a connection gives way (perhaps this
  // one), and is returned.
  std::optional<Connection> add(Connection connection);
  // Returns a control connection that was taken and must be taken again; its deadline stays.
  void give_back(Connection connection) { connections_.push_back(std::move(connection)); }
  // Adds the descriptors to poll. progress(), called with the same array, reads the results.
  void watch(std::vector<pollfd>& polled);
  // Reads what has arrived. `take` is called with lanes once they are identified.
  void progress(const std::vector<pollfd>& polled, const Meet& meet, const Take& take);
  // Control connections whose HELLO has come, the oldest first; valid until the next call. Who takes one
  // moves its socket out, and then calls forget_taken().
  std::vector<Connection*> waiting();
  void forget_taken();
  // The log for lines that anybody can cause; shares one budget with the supervisor.
  LogLimit& log() { return log_; }
  // When the next connection's time is up.
  Deadline deadline() const;
  void clear() { connections_.clear(); }
  std::size_t size() const { return connections_.size(); }

 private:
  // These: false: close it; a log line was written.
  bool read_frame(Connection& connection);
  bool identify(Connection& connection, const Meet& meet);
  bool prove(Connection& connection);
  bool await_hello(Connection& connection);
  bool read(Connection& connection, const Meet& meet);  // the one of them that is due

  void count(Handshake result) {
    if (metrics_ != nullptr) metrics_->count(result);
  }

  std::size_t seats_;
  Metrics* metrics_ = nullptr;
  LogLimit log_;
  std::list<Connection> connections_;
  std::size_t first_polled_ = 0;
  std::size_t polled_count_ = 0;  // of connections_, from the front, in the last watch()
};

}  // namespace tf::worker
