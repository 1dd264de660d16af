// SPDX-License-Identifier: Apache-2.0
// Intake: accepted connections that have not said yet what they are for. Reads their attach frames without
// blocking, and lets them prove what they have to. Each has a deadline, and there are at most
// kUnidentifiedMax. Belongs to the supervisor.
#pragma once

#include <poll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "transport/base/deadline.h"
#include "transport/net/attach.h"
#include "transport/net/fd.h"
#include "worker/base/log_limit.h"
#include "worker/supervisor/prover.h"

namespace tf::worker {

inline constexpr std::size_t kUnidentifiedMax = 64;
inline constexpr std::chrono::seconds kIdentifyTime{5};  // from accept to the first byte of HELLO
inline constexpr std::chrono::seconds kSpareTime{20};    // from there to a session process

class Intake {
 public:
  struct Connection {
    net::OwnedFd socket;
    bool is_local = false;
    Deadline deadline = Deadline::never();
    std::array<std::byte, net::kAttachFrameBytes> frame{};
    std::size_t have = 0;
    net::Attach attach;
    bool identified = false;             // the frame is complete
    bool ready = false;                  // a control connection whose HELLO has begun to arrive
    bool keyed = false;                  // it came where every client has to prove its key
    std::unique_ptr<Prover> prover;      // until it is proven
    std::optional<ProvenClient> client;  // of a control connection that is
  };
  // What the connection has to prove, now that it is identified; null: nothing. Not ok: it is refused, and
  // has been told as far as it may be.
  using Meet = std::function<Result<std::unique_ptr<Prover>>(Connection&)>;
  // Takes ownership of the connection (moves its socket out), or leaves it where it is for now.
  using Take = std::function<void(Connection&)>;

  bool full() const { return connections_.size() >= kUnidentifiedMax; }
  void add(net::OwnedFd socket, bool is_local, bool keyed = false);
  // Returns a control connection that was taken and must be taken again; its deadline stays.
  void give_back(Connection connection) { connections_.push_back(std::move(connection)); }
  // Adds the descriptors to poll. progress(), called with the same array, reads the results.
  void watch(std::vector<pollfd>& polled);
  // Reads what has arrived. `take` is called with lanes once they are identified, and with control
  // connections once their HELLO begins, and then again each time until it takes them or their time is up.
  void progress(const std::vector<pollfd>& polled, const Meet& meet, const Take& take);
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

  LogLimit log_;
  std::list<Connection> connections_;
  std::size_t first_polled_ = 0;
  std::size_t polled_count_ = 0;  // of connections_, from the front, in the last watch()
};

}  // namespace tf::worker
