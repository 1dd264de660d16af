// SPDX-License-Identifier: Apache-2.0
// Events around work, the references that make times of them, and what the client gets.
#include "worker/base/executions.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "worker/base/notices.h"

namespace tf::worker {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kCollectFrom = 256;  // open ones, and at every multiple of that
constexpr std::uint64_t kReferenceTriesMax = 3;
constexpr auto kReferenceTime = 5ms;  // longer than an idle device needs
// The runtime tells milliseconds as a float: exact to 60 ns within a second.
constexpr std::uint64_t kReferenceAgeMax = 1'000'000'000;
constexpr std::uint64_t kReferenceRenewal = 100'000'000;
constexpr std::uint64_t kFloatError = 60;
constexpr std::uint64_t kDriftPerSecond = 50'000;  // of a device's clock, at most: 50 ppm

std::uint64_t drift(std::uint64_t age_ns) {
  return age_ns / 1'000'000'000 * kDriftPerSecond + age_ns % 1'000'000'000 / 20'000;
}

}  // namespace

std::uint64_t Executions::now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

Executions::Reference& Executions::reference(int device) {
  const auto index = static_cast<std::size_t>(device);
  if (references_.size() <= index) references_.resize(index + 1);
  return references_[index];
}

// Null: the runtime has none left.
hipEvent_t Executions::take_event(Reference& reference) {
  hipEvent_t event = nullptr;
  if (!reference.spares.empty()) {
    event = reference.spares.back();
    reference.spares.pop_back();
  } else if (own_calls_.keep(hip_.hipEventCreateWithFlags(&event, hipEventDefault)) != hipSuccess) {
    return nullptr;
  }
  return event;
}

// The event happens on a stream of its own, between two looks at the clock. False: it took too long, so the
// device is not idle.
bool Executions::try_reference(Reference& reference, hipEvent_t event) {
  const std::uint64_t before = now_ns();
  if (own_calls_.keep(hip_.hipEventRecord(event, reference.stream), reference.stream) != hipSuccess)
    return false;
  const auto limit = std::chrono::steady_clock::now() + kReferenceTime;
  while (!own_calls_.is_done(hip_.hipEventQuery(event), reference.stream, device_.get()))
    if (std::chrono::steady_clock::now() > limit) return false;
  const std::uint64_t after = now_ns();
  const std::uint64_t error = (after - before) / 2 + 1;
  const bool is_better =
      reference.event == nullptr || error <= reference.error_ns + drift(after - reference.ns);
  if (!is_better) return false;
  if (reference.event != nullptr) reference.spares.push_back(reference.event);
  reference.event = event;
  reference.ns = before + error;
  reference.error_ns = error;
  return true;
}

// The device, which is current, has a reference that is new enough. False: it has none.
bool Executions::refer(Reference& reference) {
  if (reference.event != nullptr && (reference.open != 0 || now_ns() - reference.ns < kReferenceRenewal))
    return true;
  if (reference.stream == nullptr &&
      own_calls_.keep(hip_.hipStreamCreateWithFlags(&reference.stream, hipStreamNonBlocking)) != hipSuccess) {
    reference.stream = nullptr;
    return false;
  }
  for (std::uint64_t tries = 0; tries < kReferenceTriesMax; ++tries) {
    hipEvent_t const event = take_event(reference);
    if (event == nullptr) break;
    if (!try_reference(reference, event)) reference.spares.push_back(event);
  }
  return reference.event != nullptr;
}

bool Executions::begin(const FrameHeader& request, hipStream_t stream, int device, std::uint64_t raw_stream,
                       std::uint64_t subject) {
  if (open_.size() % kCollectFrom == 0) collect();
  Reference& of_device = reference(device);
  begun_ = {};
  if (open_.size() < kExecutionsOpenMax && refer(of_device)) {
    begun_.begin = take_event(of_device);
    begun_.end = take_event(of_device);
  }
  const bool is_noted =
      begun_.begin != nullptr && begun_.end != nullptr &&
      own_calls_.keep(hip_.hipEventRecord(begun_.begin, stream), stream, device) == hipSuccess;
  if (!is_noted) {
    for (hipEvent_t event : {begun_.begin, begun_.end})
      if (event != nullptr) of_device.spares.push_back(event);
    ++left_out_;
    return false;
  }
  begun_.stream = stream;
  begun_.execution = {
      0, 0, raw_stream, subject, request.request_id, request.opcode, static_cast<std::uint16_t>(device)};
  return true;
}

void Executions::end() {
  const int device = begun_.execution.device;
  Reference& of_device = reference(device);
  if (own_calls_.keep(hip_.hipEventRecord(begun_.end, begun_.stream), begun_.stream, device) == hipSuccess) {
    ++of_device.open;
    open_.push_back(begun_);
    return;
  }
  of_device.spares.insert(of_device.spares.end(), {begun_.begin, begun_.end});
  ++left_out_;
}

void Executions::note(const protocol::Execution& execution) {
  if (done_.size() >= kExecutionsKeptMax)
    ++left_out_;
  else
    done_.push_back(execution);
}

void Executions::name(std::uint64_t function, std::string_view name) {
  if (on_) send_function_named(sender_, function, name);
}

// Within a stream none ends before those in front of it. So the first one of a stream that has not ended
// stands for the rest.
void Executions::collect() {
  const int before = device_.get();
  std::vector<std::pair<hipStream_t, int>> busy;
  for (auto each = open_.begin(); each != open_.end();) {
    const std::pair<hipStream_t, int> where{each->stream, each->execution.device};
    const bool is_behind = std::ranges::find(busy, where) != busy.end();
    if (is_behind || !own_calls_.is_done(hip_.hipEventQuery(each->end), where.first, where.second)) {
      if (!is_behind) busy.push_back(where);
      ++each;
      continue;
    }
    finish(*each);
    each = open_.erase(each);
  }
  device_.return_to(before);
}

bool Executions::time_of(const Reference& reference, hipEvent_t event, std::uint64_t& ns) {
  float milliseconds = 0;
  if (own_calls_.keep(hip_.hipEventElapsedTime(&milliseconds, reference.event, event)) != hipSuccess)
    return false;
  ns = reference.ns +
       static_cast<std::uint64_t>(std::llround(std::max(0.0, static_cast<double>(milliseconds) * 1e6)));
  return true;
}

void Executions::finish(Open& open) {
  Reference& of_device = reference(open.execution.device);
  --of_device.open;
  const bool is_known = own_calls_.keep(device_.use(open.execution.device)) == hipSuccess &&
                        time_of(of_device, open.begin, open.execution.begin_ns) &&
                        time_of(of_device, open.end, open.execution.end_ns);
  if (!is_known) {
    ++left_out_;
  } else {
    open.execution.end_ns = std::max(open.execution.begin_ns, open.execution.end_ns);
    const std::uint64_t age = open.execution.end_ns - of_device.ns;
    error_ns_ = std::max(error_ns_, of_device.error_ns + drift(age) + kFloatError);
    note(open.execution);
    if (age > kReferenceAgeMax) {
      of_device.ns = open.execution.end_ns;
      of_device.error_ns += drift(age) + kFloatError;
      std::swap(of_device.event, open.end);
    }
  }
  of_device.spares.insert(of_device.spares.end(), {open.begin, open.end});
}

protocol::FetchExecutionsReply Executions::fetch() {
  collect();
  std::vector<protocol::Execution> sent;
  while (!done_.empty() && sent.size() < protocol::kExecutionsInNotice) {
    sent.push_back(done_.front());
    done_.pop_front();
  }
  if (!sent.empty()) send_executions(sender_, sent);
  protocol::FetchExecutionsReply reply{};
  reply.left_out = left_out_;
  reply.error_ns = error_ns_;
  reply.unfinished = static_cast<std::uint32_t>(open_.size());
  reply.more = done_.empty() ? 0 : 1;
  return reply;
}

void Executions::release() {
  for (Open& open : open_)
    reference(open.execution.device)
        .spares.insert(reference(open.execution.device).spares.end(), {open.begin, open.end});
  open_.clear();
  for (Reference& each : references_) {
    if (each.event != nullptr) each.spares.push_back(each.event);
    for (hipEvent_t event : each.spares) own_calls_.pass_on(hip_.hipEventDestroy(event));
    if (each.stream != nullptr) own_calls_.pass_on(hip_.hipStreamDestroy(each.stream));
  }
  references_.clear();
}

}  // namespace tf::worker
