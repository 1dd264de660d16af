// SPDX-License-Identifier: Apache-2.0
// Asks the supervisor for memory of other sessions.
#include "worker/memory/memory_broker.h"

#include <chrono>
#include <utility>

#include "transport/base/mutex.h"

namespace tf::worker {
namespace {

constexpr std::chrono::milliseconds kSendTime{500};  // the supervisor never blocks, so its end is soon empty

}  // namespace

Status MemoryBroker::ask(ChannelMessage message) {
  {
    const MutexLock lock(mutex_);
    message.number = ++number_;
    answer_.reset();
  }
  return send_message(channel_, message, Deadline::after(kSendTime));
}

Status MemoryBroker::offer(const net::Token& name, const SharedPiece& piece, net::OwnedFd memory) {
  ChannelMessage message;
  message.kind = Envelope::kOffer;
  message.attach.token = name;
  message.piece = piece;
  message.connection = std::move(memory);
  return ask(std::move(message));
}

Status MemoryBroker::want(const net::Token& name) {
  ChannelMessage message;
  message.kind = Envelope::kWant;
  message.attach.token = name;
  return ask(std::move(message));
}

Status MemoryBroker::withdraw(const net::Token& name) {
  ChannelMessage message;
  message.kind = Envelope::kWithdraw;
  message.attach.token = name;
  return ask(std::move(message));
}

Status MemoryBroker::find_session(std::uint32_t index) {
  ChannelMessage message;
  message.kind = Envelope::kFindSession;
  message.row.index = index;
  return ask(std::move(message));
}

bool MemoryBroker::answered() {
  const MutexLock lock(mutex_);
  return answer_.has_value();
}

ChannelMessage MemoryBroker::take() {
  const MutexLock lock(mutex_);
  ChannelMessage message = std::move(*answer_);
  answer_.reset();
  return message;
}

void MemoryBroker::deliver(ChannelMessage message) {
  const MutexLock lock(mutex_);
  if (message.number == number_ && !answer_) answer_ = std::move(message);
}

}  // namespace tf::worker
