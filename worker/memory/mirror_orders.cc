// SPDX-License-Identifier: Apache-2.0
// Writes and finds what is mirrored while the executor may wait.
#include "worker/memory/mirror_orders.h"

#include <chrono>
#include <span>
#include <string>
#include <system_error>
#include <utility>

namespace tf::worker {
namespace {

using mirror::Order;
using mirror::OrderParts;
using mirror::OrderReply;

// How long the thread sleeps before it looks again whether the transport has taken what it sends.
constexpr std::chrono::microseconds kSendPause(50);

Status refused() { return {Code::kProtocol, "an order for mirrored memory that is not mirrored"}; }

}  // namespace

MirrorOrders::~MirrorOrders() { stop(); }

void MirrorOrders::stop() {
  std::thread thread;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
    thread.swap(thread_);
  }
  if (thread.joinable()) thread.join();
}

Status MirrorOrders::order(std::vector<std::byte> message) {
  const MutexLock lock(mutex_);
  if (!message_.empty()) return {Code::kProtocol, "two orders for mirrored memory at once"};
  if (message.empty()) return refused();
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& error) {
      return {Code::kResourceExhausted, std::string("no thread for mirrored memory: ") + error.what()};
    }
  }
  message_ = std::move(message);
  changed_.notify_all();
  return Status::ok();
}

void MirrorOrders::wrote() {
  const MutexLock lock(mutex_);
  ++written_;
  changed_.notify_all();
}

void MirrorOrders::run() {
  const MutexLock lock(mutex_);
  for (;;) {
    changed_.wait(mutex_, [this]() TF_REQUIRES(mutex_) { return stopping_ || !message_.empty(); });
    // The client may send the next one as soon as it hears of this one.
    const std::vector<std::byte> message = std::exchange(message_, {});
    OrderParts parts;
    const bool is_order = mirror::read_order(message, parts);
    changed_.wait(mutex_, [&]() TF_REQUIRES(mutex_) {
      return stopping_ || !is_order || written_ >= parts.order.after;
    });
    if (stopping_) return;
    const MutexUnlock meanwhile(mutex_);
    Status done = is_order ? carry_out(parts) : refused();
    if (!done.is_ok()) return life_.end(std::move(done));
  }
}

Status MirrorOrders::carry_out(const OrderParts& parts) {
  HostMirror::Found found;
  mirror_.hold();
  Status done = Status::ok();
  // Devices may be at work: what they write meanwhile is found again.
  if (parts.order.what == Order::What::kFind)
    done = mirror_.find(parts.pieces, false, found);
  else if (!mirror_.put(parts.pieces, parts.bytes))
    done = refused();
  if (done.is_ok()) done = answer(parts.order.tag, found);
  mirror_.let_go();
  return done;
}

Status MirrorOrders::answer(std::uint64_t tag, HostMirror::Found& found) {
  const OrderReply reply{found.pieces.size(), mirror::total(found.pieces)};
  const auto head = std::as_bytes(std::span(&reply, 1));
  found.head.assign(head.begin(), head.end());
  while (found.left()) {
    while (!mirror_.has_room()) {
      if (life_.ending()) return Status::ok();
      mover_.drive();
      std::this_thread::sleep_for(kSendPause);
    }
    TF_RETURN_IF_ERROR(mirror_.send_some(bulk_, tag, found));
    mover_.drive();
  }
  return Status::ok();
}

}  // namespace tf::worker
