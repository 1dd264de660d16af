// SPDX-License-Identifier: Apache-2.0
// HostParts: the parts of the host window that the client has opened (host_window.h).
//
// The client opens parts, which are registered with the runtime (hipHostRegister); pages are allocated on
// first touch. The content belongs to the client and is never interpreted here. The window's file is sealed,
// so it cannot shrink under a reader.
//
// A client on this host may also pass its own files, whose pages its program has registered. They are mapped
// into the last quarter of the window. Such a file may shrink. A process that touches the lost part dies of a
// bus error: if it is this one, its session dies with it. Belongs to the executor thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>

#include "hipcore/wire/device_snapshot.h"
#include "hipcore/wire/gen/hip_table.h"
#include "worker/base/address_map.h"
#include "worker/base/own_calls.h"
#include "worker/base/share.h"

namespace tf::worker {

inline constexpr std::size_t kHostPartsMax = 65536;  // per session
inline constexpr std::size_t kHostFilesMax = 4096;   // per session

class HostParts {
 public:
  HostParts(const protocol::HipTable& hip, OwnCalls& own_calls, const protocol::WorkerSnapshot& snapshot,
            AddressMap& addresses, Share& share);
  HostParts(const HostParts&) = delete;
  HostParts& operator=(const HostParts&) = delete;
  ~HostParts();

  hipError_t open(std::uint64_t address, std::uint64_t bytes);
  // REQUIRES: no device uses it
  hipError_t close(std::uint64_t address);

  // Maps pages of a file of the client. hipErrorInvalidValue: these are not whole free pages of the range for
  // files, or the file is not a regular one that has these pages now.
  hipError_t map_file(std::uint64_t address, std::uint64_t bytes, int file, std::uint64_t offset);
  // REQUIRES: no device uses it
  hipError_t unmap_file(std::uint64_t address);

  // All of [address, address + bytes) lies in one open part.
  bool holds(std::uint64_t address, std::uint64_t bytes) const;
  bool is_mirror() const { return access_ == protocol::HostAccess::kMirrored; }
  // The kind of a copy between these addresses, both of which belong to the session.
  hipMemcpyKind kind(std::uint64_t target, std::uint64_t source) const;

 private:
  // The tenant may have them, and so may this session.
  bool take(std::uint64_t bytes);
  void give(std::uint64_t bytes);
  bool is_free(std::uint64_t address, std::uint64_t bytes) const;
  bool is_for_files(std::uint64_t address, std::uint64_t bytes) const;
  hipError_t map_pages(std::uint64_t address, std::uint64_t bytes, int file, std::uint64_t offset);
  hipError_t tell_runtime(std::uint64_t address, std::uint64_t bytes);
  bool inside(std::uint64_t address) const { return address - window_.base < window_.bytes; }

  const protocol::HipTable& hip_;
  OwnCalls& own_calls_;
  const protocol::AddressWindow window_;
  const protocol::HostAccess access_;
  AddressMap& addresses_;
  Share& share_;
  std::uint64_t bytes_left_;                     // limit: the machine's memory
  std::map<std::uint64_t, std::uint64_t> open_;  // address -> bytes
  const protocol::AddressWindow files_window_;
  std::map<std::uint64_t, std::uint64_t> files_;  // address -> bytes
};

}  // namespace tf::worker
