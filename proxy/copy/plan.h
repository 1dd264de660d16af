// SPDX-License-Identifier: Apache-2.0
// What is decided of a copy before anything is sent, copied or waited for: where it goes, who makes it, what
// it has to wait for first, and when its call may return. The same for lines, rows and boxes. Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>

#include "hipcore/graph/box.h"

namespace tf::proxy {

class CopyEngine;
using graph::Box;
using graph::BoxSide;

// The client makes copies between memory that is all its own itself:
// at most this many bytes when the call need not wait and nothing is pending, what about a message costs;
inline constexpr std::uint64_t kBriefCopyBytesMax = 16 << 10;
// up to so many go to a busy stream, which takes them when it gets there, and the caller goes on.
inline constexpr std::uint64_t kPostedCopyBytesMax = 1 << 20;

// How one copy is issued.
struct CopyMode {
  int device = 0;
  std::uint64_t stream = 0;  // handle on the wire
  bool wait = false;         // the synchronous forms, and others where HIP's rule says so
  bool in_turn = false;      // made for a stream that is held meanwhile (turns.h)
};

// Where a copy goes, by what stands at its ends.
enum class CopyWay : std::uint8_t { kToDevice, kFromDevice, kOnDevice, kOnHost };

struct Route {
  CopyWay way = CopyWay::kOnHost;
  bool mapped = false;       // both ends are memory of this process too, and one is the host's
  bool among_hosts = false;  // both ends are the host's, and devices reach them
};

// hipErrorInvalidValue: an end is not what `kind` says, or reaches beyond its allocation. REQUIRES:
// is_valid(box)
hipError_t find_route(CopyEngine& engine, const Box& box, hipMemcpyKind kind, Route& route);
// The direction of a copy between these addresses.
CopyWay way_between(CopyEngine& engine, std::uint64_t target, std::uint64_t source);

// Who makes it.
enum class Executor : std::uint8_t {
  kMapped,    // the calling thread (mapped.h)
  kInTurn,    // a callback of its stream, by a copy of its own then (turns.h)
  kInline,    // the worker, with the payload in the message (bulk.h)
  kStaged,    // the worker, through buffers that it shares; where they are in use kBulk (staged.h)
  kBulk,      // the worker, with the payload on the bulk plane (bulk.h)
  kOnDevice,  // the worker, between addresses that it reaches (on_device.h)
};

struct CopyPlan {
  CopyMode mode;  // `wait` as HIP's rule has it
  Box box;        // flattened; addresses as devices see them
  // The addresses as the program knows them: another name of the same memory where that is registered and
  // shared.
  std::uint64_t target = 0;
  std::uint64_t source = 0;
  CopyWay way = CopyWay::kOnHost;
  Executor executor = Executor::kMapped;
  bool behind_stream = false;  // the caller waits for the stream first
  // kBulk, and what follows from it: the call may return while the payload moves. It is over with its stream
  // then.
  bool early = false;
};

// What the caller has found of the copy: mode as asked, box, addresses. Decides the rest.
void make_plan(CopyEngine& engine, const Route& route, CopyPlan& plan);
// The buffers of a staged copy were in use.
void make_bulk(CopyEngine& engine, CopyPlan& plan);

// HIP's rule for every form of copy, and for a graph's launch: whether the call may return while the host's
// end of the copy is still read or written. A synchronous form may not, and no form where that end is
// pageable. docs/copy-semantics.md has the sources.
bool may_return_early(CopyEngine& engine, const CopyMode& mode, std::uint64_t host, std::uint64_t bytes);

}  // namespace tf::proxy
