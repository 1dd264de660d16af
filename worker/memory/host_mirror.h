// SPDX-License-Identifier: Apache-2.0
// HostMirror: the worker's side of memory that a client mirrors (HostAccess::kMirrored): what has changed
// here since the client had it, and its way to the client.
//
// If all that the runtime writes goes through this process's page tables (the CPU runtime), the kernel says
// which pages were written. What a device writes is found by comparing. Any thread; parts are opened and
// closed by the executor.
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
#include "transport/base/mutex.h"
#include "transport/base/status.h"
#include "transport/endpoint.h"

namespace tf::worker {

inline constexpr std::size_t kMirrorSendsMax = 64;            // in flight
inline constexpr std::uint64_t kMirrorPiecesMax = 65'536;     // that the client writes by one request
inline constexpr std::uint64_t kMirrorBytesMax = 1ull << 50;  // more than any window has

class HostMirror {
 public:
  // What has changed, and how much of it has been sent. One thread at a time.
  struct Found {
    std::vector<mirror::Piece> pieces;
    std::vector<std::byte> head;  // goes in front of them
    bool settled = true;          // no device writes them meanwhile
    bool told = false;            // the head, and where the pieces lie
    std::size_t sent = 0;         // of pieces
    bool left() const { return sent < pieces.size() || (!told && !head.empty()); }
  };

  // `runs_on_host`: hipRemoteRunsOnHost()
  explicit HostMirror(bool runs_on_host) : runs_on_host_(runs_on_host) {}
  HostMirror(const HostMirror&) = delete;
  HostMirror& operator=(const HostMirror&) = delete;
  ~HostMirror();

  // A part of the host window is open, and zero.
  void opened(std::uint64_t address, std::uint64_t bytes);
  // False: some of what was found is being sent.
  bool try_close(std::uint64_t address);
  // Whether all are pieces of open parts, `bytes` long together.
  bool holds(std::span<const mirror::Piece> pieces, std::uint64_t bytes) const;

  // The client has written the piece, which is held.
  void agree(const mirror::Piece& piece);
  // Writes the pieces, whose bytes the client has sent one after another. False: they are not held.
  bool put(std::span<const mirror::Piece> pieces, std::span<const std::byte> bytes);
  // Replaces what `found` has. `settled`: no device is at work; else what is found is found again if it
  // differs from what was sent. A piece has its pages to itself. kProtocol: some are not held, or some memory
  // is in two of them: what is found would have no limit but their number.
  Status find(std::span<const mirror::Piece> pieces, bool settled, Found& found);
  // Nothing is closed while somebody holds the parts, to find and to send what they have.
  void hold();
  void let_go();

  // Sends some of what was found: first the head and the pieces' places, then their bytes. REQUIRES:
  // found.left(), has_room()
  Status send_some(BulkPlane& bulk, std::uint64_t tag, Found& found);
  // Forgets sends that are done. Whether there is room for another.
  bool has_room();

 private:
  // On the heap, and leaked by the destructor if it is still in flight: the transport uses it.
  struct Send {
    std::vector<std::byte> gathered;
    BulkCompletion completion;
  };

  using Parts = std::map<std::uint64_t, mirror::Changes>;
  // The part that holds the address, or the end.
  Parts::const_iterator part_at(std::uint64_t address) const TF_REQUIRES(mutex_);
  mirror::Changes* changes_at(std::uint64_t address) TF_REQUIRES(mutex_);
  bool are_held(std::span<const mirror::Piece> pieces, std::uint64_t bytes) const TF_REQUIRES(mutex_);
  Status send(BulkPlane& bulk, std::uint64_t tag, std::span<const std::byte> bytes,
              std::unique_ptr<Send> carrier) TF_REQUIRES(mutex_);
  std::span<const std::byte> next_to_send(Found& found, Send& carrier) TF_REQUIRES(mutex_);
  void note_sent(std::span<const mirror::Piece> pieces, const std::byte* bytes) TF_REQUIRES(mutex_);
  void sweep() TF_REQUIRES(mutex_);

  const bool runs_on_host_;
  mutable Mutex mutex_;
  std::optional<mirror::WrittenPages> pages_ TF_GUARDED_BY(mutex_);  // from the first part on
  Parts changes_ TF_GUARDED_BY(mutex_);                              // by the parts' addresses
  std::list<std::unique_ptr<Send>> sends_ TF_GUARDED_BY(mutex_);
  int holders_ TF_GUARDED_BY(mutex_) = 0;
};

}  // namespace tf::worker
