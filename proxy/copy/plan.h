// SPDX-License-Identifier: Apache-2.0
// The decisions about a copy before anything is sent, copied or waited for: where it goes, who makes it, what
// must be waited for first, and when its call may return. The same for lines, rows and boxes. Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>

#include "hipcore/graph/box.h"

namespace tf::proxy {

class CopyEngine;
using graph::Box;
using graph::BoxSide;

// The client itself makes copies if all the memory is its own: at most this many bytes if the call need not
// wait and nothing is pending, about the cost of a message;
inline constexpr std::uint64_t kBriefCopyBytesMax = 16 << 10;
// up to this many are given to a busy stream, which takes them when it gets there, so that the caller
// continues.
inline constexpr std::uint64_t kPostedCopyBytesMax = 1 << 20;

// How one copy is issued.
struct CopyMode {
  int device = 0;
  std::uint64_t stream = 0;  // handle on the wire
  bool wait = false;         // the synchronous forms, and others where HIP's rule says so
};

// Where a copy goes, decided by the memory at its ends.
enum class CopyWay : std::uint8_t { kToDevice, kFromDevice, kOnDevice, kOnHost };

struct Route {
  CopyWay way = CopyWay::kOnHost;
  bool mapped = false;        // both ends are also memory of this process, and one is host memory
  bool among_hosts = false;   // both ends are host memory that devices reach
  bool touches_host = false;  // one end is
  bool brings_in = false;     // to device memory from such host memory
};

// hipErrorInvalidValue: the copy leaves its allocation. REQUIRES: is_valid(box)
hipError_t find_route(CopyEngine& engine, const Box& box, Route& route);
// Whether the direction fits the memory at both ends (hipcore/memory/copy_kind.h).
bool kind_fits(CopyEngine& engine, const Box& box, hipMemcpyKind kind);
// The direction of a copy between these addresses in a graph. There host memory of which the worker has a
// copy is the worker's: what the graph's other nodes have changed is only there.
CopyWay graph_way_between(CopyEngine& engine, std::uint64_t target, std::uint64_t source);

// Who makes it.
enum class Carrier : std::uint8_t {
  kMapped,    // the calling thread (mapped.h)
  kInTurn,    // the worker, with the payload that it gets when the stream is there (in_turn.h)
  kInline,    // the worker, with the payload in the message (bulk.h)
  kStaged,    // the worker, through buffers that it shares; kBulk if they are in use (staged.h)
  kBulk,      // the worker, with the payload on the bulk plane (bulk.h)
  kOnDevice,  // the worker, between addresses that it reaches (on_device.h)
};

struct CopyPlan {
  CopyMode mode;  // `wait` by HIP's rule
  Box box;        // flattened; addresses as devices see them
  // The addresses as the program knows them: another name of the same memory if that is registered and
  // shared.
  std::uint64_t target = 0;
  std::uint64_t source = 0;
  CopyWay way = CopyWay::kOnHost;
  Carrier carrier = Carrier::kMapped;
  bool behind_stream = false;  // the caller must wait for the stream first
  bool touches_host = false;   // one end is host memory that devices reach
  bool shows_work = false;     // CopyEngine::pending_work_shows(), if that decides how long the call waits
  // kBulk, and cases that fall back to it: the call may return while the payload moves. The payload has then
  // moved when the stream is done.
  bool early = false;
};

// The caller's view of the copy: mode as requested, box, addresses. Decides the rest.
void make_plan(CopyEngine& engine, const Route& route, CopyPlan& plan);
// Call it if the buffers of a staged copy were in use.
void make_bulk(CopyEngine& engine, CopyPlan& plan);

// HIP's rule for every form of copy, and for a graph's launch: whether the call may return while the copy
// still reads or writes the host's end. A synchronous form may not, nor may any form if that end is pageable.
// docs/copy-semantics.md lists the sources.
bool may_return_early(CopyEngine& engine, const CopyMode& mode, std::uint64_t host, std::uint64_t bytes);

}  // namespace tf::proxy
