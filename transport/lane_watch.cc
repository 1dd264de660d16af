// SPDX-License-Identifier: Apache-2.0
// Compares what the peer has sent with what has arrived.
#include "transport/lane_watch.h"

#include <algorithm>
#include <string>

namespace tf {
namespace {

constexpr int kTurnsOfPatience = 4;
constexpr std::chrono::milliseconds kIntervalMin{250};
// A process or host that was suspended finds that much time has passed: the network gets some of its own.
constexpr int kLooksMin = 3;

std::chrono::milliseconds patience_with(std::chrono::milliseconds whole, bool spare) {
  return spare ? std::min(whole, kSparePatience) : whole;
}

std::chrono::milliseconds interval_for(const LaneTraffics& traffics) {
  bool has_spare = false;
  for (std::size_t index = 0; index < traffics.count; ++index) has_spare |= traffics.lanes[index].spare;
  return std::max(patience_with(traffics.patience, has_spare) / kTurnsOfPatience, kIntervalMin);
}

}  // namespace

LaneWatch::LaneWatch(Endpoint& endpoint, const LaneTraffics& now)
    : endpoint_(endpoint),
      count_(now.count),
      patience_(now.patience),
      interval_(interval_for(now)),
      due_(Clock::now() + interval_) {}

int LaneWatch::sleep_ms(Clock::time_point now) const {
  if (count_ == 0) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(due_ - now).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, interval_.count()));
}

Result<std::optional<LaneReport>> LaneWatch::turn(Clock::time_point now) {
  std::optional<LaneReport> news;
  if (count_ == 0 || now < due_) return news;
  due_ = now + interval_;
  const LaneTraffics traffics = endpoint_.lane_traffic();
  if (traffics.count != count_) return news;  // a lane has ended, which its endpoint tells
  LaneReport report;
  report.count = count_;
  bool is_new = false;
  for (std::size_t index = 0; index < count_; ++index) {
    Lane& lane = lanes_[index];
    const LaneTraffic& traffic = traffics.lanes[index];
    const Status judged = judge(lane, traffic, now);
    if (!judged.is_ok() && !traffic.spare) return judged;
    if (!judged.is_ok()) endpoint_.drop_lane(index, judged);
    const std::uint64_t sent = traffic.lost ? lane.told : traffic.sent;
    is_new |= sent != lane.told;
    lane.told = report.sent[index] = sent;
  }
  if (is_new) news = report;
  return news;
}

Status LaneWatch::judge(Lane& lane, const LaneTraffic& traffic, Clock::time_point now) const {
  const auto patience = patience_with(patience_, traffic.spare);
  if (traffic.lost || traffic.received >= lane.promised || traffic.received != lane.arrived ||
      traffic.unread) {
    lane.arrived = traffic.received;
    lane.since = now;
    lane.looks = 0;
    return Status::ok();
  }
  if (++lane.looks < kLooksMin || now - lane.since < patience) return Status::ok();
  return {Code::kPeerLost, std::to_string(lane.promised - traffic.received) +
                               " bytes that were sent on the " + std::string(traffic.name) +
                               " lane have not arrived for " + std::to_string(patience.count() / 1000) +
                               " s"};
}

Status LaneWatch::hear(const LaneReport& report) {
  // This side's kernel counts nothing (lane_traffic.h), and the peer's does.
  if (count_ == 0) return Status::ok();
  if (report.count != count_) return {Code::kProtocol, "a report about other lanes"};
  for (std::size_t index = 0; index < count_; ++index) {
    if (report.sent[index] < lanes_[index].promised)
      return {Code::kProtocol, "a report of fewer bytes than before"};
    lanes_[index].promised = report.sent[index];
  }
  return Status::ok();
}

}  // namespace tf
