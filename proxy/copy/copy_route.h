// SPDX-License-Identifier: Apache-2.0
// Where a copy goes, from what stands at its ends, and whether the calling thread makes it itself. Any
// thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <optional>

#include "proxy/copy/copy_engine.h"

namespace tf::proxy {

// [address, address + bytes)
struct CopyEnd {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

struct Route {
  CopyWay way = CopyWay::kOnHost;
  bool here = false;         // both ends are memory of this process too, and one is the host's
  bool among_hosts = false;  // both ends are the host's, and devices reach them
};

// hipErrorInvalidValue: an end is not what `kind` says, or reaches beyond its allocation.
hipError_t find_route(CopyEngine& engine, const CopyEnd& target, const CopyEnd& source, hipMemcpyKind kind,
                      Route& route);

// HIP's rule for every form of copy, and for a graph's launch: whether the call may return while the host's
// end of the copy is still read or written. A synchronous form may not, and no form where that end is
// pageable. docs/copy-semantics.md has the sources.
bool may_return_early(CopyEngine& engine, const CopyMode& mode, const CopyEnd& host);
// Whether staging buffers for `staged_max` bytes would hold up a call that may return early: a stream that
// has other work to do first empties none.
bool staging_would_wait(CopyEngine& engine, const CopyMode& mode, const CopyEnd& source, std::uint64_t bytes,
                        std::uint64_t staged_max);
// The mode in which the copy is made, and the way it goes then. One that writes host memory waits unless it
// may return early. One between host memory is made here, behind its stream: CUDA's runtime and AMD's finish
// the stream in the thread that asks (docs/copy-semantics.md), which at the worker is the executor, and a
// host function in front of the copy ends only when the executor has heard of it.
CopyMode ruled(CopyEngine& engine, const CopyMode& mode, Route& route, const CopyEnd& target);

// Whether this thread makes a copy itself: nothing, or hipSuccess when it is its turn in the stream, or why
// it never will be. What the stream must do first is waited for where the call waits anyhow; copies to the
// device that a program may make while it keeps a stream busy are left to that stream.
std::optional<hipError_t> turn_here(CopyEngine& engine, const CopyMode& mode, const Route& route,
                                    std::uint64_t bytes);

}  // namespace tf::proxy
