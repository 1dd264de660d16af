// SPDX-License-Identifier: Apache-2.0
// Polls waits that may be over soon.
#include "worker/session/short_waits.h"

#include <algorithm>
#include <utility>

namespace tf::worker {

void ShortWaits::add(Wait wait) {
  if (patience_ < kPatienceMin && ++handed_over_ % kProbeEvery == 0) patience_ = patience_max_;
  if (patience_ < kPatienceMin || waits_.size() >= kShortWaitsMax) return wait.hand_over();
  waits_.push_back(std::move(wait));
}

void ShortWaits::progress() {
  std::erase_if(waits_, [this](const Wait& wait) {
    const bool answered = wait.answer();
    const auto waited = Clock::now() - wait.since;
    if (answered) {
      learn(waited <=
            patience_max_);  // letting others run may have taken long: then a thread is woken sooner
      return true;
    }
    if (waited >= patience_)
      learn(false);
    else if (waited < kPatienceInCrowds || !CrowdSign::is_up())
      return false;
    wait.hand_over();
    return true;
  });
}

bool ShortWaits::uses(const void* object) const {
  return std::any_of(waits_.begin(), waits_.end(),
                     [&](const Wait& wait) { return is_among(wait.objects, object); });
}

void ShortWaits::learn(bool was_short) {
  if (was_short)
    patience_ = std::min(patience_ * 2, patience_max_);
  else
    patience_ /= 2;
}

}  // namespace tf::worker
