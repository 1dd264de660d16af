// SPDX-License-Identifier: Apache-2.0
// Takes, keeps and leaves seats; see turns.h for who may when.
#include "worker/runtime/cpu/kernel/turns.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace tf::cpu {
namespace {

using runtime::kSeatsMax;
using runtime::kTurnSlots;
using runtime::kTurnWeightMax;
using runtime::SlotSet;
using runtime::TurnPage;

// A seat's word: who has it, as slot + 1, and in the upper bits since when, in microseconds of the clock.
constexpr std::uint64_t kWhoBits = 16;
static_assert(kTurnSlots < (1u << kWhoBits));
// No session has used so much, about 146 years; sums of such numbers do not overflow.
constexpr std::uint64_t kUsedMost = std::uint64_t{1} << 62;
constexpr std::chrono::microseconds kLookAgainAfter{200};  // at least

constexpr std::uint64_t ns(std::chrono::nanoseconds time) { return static_cast<std::uint64_t>(time.count()); }

// Tells the page whether there are any, while other threads do the same.
void show_whether_any(const std::atomic<std::uint32_t>& threads, SlotSet& set, std::uint32_t slot) {
  bool shown = false;
  do {
    shown = threads.load() != 0;
    shown ? set.insert(slot) : set.erase(slot);
  } while ((threads.load() != 0) != shown);
}

// Other processes wait there, too: no FUTEX_PRIVATE_FLAG.
void wait_for_bell(std::atomic<std::uint32_t>& bell, std::uint32_t seen, std::uint64_t most_ns) {
  const timespec most{static_cast<time_t>(most_ns / 1'000'000'000),
                      static_cast<long>(most_ns % 1'000'000'000)};
  ::syscall(SYS_futex, &bell, FUTEX_WAIT, seen, &most, nullptr, 0);
}

void ring(std::atomic<std::uint32_t>& bell) {
  bell.fetch_add(1);
  ::syscall(SYS_futex, &bell, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

std::uint64_t used_by(const TurnPage::Slot& slot) {
  return std::min(slot.used_ns.load(std::memory_order_relaxed), kUsedMost);
}

std::uint64_t weighed(std::uint64_t time_ns, std::uint32_t weight) {
  return time_ns * kTurnWeightMax / std::clamp(weight, 1u, kTurnWeightMax);
}

}  // namespace

std::atomic<Turns*> Turns::of_process_{nullptr};

// What a thread finds when it looks for a seat.
struct Turns::Look {
  std::optional<Place> place;  // that it may take
  bool guest = false;          // else: whether it may run without one
  std::uint64_t wait_ns = 0;   // else: when to look again, if nobody rings
};

Turns::Turns(TurnPage& page, std::uint32_t slot, std::uint32_t weight)
    : page_(page), slot_(slot), weight_(std::clamp(weight, 1u, kTurnWeightMax)) {
  own().weight.store(weight_, std::memory_order_relaxed);
}

std::uint64_t Turns::now() const { return ns(Clock::now().time_since_epoch()); }

std::uint64_t Turns::word(std::uint64_t now_ns) const { return now_ns / 1000 << kWhoBits | (slot_ + 1); }

std::uint32_t Turns::seats() const {
  return std::clamp(page_.seats.load(std::memory_order_relaxed), 1u, kSeatsMax);
}

// Until it has rested for kLinger, the page shows the most threads that it had or wanted: between two grids
// and at the end of one there are fewer for a moment, and whoever spun then would keep them from coming.
void Turns::come() {
  const std::uint32_t threads = threads_.fetch_add(1) + 1;
  const bool rested = threads == 1 && now() - gone_ns_.load(std::memory_order_relaxed) >= ns(kLinger);
  if (rested)
    own().threads.store(1, std::memory_order_relaxed);
  else
    want(threads);
  if (threads != 1) return;
  show_whether_any(threads_, page_.running, slot_);
  catch_up();
}

void Turns::want(std::uint32_t threads) {
  std::atomic<std::uint32_t>& shown = own().threads;  // a race leaves a hint that is a little off
  if (shown.load(std::memory_order_relaxed) < threads) shown.store(threads, std::memory_order_relaxed);
}

void Turns::go() {
  if (threads_.fetch_sub(1) != 1) return;
  gone_ns_.store(now(), std::memory_order_relaxed);
  show_whether_any(threads_, page_.running, slot_);
}

// Whoever was away is neither far ahead nor far behind those that run.
void Turns::catch_up() {
  std::uint64_t least = kUsedMost;
  page_.running.for_each([&](std::uint32_t slot) {
    if (slot != slot_) least = std::min(least, used_by(page_.slots[slot]));
  });
  if (least == kUsedMost) return;
  const std::uint64_t ahead = least - std::min(least, ns(kCredit));
  const std::uint64_t used = std::clamp(used_ns_.load(), ahead, least + ns(kCredit));
  used_ns_.store(used);
  own().used_ns.store(used, std::memory_order_relaxed);
}

void Turns::use(std::uint64_t time_ns) {
  const std::uint64_t more = weighed(time_ns, weight_);
  own().used_ns.store(used_ns_.fetch_add(more) + more, std::memory_order_relaxed);
}

Turns::Look Turns::look(std::uint64_t now_ns) const {
  Look found{.place = std::nullopt, .guest = false, .wait_ns = ns(kLease)};
  const std::uint64_t much = used_ns_.load(std::memory_order_relaxed) + ns(kHeadStart);
  const bool others_first = gives_way();
  const std::uint32_t count = seats();
  for (std::uint32_t index = 0; index < count; ++index) {
    const std::uint64_t there = page_.seat[index].load();
    if (there == 0 && others_first) {  // they have been rung for
      found.wait_ns = 0;
      continue;
    }
    const auto who = static_cast<std::uint32_t>(there & ((1u << kWhoBits) - 1)) - 1;
    const std::uint64_t since_ns = (there >> kWhoBits) * 1000;
    const std::uint64_t age_ns = now_ns > since_ns ? now_ns - since_ns : 0;
    if (there == 0 || who >= kTurnSlots || age_ns > ns(kLease))
      return {.place = Place{index, there}, .guest = false, .wait_ns = 0};
    found.wait_ns = std::min(found.wait_ns, ns(kLease) - age_ns);
    found.guest = found.guest || used_by(page_.slots[who]) > much;
  }
  found.wait_ns = std::max(found.wait_ns, ns(kLookAgainAfter));
  return found;
}

// Neither: look again after `wait_ns`.
Turns::Leave Turns::take(bool as_guest, std::uint64_t& wait_ns) const {
  const std::uint64_t now_ns = now();
  Look found = look(now_ns);
  wait_ns = found.wait_ns;
  if (!found.place) return {.place = std::nullopt, .guest = as_guest && found.guest};
  const Place ours{found.place->index, word(now_ns)};
  if (page_.seat[ours.index].compare_exchange_strong(found.place->word, ours.word)) return {.place = ours};
  wait_ns = ns(kLookAgainAfter);  // another thread was faster
  return {};
}

Turns::Leave Turns::wait_for_leave(bool as_guest) {
  std::uint64_t wait_ns = 0;
  const auto granted = [](const Leave& leave) { return leave.place || leave.guest; };
  Leave leave = take(as_guest, wait_ns);
  if (!granted(leave)) {
    const std::uint64_t start = now();
    if (waiting_.fetch_add(1) == 0) show_whether_any(waiting_, page_.waiting, slot_);
    for (;;) {
      // Whoever leaves a seat after we have looked rings after this.
      const std::uint32_t bell = own().bell.load();
      leave = take(as_guest, wait_ns);
      const std::uint64_t waited = now() - start;
      if (granted(leave) || waited >= ns(kWaitMost)) break;
      wait_for_bell(own().bell, bell, std::min(wait_ns, ns(kWaitMost) - waited));
    }
    if (waiting_.fetch_sub(1) == 1) show_whether_any(waiting_, page_.waiting, slot_);
  }
  if (granted(leave))
    overtimes_.store(0, std::memory_order_relaxed);
  else
    overtimes_.fetch_add(1, std::memory_order_relaxed);
  return leave;
}

// Whether one that waits has had less by kSlice.
bool Turns::gives_way() const {
  const std::uint64_t mine = used_ns_.load(std::memory_order_relaxed);
  bool gives = false;
  page_.waiting.for_each(
      [&](std::uint32_t slot) { gives = gives || used_by(page_.slots[slot]) + ns(kSlice) < mine; });
  return gives;
}

// Puts `word` on a seat of ours. False: another one has taken the seat.
bool Turns::put(const Place& ours, std::uint64_t word) const {
  std::uint64_t there = ours.word;
  return page_.seat[ours.index].compare_exchange_strong(there, word);
}

void Turns::leave(const Place& ours) const {
  if (put(ours, 0)) ring_the_next();
}

// A seat has become free.
void Turns::ring_the_next() const {
  std::uint32_t next = kTurnSlots;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  page_.waiting.for_each([&](std::uint32_t slot) {
    const std::uint64_t used = used_by(page_.slots[slot]);
    if (used >= least) return;
    least = used;
    next = slot;
  });
  if (next != kTurnSlots) ring(page_.slots[next].bell);
}

void Seat::keep(Turns& turns) {
  if (turns_ == nullptr) {
    turns_ = &turns;
    turns.come();
  }
  if (breaks_.looks()) take_break();
  if (turns.contended())
    contend();
  else if (place_ || guest_)
    give_leave();
}

void Seat::take_break() {
  const std::uint64_t start = turns_->now();
  if (!breaks_.is_due(start)) return;
  ::sched_yield();
  const std::uint64_t end = turns_->now();
  breaks_.ended(end);
  since_ns_ += end - start;  // that was others' time
}

void Seat::contend() {
  if (place_ || guest_) {
    const std::uint64_t now = turns_->now();
    const std::uint64_t time_ns = now - std::exchange(since_ns_, now);
    turns_->use(time_ns);
    if (guest_) visit_ns_ += time_ns;
    if (place_ && keep_place(now)) return;
  }
  const Turns::Leave leave = turns_->wait_for_leave(visit_ns_ < ns(Turns::kVisit));
  place_ = leave.place;
  guest_ = leave.guest;
  since_ns_ = turns_->now();
}

// False: one that has had less waits, or another one has taken it.
bool Seat::keep_place(std::uint64_t now_ns) {
  if (turns_->gives_way()) {
    turns_->leave(*place_);
    return false;
  }
  const std::uint64_t kept = turns_->word(now_ns);
  if (!turns_->put(*place_, kept)) return false;
  place_->word = kept;
  return true;
}

// Another one may have taken the seat already.
void Seat::give_leave() {
  turns_->use(turns_->now() - since_ns_);
  if (place_) turns_->leave(*place_);
  place_.reset();
  guest_ = false;
}

void Seat::leave() {
  if (place_ || guest_) give_leave();
  turns_->go();
  turns_ = nullptr;
  visit_ns_ = 0;
  breaks_.rest();
}

}  // namespace tf::cpu
