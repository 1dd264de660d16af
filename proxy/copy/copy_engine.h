// SPDX-License-Identifier: Apache-2.0
// CopyEngine: every copy of the API comes down to these two functions.
//
// Where a copy goes is decided by what the pointers are; `kind` must agree. When a call may return is HIP's
// rule (may_return_early() in copy_route.h, docs/copy-semantics.md): what it does with pageable memory has
// happened on return, whatever the function is called; memory of hipHostMalloc, hipHostRegister and
// hipMallocManaged is the copy's until the stream was synchronized, if the function is asynchronous. Any
// thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>

#include "proxy/copy/box.h"
#include "proxy/session/session.h"

namespace tf::proxy {

// Host rows packed at a time.
inline constexpr std::uint64_t kPackBytesMax = 1 << 20;

// How one copy is issued.
struct CopyMode {
  int device = 0;
  std::uint64_t stream = 0;  // handle on the wire
  bool wait = false;         // the synchronous forms; of the others, where HIP's rule says so
  bool in_turn = false;      // made for a stream that stands still meanwhile (copy_turns.h)
};

// Copies that the client can make itself (between memory that is all its own):
// at most this many bytes when the call need not wait and nothing is pending, what about a message costs;
inline constexpr std::uint64_t kBriefCopyBytesMax = 16 << 10;
// up to so many go to a busy stream, which takes them when it gets there, and the caller goes on.
inline constexpr std::uint64_t kPostedCopyBytesMax = 1 << 20;

enum class CopyWay { kToDevice, kFromDevice, kOnDevice, kOnHost };

// The way a copy between these addresses goes.
CopyWay way_between(Session& session, std::uint64_t target, std::uint64_t source);
// The same for a whole copy. hipErrorInvalidValue: an end is not what `kind` says, or
// reaches beyond its allocation. REQUIRES: is_valid(box)
hipError_t copy_way(Session& session, const Box& box, hipMemcpyKind kind, CopyWay& way);
// Posts a copy between addresses that the worker reaches (Session::reaches), and does not wait.
hipError_t post_copy(Session& session, const CopyMode& mode, std::uint64_t target, std::uint64_t source,
                     std::uint64_t bytes);
// The same for a strided copy.
hipError_t post_box(Session& session, const CopyMode& mode, const Box& box);
// Carry a piece of mirrored memory (mirror.h), and have done so on return.
hipError_t write_host_part(Session& session, std::uint64_t address, std::uint64_t bytes);
hipError_t read_host_part(Session& session, std::uint64_t address, std::uint64_t bytes);
// Makes a copy within the client's memory, now.
void copy_on_host(const Box& box);

hipError_t copy(Session& session, const CopyMode& mode, void* target, const void* source, std::uint64_t bytes,
                hipMemcpyKind kind);
hipError_t copy_box(Session& session, const CopyMode& mode, const Box& box, hipMemcpyKind kind);

}  // namespace tf::proxy
