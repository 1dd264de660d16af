// SPDX-License-Identifier: Apache-2.0
// Transport: how an Endpoint is set up over sockets. One stateless object per kind of transport.
//
// The client dials the worker's one address once per lane. The first frame on every connection says what the
// connection is for (transport/net/attach.h): the control connection, or lane k of the endpoint that a
// 128-bit token names. The worker's side hands each accepted lane to the Acceptor that expects the token; so
// a worker needs one port, or one Unix socket, for everything.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "transport/endpoint.h"
#include "transport/net/address.h"
#include "transport/net/attach.h"
#include "transport/net/fd.h"
#include "transport/net/lanes.h"

namespace tf::net {

// Builds the worker's end of one endpoint from the lanes that its client opens. One thread at a time.
class Acceptor {
 public:
  virtual ~Acceptor() = default;
  // Takes ownership of a connected socket whose attach frame (already read) named our token. In a session
  // with keys the lane is proven.
  virtual Status attach(OwnedFd socket, const Attach& attach) = 0;
  // The endpoint, once all lanes are here; nullptr while some are missing.
  virtual Result<std::unique_ptr<Endpoint>> finish() = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::string_view name() const = 0;
  // Of its lanes; no two transports have the same. kControl: this build has no such transport.
  virtual TransportKind kind() const = 0;
  // Ok, or why this process cannot use it ("no RDMA device", a variable that cannot be parsed).
  virtual Status available() const = 0;
  // For people: what it finds on this machine, one item per line. If it is not available, the reason says
  // more.
  virtual std::vector<std::string> details() const { return {}; }
  // Ok, or why a worker at `address` cannot be reached this way ("a TCP address; shm needs unix:").
  virtual Status reaches(const Address& address) const = 0;
  // Whether all that its lanes carry is encrypted in a session whose level is that. If not, a session that
  // has to be encrypted cannot use it.
  virtual bool encrypts() const { return false; }
  // Client side: dials, attaches every lane, returns the ready endpoint. Blocks.
  virtual Result<std::unique_ptr<Endpoint>> connect(const Address& address, const Lanes& lanes,
                                                    Deadline deadline) const = 0;
  // Worker side.
  virtual std::unique_ptr<Acceptor> acceptor(const Lanes& lanes) const = 0;
};

}  // namespace tf::net
