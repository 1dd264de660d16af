// SPDX-License-Identifier: Apache-2.0
// A shaped endpoint: any endpoint, as far away as a Shape says. TF_SHAPE on the client's side.
//
// Both directions are shaped at this end: what is published, sent or received becomes visible to its receiver
// half a round trip after it left, plus the time that its bytes take at the rate. Order is kept; a plane
// never waits for the other, so each has the rate for itself. What this end reads of the far one's memory
// without messages is not shaped: a session over it must not share memory.
//
// Threads as endpoint.h says. Two of its own, both asleep while nothing is under way: one hands messages and
// payload over when their time comes and no caller is there to do it, one waits on the endpoint inside while
// callers sleep in wait().
#pragma once

#include <memory>

#include "transport/endpoint.h"
#include "transport/shaper/shape.h"

namespace tf::shaper {

class Clock {
 public:
  virtual Time now() const = 0;

 protected:
  ~Clock() = default;
};

// kResourceExhausted: no thread to be had.
Result<std::unique_ptr<Endpoint>> make_shaped(std::unique_ptr<Endpoint> inside, const Shape& shape);

// Tests: without threads, on a clock that the test moves. What is due moves in poll() and bulk().poll() only;
// wait() never sleeps. `clock` outlives the endpoint.
std::unique_ptr<Endpoint> make_shaped_by_hand(std::unique_ptr<Endpoint> inside, const Shape& shape,
                                              const Clock& clock);

}  // namespace tf::shaper
