// SPDX-License-Identifier: Apache-2.0
// A shaped endpoint: wraps any endpoint and makes it behave as if it were as far away as a Shape says.
// TF_SHAPE, on the client's side.
//
// This end shapes both directions: what is published, sent or received becomes visible to its receiver half a
// round trip after it left, plus its transfer time at the rate. Order is kept. A plane never waits for the
// other, so each has the full rate. Direct reads of memory shared with the far end are not shaped: a session
// over a shaped endpoint must not share memory.
//
// Threads as in endpoint.h. It has two threads of its own, both asleep while nothing is in flight: one hands
// over messages and payload when they are due and no caller is there to do it, one waits on the inner
// endpoint while callers sleep in wait().
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

// kResourceExhausted: the system gives us no thread.
Result<std::unique_ptr<Endpoint>> make_shaped(std::unique_ptr<Endpoint> inside, const Shape& shape);

// For tests: without threads, on a clock that the test moves. Only poll() and bulk().move_payload() move what
// is due; wait() never sleeps. `clock` outlives the endpoint.
std::unique_ptr<Endpoint> make_shaped_by_hand(std::unique_ptr<Endpoint> inside, const Shape& shape,
                                              const Clock& clock);

}  // namespace tf::shaper
