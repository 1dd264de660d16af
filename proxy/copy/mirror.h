// SPDX-License-Identifier: Apache-2.0
// Mirror: host memory that devices use, with a worker that cannot map our pages (HostAccess::kMirrored).
//
// Both sides have the memory, and what one side has changed travels to the other where HIP promises that it
// is visible: to the worker before work is posted, back when the program has waited. Either side finds the
// changes by itself (hipcore/mirror), page by page, so as many bytes travel as were touched, rounded to
// pages.
//
// Managed memory follows the rule for devices without concurrentManagedAccess (HIP programming guide,
// "managed memory"): the host does not touch it from launching work until it has waited. So it is looked at
// before the first work after a wait only. Pinned memory is the program's at any time, in places that running
// work does not use. So it is looked at before every work. Ranges below 64 KiB have a twin here
// (hipcore/mirror/twin.h), so both sides may write to different words of them at once. What must not happen
// in larger ones, and is not seen: host and running work write to the same page.
//
// A host function sees what the work before it has written, and the work behind it sees what the function
// writes: the mirror is brought up to date before and behind it. The worker's executor may not go on until
// the function has run, and threads of the program with it. So while functions are unfinished everything
// travels at once (mirror_traffic.h), and whoever holds the mutex needs no request. Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "hipcore/mirror/changes.h"
#include "hipcore/wire/gen/op_traits.h"
#include "proxy/copy/mirror_traffic.h"
#include "proxy/session/callbacks.h"
#include "proxy/session/connection.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

class Mirror final : public FunctionObserver, private MirroredPlaces {
 public:
  using Use = mirror::WrittenPages::Use;
  explicit Mirror(Connection& connection, Use use = Use::kIfItWorks) : use_(use), traffic_(connection) {}
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  struct Memory {
    mirror::Piece host;        // in this process
    std::uint64_t device = 0;  // its address at the worker, in one open part of the host window
    bool any_time = false;     // the program may touch it while work runs
    bool whole_pages = true;   // as Changes::Options has them
    bool watched = true;
  };
  void add(const Memory& memory);
  void remove(std::uint64_t host_address);
  // Something is mirrored at all.
  bool any() const { return any_.load(std::memory_order_relaxed); }  // the adding thread sees its own store

  // Call it before every message that is posted while something may be mirrored, and posted() behind it if
  // this succeeds. If the message is work, the worker gets what the program has changed.
  hipError_t before(protocol::OpTraits what);
  void posted(protocol::OpTraits what);
  // The program has waited for some work: it gets what any work has changed so far.
  hipError_t after_wait();
  // The program is about to wait: the worker gets what it may touch at any time, since work may wait for
  // that.
  hipError_t before_wait();
  // The worker gets what has changed in there now.
  hipError_t prefetch(std::uint64_t host_address, std::uint64_t bytes);

  void function_queued() override;
  void function_withdrawn() override;
  hipError_t function_begins() override;
  void function_ended() override;
  void copy_ended() override;

  // Bytes of memory that have travelled so far.
  std::uint64_t bytes_sent() const { return traffic_.bytes_sent(); }
  std::uint64_t bytes_fetched() const { return traffic_.bytes_fetched(); }

 private:
  struct Entry {
    Memory memory;
    mirror::Changes changes;
    bool sent = false;  // all of it; before that, what the worker has there is not the program's
  };
  // A piece here, and where the worker has it.
  struct Pieces {
    std::vector<mirror::Piece> here;  // where the bytes are that travel
    std::vector<mirror::Piece> there;
    void add(const Entry& entry, std::span<const mirror::Piece> changed);
  };

  void collect(Entry& entry, const mirror::Piece& part, Pieces& pieces) TF_REQUIRES(mutex_);
  MirrorTraffic::Way way() const TF_REQUIRES(mutex_);
  hipError_t send(bool managed_too) TF_REQUIRES(mutex_);
  hipError_t send(const Pieces& pieces) TF_REQUIRES(mutex_);
  hipError_t fetch() TF_REQUIRES(mutex_);
  mirror::Changes* place_of(const mirror::Piece& there, mirror::Piece& here) override TF_REQUIRES(mutex_);

  const Use use_;
  std::atomic<bool> any_{false};
  // Work that is in before(), or has not reached the queue since: the worker does not know of it yet.
  std::atomic<int> under_way_{0};
  Mutex mutex_;
  MirrorTraffic traffic_;                    // under the mutex, but for what it counts
  int functions_ TF_GUARDED_BY(mutex_) = 0;  // unfinished ones
  std::optional<mirror::WrittenPages> pages_ TF_GUARDED_BY(mutex_);  // from the first memory on
  std::map<std::uint64_t, Entry> entries_ TF_GUARDED_BY(mutex_);     // by their addresses here
  std::map<std::uint64_t, Entry*> by_place_ TF_GUARDED_BY(mutex_);   // by their addresses there
  bool managed_is_hosts_ TF_GUARDED_BY(mutex_) = true;  // the program may have touched managed memory
  bool may_differ_ TF_GUARDED_BY(mutex_) = false;       // work may have changed what was not fetched since
};

}  // namespace tf::proxy
