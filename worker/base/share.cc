// SPDX-License-Identifier: Apache-2.0
// Takes from a tenant's share, and tells what a session had of it.
#include "worker/base/share.h"

#include <algorithm>

namespace tf::worker {

namespace {

// 0 is none.
std::uint64_t less_of(std::uint64_t one, std::uint64_t other) {
  return one == 0 || other == 0 ? std::max(one, other) : std::min(one, other);
}

}  // namespace

void Share::name_device(std::size_t device, std::string_view uuid) {
  const std::uint64_t number = hipcore::device_number(uuid);
  for (const hipcore::DeviceLimit& limit : devices_)
    if (limit.device == number) device_memory_[device] = limit.memory_bytes;
}

std::uint64_t Share::memory_limit(std::size_t device) const {
  return less_of(of(Limit::kMemory), device_memory_[device]);
}

bool Share::take(Limit limit, Counter counter, std::uint64_t amount, std::uint64_t most) {
  most = less_of(of(limit), most);
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
