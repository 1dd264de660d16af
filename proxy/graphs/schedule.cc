// SPDX-License-Identifier: Apache-2.0
// Cuts a plan into segments for the worker and steps of the client.
#include "proxy/graphs/schedule.h"

#include <algorithm>
#include <array>
#include <queue>
#include <utility>

#include "hipcore/newer/batch.h"

namespace tf::proxy {
namespace {

// First copies to the device, then work there, then copies back: the fewest cuts. Host functions and events
// come when nothing else can, and batches last: they may wait long.
constexpr std::array kOrder = {ItemPlace::kToDevice, ItemPlace::kDevice, ItemPlace::kFromDevice,
                               ItemPlace::kOnHost,   ItemPlace::kEvent,  ItemPlace::kBatch};

class Scheduler {
 public:
  Scheduler(const graph::Plan& plan, const PlaceOf& place_of)
      : plan_(plan),
        missing_(plan.size()),
        dependents_(plan.size()),
        segment_(plan.size(), 0),
        position_(plan.size(), 0) {
    places_.reserve(plan.size());
    for (const graph::PlanItem& item : plan) places_.push_back(place_of(*item.work));
    for (std::uint32_t i = 0; i < plan.size(); ++i) {
      missing_[i] = plan[i].dependencies.size();
      for (std::uint32_t before : plan[i].dependencies) dependents_[before].push_back(i);
      if (missing_[i] == 0) ready(places_[i]).push(i);
    }
  }

  Schedule run() {
    Schedule schedule;
    for (;;) {
      const auto place = std::find_if(kOrder.begin(), kOrder.end(),
                                      [this](ItemPlace candidate) { return !ready(candidate).empty(); });
      if (place == kOrder.end()) return schedule;
      ScheduleStep& step = schedule.emplace_back();
      step.place = *place;
      if (*place != ItemPlace::kDevice) {
        step.work = plan_[take(*place)].work;
        continue;
      }
      ++segments_;
      while (!ready(ItemPlace::kDevice).empty()) add_to_segment(step, take(ItemPlace::kDevice));
    }
  }

 private:
  using Ready = std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>>;

  Ready& ready(ItemPlace place) { return ready_[static_cast<std::size_t>(place)]; }

  std::uint32_t take(ItemPlace place) {
    const std::uint32_t index = ready(place).top();
    ready(place).pop();
    for (std::uint32_t after : dependents_[index])
      if (--missing_[after] == 0) ready(places_[after]).push(after);
    return index;
  }

  // Earlier steps are done when the segment starts.
  void add_to_segment(ScheduleStep& step, std::uint32_t index) {
    segment_[index] = segments_;
    position_[index] = static_cast<std::uint32_t>(step.segment.size());
    ScheduledItem& item = step.segment.emplace_back();
    item.work = plan_[index].work;
    for (std::uint32_t before : plan_[index].dependencies)
      if (segment_[before] == segments_) item.dependencies.push_back(position_[before]);
  }

  const graph::Plan& plan_;
  std::vector<ItemPlace> places_;
  std::vector<std::size_t> missing_;
  std::vector<std::vector<std::uint32_t>> dependents_;
  std::vector<std::uint32_t> segment_;  // 0: in none
  std::vector<std::uint32_t> position_;
  std::uint32_t segments_ = 0;
  std::array<Ready, kOrder.size()> ready_;
};

// Client memory written since the last complete wait.
class Writes {
 public:
  void add(const ScheduleStep& step) {
    if (step.place == ItemPlace::kOnHost) anything_ = true;
    if (step.place == ItemPlace::kFromDevice) ranges_.push_back(range(*step.work, true));
    if (step.place == ItemPlace::kBatch) add(std::get<graph::BatchWork>(*step.work));
  }
  bool concern(const ScheduleStep& step) const {
    if (step.place != ItemPlace::kToDevice) return false;
    if (anything_) return true;
    const Range read = range(*step.work, false);
    return std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& written) {
      return written.first < read.end && read.first < written.end;
    });
  }
  void clear() {
    anything_ = false;
    ranges_.clear();
  }

 private:
  struct Range {
    std::uintptr_t first = 0;
    std::uintptr_t end = 0;
  };
  void add(const graph::BatchWork& batch) {
    for (const hipStreamBatchMemOpParams& operation : batch.operations) {
      const auto first = reinterpret_cast<std::uintptr_t>(value_address(operation));
      if (!is_wait(operation)) ranges_.push_back({first, first + value_bytes(operation)});
    }
  }
  static Range range(const graph::Work& work, bool target) {
    const auto& copy = std::get<graph::CopyWork>(work);
    const graph::BoxSide& side = target ? copy.target : copy.source;
    return {side.address, side.address + extent(copy, side)};
  }

  bool anything_ = false;  // a host function may write anywhere
  std::vector<Range> ranges_;
};

// Payload is read when a launch is posted, not when its turn comes on the device.
void mark_waits(Schedule& schedule) {
  Writes writes;
  for (ScheduleStep& step : schedule) {
    step.wait_first = writes.concern(step);
    if (step.wait_first) writes.clear();
    writes.add(step);
  }
  // What is left at the end concerns the next launch, until something there waits.
  for (ScheduleStep& step : schedule) {
    if (step.wait_first) return;
    step.wait_for_previous = writes.concern(step);
    if (step.wait_for_previous) return;
  }
}

}  // namespace

Schedule make_schedule(const graph::Plan& plan, const PlaceOf& place_of) {
  Schedule schedule = Scheduler(plan, place_of).run();
  mark_waits(schedule);
  return schedule;
}

}  // namespace tf::proxy
