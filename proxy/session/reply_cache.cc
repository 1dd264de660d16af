// SPDX-License-Identifier: Apache-2.0
// Stores the answers to CACHED calls.
#include "proxy/session/reply_cache.h"

#include <array>
#include <cstring>
#include <utility>

#include "transport/base/mutex.h"

namespace tf::proxy {
namespace {

// A key on the stack. Empty: the request is too long to be kept.
class Key {
 public:
  Key(protocol::Op op, int device, std::span<const std::byte> request) {
    if (request.size() > kCachedRequestBytesMax) return;
    append(&op, sizeof op);
    append(&device, sizeof device);
    append(request.data(), request.size());
  }
  std::string_view view() const { return {bytes_.data(), size_}; }

 private:
  void append(const void* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(bytes_.data() + size_, from, bytes);
    size_ += bytes;
  }

  std::array<char, sizeof(protocol::Op) + sizeof(int) + kCachedRequestBytesMax> bytes_;
  std::size_t size_ = 0;
};

}  // namespace

bool ReplyCache::find(protocol::Op op, int device, std::span<const std::byte> request,
                      std::span<std::byte> reply) const {
  const Key key(op, device, request);
  const SharedLock lock(mutex_);
  const auto found = replies_.find(key.view());
  if (found == replies_.end() || found->second.size() != reply.size()) return false;
  if (!reply.empty()) std::memcpy(reply.data(), found->second.data(), reply.size());
  return true;
}

void ReplyCache::keep(protocol::Op op, int device, std::span<const std::byte> request,
                      std::span<const std::byte> reply) {
  const Key key(op, device, request);
  if (key.view().empty() || capacity_ == 0) return;
  std::string answer(reinterpret_cast<const char*>(reply.data()), reply.size());
  const MutexLock lock(mutex_);
  if (const auto found = replies_.find(key.view()); found != replies_.end()) {
    found->second = std::move(answer);
    return;
  }
  while (replies_.size() >= capacity_) {
    replies_.erase(order_.front());
    order_.pop_front();
  }
  order_.emplace_back(key.view());
  replies_.emplace(order_.back(), std::move(answer));
}

std::size_t ReplyCache::size() const {
  const SharedLock lock(mutex_);
  return replies_.size();
}

}  // namespace tf::proxy
