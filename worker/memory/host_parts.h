// SPDX-License-Identifier: Apache-2.0
// HostParts: what the client has opened of the host window (host_window.h).
//
// The client opens parts, which the runtime is told of (hipHostRegister); pages come with the first touch.
// What stands in the memory is the client's business: it is never interpreted here, and the window's file is
// sealed, so that it cannot shrink under a reader.
//
// A client on this host may also pass files of its own, whose pages its program has registered: they are
// mapped into the last quarter of the window. Such a file may shrink: who touches what it has lost ends with
// a bus error, this process, and the session with it. Belongs to the executor thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <span>

#include "hipcore/wire/device_snapshot.h"
#include "hipcore/wire/gen/hip_table.h"
#include "transport/base/status.h"
#include "transport/endpoint.h"
#include "worker/base/address_map.h"
#include "worker/base/own_calls.h"

namespace tf::worker {

inline constexpr std::size_t kHostPartsMax = 65536;  // per session
inline constexpr std::size_t kHostReadsMax = 64;     // ReadHostPart under way
inline constexpr std::size_t kHostFilesMax = 4096;   // per session

class HostParts {
 public:
  HostParts(const protocol::HipTable& hip, OwnCalls& own_calls, const protocol::WorkerSnapshot& snapshot,
            AddressMap& addresses);
  HostParts(const HostParts&) = delete;
  HostParts& operator=(const HostParts&) = delete;
  ~HostParts();

  hipError_t open(std::uint64_t address, std::uint64_t bytes);
  // REQUIRES: no device uses it
  hipError_t close(std::uint64_t address);

  // Pages of a file of the client's. hipErrorInvalidValue: not whole free pages of the range meant for that,
  // or not of a regular file that has them now.
  hipError_t map_file(std::uint64_t address, std::uint64_t bytes, int file, std::uint64_t offset);
  // REQUIRES: no device uses it
  hipError_t unmap_file(std::uint64_t address);

  // All of [address, address + bytes) lies in one open part.
  bool holds(std::uint64_t address, std::uint64_t bytes) const;
  bool is_mirror() const { return access_ == protocol::HostAccess::kMirrored; }
  // How a copy between these addresses, each the session's, is called.
  hipMemcpyKind kind(std::uint64_t target, std::uint64_t source) const;

  // Sends a piece of a mirror. REQUIRES: holds(address, bytes)
  Status send(BulkPlane& bulk, std::uint64_t tag, std::uint64_t address, std::uint64_t bytes);
  bool can_send() const { return reads_.size() < kHostReadsMax; }
  // Forgets the sends that are done. True when none is left.
  bool sweep();

 private:
  bool is_free(std::uint64_t address, std::uint64_t bytes) const;
  bool is_for_files(std::uint64_t address, std::uint64_t bytes) const;
  hipError_t tell_runtime(std::uint64_t address, std::uint64_t bytes);
  bool inside(std::uint64_t address) const { return address - window_.base < window_.bytes; }

  const protocol::HipTable& hip_;
  OwnCalls& own_calls_;
  const protocol::AddressWindow window_;
  const protocol::HostAccess access_;
  AddressMap& addresses_;
  std::uint64_t bytes_left_;                     // of the machine's memory
  std::map<std::uint64_t, std::uint64_t> open_;  // address -> bytes
  const protocol::AddressWindow files_window_;
  std::map<std::uint64_t, std::uint64_t> files_;  // address -> bytes
  // On the heap, and left there by the destructor if a send is still under way: the transport writes to it.
  std::list<std::unique_ptr<BulkCompletion>> reads_;
};

}  // namespace tf::worker
