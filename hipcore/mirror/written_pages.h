// SPDX-License-Identifier: Apache-2.0
// WrittenPages: which pages of this process's own memory were written, as the kernel keeps account of it.
//
// userfaultfd's asynchronous write protection (UFFD_FEATURE_WP_ASYNC, userfaultfd(2)) with the scan of
// /proc/self/pagemap (PAGEMAP_SCAN, ioctl_pagemap_scan(2)), both since Linux 6.7. The first write to a
// protected page costs a fault, which the kernel resolves by itself: no thread here serves it and no signal
// is raised, so writes by system calls and by any thread are seen too. What is not seen are writes that go
// around the page tables: by a device (DMA) to memory that it has pinned, and by other mappings of shared
// memory.
//
// The constructor tries it on a page. Where it does not work (older kernels, sandboxes), can_watch() is
// false. Any thread; calls about the same memory one at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "hipcore/mirror/piece.h"
#include "transport/net/fd.h"

namespace tf::mirror {

// For a process that will not be allowed to open its page tables later (PR_SET_DUMPABLE): opens them now, for
// all objects. REQUIRES: there are none yet
void keep_page_tables();

class WrittenPages {
 public:
  enum class Use : std::uint8_t {
    kIfItWorks,
    kNever,  // as on a system that has not got it; for tests
  };
  explicit WrittenPages(Use use = Use::kIfItWorks);
  WrittenPages(const WrittenPages&) = delete;
  WrittenPages& operator=(const WrittenPages&) = delete;

  bool can_watch() const { return pages_.get() >= 0; }

  // Begins to watch private memory of this process, whole pages. False: the kernel cannot watch these, or
  // somebody else does already. Nothing counts as unwritten before forget().
  bool watch(const Piece& memory);
  void unwatch(const Piece& memory);

  // From now on the pages count as unwritten. REQUIRES of all below: whole pages that are watched
  bool forget(const Piece& memory);
  // Appends the pages that were written, which then count as unwritten. False: the kernel did not say, since
  // they are no longer the memory that was watched.
  bool take(const Piece& memory, std::vector<Piece>& written);
  // As forget(), for the first time. Appends the pages that have content: those that were never touched, or
  // only read, are zero.
  bool begin(const Piece& memory, std::vector<Piece>& content);

 private:
  bool works();

  net::OwnedFd faults_;  // userfaultfd
  net::OwnedFd pages_;   // /proc/self/pagemap
};

}  // namespace tf::mirror
