// SPDX-License-Identifier: Apache-2.0
// Deals the connections of an endpoint out to addresses.
#include "tcp/rails.h"

#include <chrono>
#include <cstddef>
#include <iterator>
#include <thread>
#include <utility>

#include "transport/base/thread.h"
#include "transport/net/socket.h"

namespace tf::tcp {
namespace {

// A host that is there answers within a round trip; one lost packet costs a second.
constexpr std::chrono::seconds kRailLimit{3};

net::Address with_port_of(const net::Address& rail, const net::Address& worker) {
  if (rail.port() != 0) return rail;
  return net::Address::tcp(rail.host(), worker.is_unix() ? net::kDefaultPort : worker.port());
}

std::string remark_on(const net::Address& rail, const Status& why) {
  return "payload does not go over " + rail.to_string() + " (TF_TCP_RAILS): " + why.message();
}

// The first payload connection to each rail that answers; all are asked at the same time. Returns those.
std::vector<net::Address> probe(const net::Address& worker, const std::vector<net::Address>& rails,
                                Deadline deadline, DialledRails& dialled) {
  const Deadline limit = deadline.sooner(Deadline::after(kRailLimit));
  std::vector<Result<net::OwnedFd>> answers;
  for (std::size_t index = 0; index < rails.size(); ++index) answers.emplace_back(net::OwnedFd());
  std::vector<std::thread> threads(rails.size());
  for (std::size_t index = 0; index < rails.size(); ++index) {
    const auto ask = [&, index] { answers[index] = net::dial(with_port_of(rails[index], worker), limit); };
    if (!start_thread(threads[index], "hip-tcp-rail", ask)) ask();
  }
  std::vector<net::Address> alive;
  for (std::size_t index = 0; index < rails.size(); ++index) {
    if (threads[index].joinable()) threads[index].join();
    const net::Address address = with_port_of(rails[index], worker);
    if (answers[index]) {
      dialled.sockets.push_back(std::move(*answers[index]));
      alive.push_back(address);
    } else {
      dialled.remarks.push_back(remark_on(address, answers[index].status()));
    }
  }
  return alive;
}

// The other payload connections, to the rails in turn. A rail that no longer answers keeps those that it has.
Status dial_others(const net::Address& worker, std::vector<net::Address> alive, std::size_t count,
                   Deadline deadline, DialledRails& dialled) {
  while (dialled.sockets.size() < count) {
    const std::size_t turn = alive.empty() ? 0 : dialled.sockets.size() % alive.size();
    Result<net::OwnedFd> socket = alive.empty()
                                      ? net::dial(worker, deadline)
                                      : net::dial(alive[turn], deadline.sooner(Deadline::after(kRailLimit)));
    if (socket) {
      dialled.sockets.push_back(std::move(*socket));
    } else if (alive.empty()) {
      return socket.status();
    } else {
      dialled.remarks.push_back("more " + remark_on(alive[turn], socket.status()));
      alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(turn));
    }
  }
  return Status::ok();
}

}  // namespace

Result<DialledRails> dial_rails(const net::Address& worker, const std::vector<net::Address>& rails,
                                const Layout& layout, Deadline deadline) {
  DialledRails payload;
  if (!rails.empty()) {
    std::vector<net::Address> alive = probe(worker, rails, deadline, payload);
    const Status all = dial_others(worker, std::move(alive), layout.payload_lanes, deadline, payload);
    if (!all) return all;
  }
  const auto own = layout.connections() - static_cast<unsigned>(payload.sockets.size());
  Result<std::vector<net::OwnedFd>> sockets = net::dial_all(worker, own, deadline);
  if (!sockets) return sockets.status();
  // Receipts come last.
  sockets->insert(sockets->begin() + kConnectionsMin, std::make_move_iterator(payload.sockets.begin()),
                  std::make_move_iterator(payload.sockets.end()));
  payload.sockets = std::move(*sockets);
  return payload;
}

}  // namespace tf::tcp
