// SPDX-License-Identifier: Apache-2.0
// HostMirror: the worker's side of memory that a client mirrors (HostAccess::kMirrored): what has changed
// here since the client had it, and its way to the client.
//
// If all that the runtime writes goes through this process's page tables (the CPU runtime), the kernel says
// which pages were written. What a device writes is found by comparing. Belongs to the executor thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hipcore/mirror/batch.h"
#include "hipcore/mirror/changes.h"
#include "transport/base/status.h"
#include "transport/endpoint.h"

namespace tf::worker {

inline constexpr std::size_t kMirrorSendsMax = 64;            // in flight
inline constexpr std::uint64_t kMirrorPiecesMax = 65'536;     // that the client writes by one request
inline constexpr std::uint64_t kMirrorBytesMax = 1ull << 50;  // more than any window has

class HostMirror {
 public:
  // `runs_on_host`: hipRemoteRunsOnHost()
  explicit HostMirror(bool runs_on_host) : runs_on_host_(runs_on_host) {}
  HostMirror(const HostMirror&) = delete;
  HostMirror& operator=(const HostMirror&) = delete;
  ~HostMirror();

  // A part of the host window is open, and zero.
  void opened(std::uint64_t address, std::uint64_t bytes);
  // REQUIRES: sweep() is true. What was found is forgotten, if some of it lies in that part.
  void closed(std::uint64_t address);
  // Whether the address lies in a part that was opened().
  bool holds(std::uint64_t address) const;

  // The client has written the piece. REQUIRES of all pieces: each lies in one open part
  void agree(const mirror::Piece& piece);
  // Writes the pieces, whose bytes the client has sent one after another.
  void put(std::span<const mirror::Piece> pieces, const std::byte* bytes);
  // Replaces what was found before. `settled`: no device is at work. A piece has its pages to itself.
  void find(std::span<const mirror::Piece> pieces, bool settled);
  std::span<const mirror::Piece> found() const { return found_; }

  // Sends some of what was found: first the pieces' places, then their bytes. REQUIRES: is_found(),
  // has_room()
  Status send_some(BulkPlane& bulk, std::uint64_t tag);
  // Something that was found has not been sent.
  bool is_found() const { return sent_ < found_.size(); }
  bool has_room() const { return sends_.size() < kMirrorSendsMax; }
  // Forgets sends that are done. True if none is left.
  bool sweep();

 private:
  // On the heap, and leaked by the destructor if it is still in flight: the transport uses it.
  struct Send {
    std::vector<std::byte> gathered;
    BulkCompletion completion;
  };

  using Parts = std::map<std::uint64_t, mirror::Changes>;
  // The part that holds the address, or the end.
  Parts::const_iterator part_at(std::uint64_t address) const;
  mirror::Changes* changes_at(std::uint64_t address);
  Status send(BulkPlane& bulk, std::uint64_t tag, std::span<const std::byte> bytes,
              std::unique_ptr<Send> carrier);

  const bool runs_on_host_;
  std::optional<mirror::WrittenPages> pages_;  // from the first part on
  Parts changes_;                              // by the parts' addresses
  std::vector<mirror::Piece> found_;
  bool told_ = false;     // where they lie
  std::size_t sent_ = 0;  // of found_
  std::list<std::unique_ptr<Send>> sends_;
};

}  // namespace tf::worker
