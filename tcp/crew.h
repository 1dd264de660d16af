// SPDX-License-Identifier: Apache-2.0
// Crew: seals or opens the records of one direction of a lane, by several threads at once.
//
// The lane's own thread posts records and takes them back in the same order. Helper threads work ahead of it;
// whatever none of them has begun when it is wanted, the lane's thread does itself. So it never waits for a
// thread to wake up, only for a record that a helper has begun, and without helpers it does everything.
//
// A record's number is its position in the crew, so none is ever used twice. A worker gets numbers that only
// grow, because records are claimed in order, by one compare-exchange each.
//
// Helpers start with the first work that is worth a thread, poll for more for a while, then sleep. One owner
// at a time; the helpers are the crew's own.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "transport/base/spin.h"
#include "transport/base/status.h"
#include "transport/secure/records.h"
#include "transport/wakeup.h"

namespace tf::tcp {

class Crew {
 public:
  using Workers = std::vector<std::unique_ptr<secure::RecordWorker>>;
  // What is posted and not taken yet.
  static constexpr std::size_t kRecordsMax = 16;

  struct Record {
    std::span<const std::byte> from;
    std::span<std::byte> to;
    Status status;
    std::atomic<std::uint64_t> done{0};  // its number + 1; release, pairs with front_is_done()
  };

  // All workers share a secret. The first one is the owner's, each other one a helper's. REQUIRES: there is
  // one.
  explicit Crew(Workers workers);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew();

  bool has_helpers() const { return workers_.size() > 1; }
  bool empty() const { return taken_ == posted_.load(std::memory_order_relaxed); }
  bool full() const { return posted_.load(std::memory_order_relaxed) - taken_ == kRecordsMax; }
  // The memory of both belongs to the crew until the record is taken. REQUIRES: !full()
  void post(std::span<const std::byte> from, std::span<std::byte> to);

  // The oldest record. REQUIRES, all three: !empty()
  const Record& front() const { return records_[taken_ % kRecordsMax]; }
  bool front_is_done() const { return front().done.load(std::memory_order_acquire) == taken_ + 1; }
  // Returns when it is done, with what became of it.
  Status take_front();

  // Gives up on all records. Afterwards nobody holds any memory, and no record can follow.
  void abandon();

 private:
  bool work_on_next(secure::RecordWorker& worker);
  void call_helpers();
  void start_helpers();
  void help(secure::RecordWorker& worker);
  template <typename Ready>
  void await(const Ready& ready, SpinBudget& budget, Ringing what);

  const Workers workers_;
  std::array<Record, kRecordsMax> records_;
  std::uint64_t taken_ = 0;                            // the owner's
  alignas(64) std::atomic<std::uint64_t> posted_{0};   // release; pairs with work_on_next()
  alignas(64) std::atomic<std::uint64_t> claimed_{0};  // acq_rel
  std::atomic<bool> ended_{false};
  alignas(
      8) std::array<std::byte, kDoorbellBytes> words_{};  // helpers sleep for messages, the owner for payload
  const Doorbell bell_;
  SpinBudget owner_spin_;
  SpinBudget helper_spin_;
  bool started_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tf::tcp
