// SPDX-License-Identifier: Apache-2.0
// Scrapes: answers HTTP GET requests of monitoring (Prometheus, a kubelet, curl) inside the supervisor's poll
// loop. Never blocks; connections, bytes and times are limited. Belongs to the supervisor.
//
// prometheus-cpp has a server, too (civetweb). It does not fit here: its threads would accept connections
// while the supervisor starts session processes, which then inherit them; it would stand with its own limits
// beside the sessions' descriptors; and it cannot answer /readyz with a status of our own.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "transport/base/deadline.h"
#include "transport/base/status.h"
#include "transport/net/fd.h"
#include "transport/net/socket.h"

namespace tf::worker {

inline constexpr std::size_t kScrapesMax = 16;           // at a time; then the oldest gives way
inline constexpr std::size_t kScrapeBytesMax = 8 << 10;  // of a request
inline constexpr std::chrono::seconds kScrapeTime{10};   // from accept to the last byte of the answer

struct ScrapeAnswer {
  int status = 200;
  std::string_view type = "text/plain; charset=utf-8";
  std::string body;
};

class Scrapes {
 public:
  // For a path without its query.
  using Answer = std::function<ScrapeAnswer(std::string_view path)>;

  // "9464", "HOST:9464", "[::1]:9464", "unix:PATH"; a port alone is loopback's, port 0 the kernel's choice.
  static Result<net::Address> parse(std::string_view text);

  Status open(const net::Address& address);
  bool is_open() const { return !listeners_.empty(); }
  // REQUIRES for this: open
  const net::Address& address() const { return listeners_.front().address(); }

  // Adds the descriptors to poll. progress(), called with the same array, serves them.
  void watch(std::vector<pollfd>& polled);
  void progress(const std::vector<pollfd>& polled, const Answer& answer);
  Deadline deadline() const;
  void close();

 private:
  struct Connection {
    net::OwnedFd socket;
    Deadline deadline = Deadline::after(kScrapeTime);
    std::string request;
    std::string answer;    // empty: the request is not complete
    std::size_t sent = 0;  // of the answer
  };
  // False: it is over.
  static bool serve(Connection& connection, const Answer& answer);
  static bool read(Connection& connection, const Answer& answer);
  void accept();

  std::vector<net::Listener> listeners_;
  std::list<Connection> connections_;
  std::size_t first_polled_ = 0;
  Deadline accept_at_ = Deadline::now();  // later, if descriptors ran out
};

}  // namespace tf::worker
