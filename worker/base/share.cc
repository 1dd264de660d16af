// SPDX-License-Identifier: Apache-2.0
// Takes from a tenant's share, and tells what a session had of it.
#include "worker/base/share.h"

#include <algorithm>

namespace tf::worker {

bool Share::take(Limit limit, Counter counter, std::uint64_t amount, std::uint64_t most) {
  if (of(limit) != 0) most = of(limit);
  if (!page_.take(counter, amount, most)) {
    refuse(limit, most);
    return false;
  }
  std::uint64_t& peak = most_[static_cast<std::size_t>(counter)];
  peak = std::max(peak, page_.used_here(counter));
  return true;
}

void Share::refuse(Limit limit, std::uint64_t most) {
  const std::uint64_t times = ++refused_[static_cast<std::size_t>(limit)];
  if (tally_ != nullptr) SessionTally::add_alone(tally_->refused[static_cast<std::size_t>(limit)], 1);
  LimitValues reached{};
  reached[static_cast<std::size_t>(limit)] = most;
  log_.line("{}: its tenant's limit {} is reached ({} times so far)", whose_, limits_text(reached), times);
}

std::string Share::text() const {
  std::string text;
  const auto add = [&text](std::string words) { text += (text.empty() ? "" : ", ") + std::move(words); };
  for (std::size_t device = 0; device < protocol::kDevicesMax; ++device)
    if (most_[device] != 0) add(fmt::format("{} bytes of device {}", most_[device], device));
  const auto at = [this](Counter counter) { return most_[static_cast<std::size_t>(counter)]; };
  if (at(Counter::kHost) != 0) add(fmt::format("{} bytes of host memory", at(Counter::kHost)));
  if (at(Counter::kStreams) != 0) add(fmt::format("{} streams", at(Counter::kStreams)));
  if (at(Counter::kCompiles) != 0) add(fmt::format("{} compilations", at(Counter::kCompiles)));
  text = text.empty() ? "nothing that is limited" : "at most " + text;
  std::string refused;
  for (std::size_t index = 0; index < kLimits; ++index)
    if (refused_[index] != 0)
      refused += fmt::format("{} {} {} times", refused.empty() ? "; refused:" : ",",
                             name(static_cast<Limit>(index)), refused_[index]);
  return text + refused;
}

}  // namespace tf::worker
