// SPDX-License-Identifier: Apache-2.0
// Keeps the last late work of each stream until it is done.
#include "worker/runtime/cpu/late_work.h"

#include <algorithm>
#include <utility>

namespace tf::cpu {

void LateWork::add(Marker work) {
  std::vector<Marker> done;  // their streams may end here, outside the lock
  const MutexLock lock(mutex_);
  const auto rest = std::partition(work_.begin(), work_.end(), [](const Marker& old) { return !old.done(); });
  done.assign(std::make_move_iterator(rest), std::make_move_iterator(work_.end()));
  work_.erase(rest, work_.end());
  const auto same = std::find_if(work_.begin(), work_.end(),
                                 [&work](const Marker& old) { return old.stream == work.stream; });
  if (same == work_.end())
    work_.push_back(std::move(work));
  else
    same->position = std::max(same->position, work.position);
  count_.fetch_add(1, std::memory_order_release);
}

std::vector<Marker> LateWork::pending() const {
  std::vector<Marker> pending;
  const MutexLock lock(mutex_);
  for (const Marker& work : work_)
    if (!work.done()) pending.push_back(work);
  return pending;
}

void LateWork::wait() const {
  for (const Marker& work : pending()) work.wait();
}

}  // namespace tf::cpu
