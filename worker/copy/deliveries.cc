// SPDX-License-Identifier: Apache-2.0
// Sends what copies from the device have brought into staging slots.
#include "worker/copy/deliveries.h"

#include <algorithm>
#include <vector>

namespace tf::worker {

void Deliveries::add(const Piece& piece) {
  const MutexLock lock(mutex_);
  jobs_.push_back({piece});
  count_.store(jobs_.size(), std::memory_order_relaxed);
}

void Deliveries::extend(const StagingSlots::Slot* slot) {
  const MutexLock lock(mutex_);
  const auto job = std::ranges::find(jobs_, slot, &Job::slot);
  if (job == jobs_.end() || job->state != State::kFilling) return;
  ++job->ordered;
  (void)advance_parts(*job);
}

void Deliveries::fail(std::uint64_t tag, hipError_t error) {
  const MutexLock lock(mutex_);
  fail_jobs(tag, error);
}

void Deliveries::fail_jobs(std::uint64_t tag, hipError_t error) {
  const Status aborted = bulk_.abort(tag, static_cast<std::uint32_t>(error));
  if (!aborted.is_ok()) life_.end(aborted);
  for (Job& job : jobs_)
    if (job.tag == tag) job.failed = true;
}

bool Deliveries::is_over(const Job& job) {
  return job.state == State::kUnsent || (job.state == State::kSending && job.slot->transfer->done());
}

// REQUIRES for both: the job is filling
Deliveries::Progress Deliveries::advance(Job& job) {
  if (job.part_bytes != 0) return advance_parts(job);
  const hipError_t ready = staging_.query(job.slot);
  if (ready == hipErrorNotReady) return {};
  if (ready != hipSuccess && !job.failed) fail_jobs(job.tag, ready);
  if (job.failed) {
    job.state = State::kUnsent;
    return {.moved = true};
  }
  job.slot->transfer.emplace();
  const Status sent = bulk_.send(job.tag, job.slot->memory().first(job.bytes), *job.slot->transfer);
  if (sent.is_ok())
    job.state = State::kSending;
  else
    life_.end(sent);
  return {.moved = sent.is_ok(), .sent = sent.is_ok()};
}

// One that has failed is over when the device writes to none of its parts any more.
Deliveries::Progress Deliveries::advance_parts(Job& job) {
  const std::size_t before = job.there;
  hipError_t ready = hipSuccess;
  while (job.there < job.ordered && ready == hipSuccess) {
    ready = staging_.query(job.slot, job.there);
    if (ready == hipSuccess) ++job.there;
  }
  if (ready != hipSuccess && ready != hipErrorNotReady && !job.failed) fail_jobs(job.tag, ready);
  if (job.failed ? ready == hipErrorNotReady : job.there == before) return {};
  if (job.failed)
    job.slot->filling->stop();
  else
    job.slot->filling->reach(job.bytes_there());
  if (job.failed || job.bytes_there() == job.bytes) job.state = State::kSending;
  bulk_.filled();
  return {.moved = true};
}

Deliveries::Progress Deliveries::send_in_order() {
  Progress progress;
  std::vector<std::uint64_t> held_up;  // tags whose earlier bytes are not sent yet
  for (Job& job : jobs_) {
    if (job.state != State::kFilling) continue;
    const bool waits = std::find(held_up.begin(), held_up.end(), job.tag) != held_up.end();
    if (!waits) progress |= advance(job);
    if (job.state == State::kFilling) held_up.push_back(job.tag);
  }
  return progress;
}

Deliveries::Progress Deliveries::send_ready() {
  const MutexLock lock(mutex_);
  return send_in_order();
}

Deliveries::Progress Deliveries::progress(const std::function<void(StagingSlots::Slot*)>& give_back) {
  const MutexLock lock(mutex_);
  Progress progress = send_in_order();
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    if (!is_over(*job)) {
      ++job;
      continue;
    }
    give_back(job->slot);
    job = jobs_.erase(job);
    progress |= {.moved = true, .sent = true};
  }
  count_.store(jobs_.size(), std::memory_order_relaxed);
  return progress;
}

std::size_t Deliveries::under_way(std::uint64_t tag) const {
  const MutexLock lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(jobs_.begin(), jobs_.end(), [tag](const Job& job) { return job.tag == tag; }));
}

}  // namespace tf::worker
