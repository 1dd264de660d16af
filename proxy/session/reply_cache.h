// SPDX-License-Identifier: Apache-2.0
// ReplyCache: answers to CACHED calls, for which the worker is asked once per device and arguments.
//
// A key is opcode, device and the bytes of the request. Handles inside a request carry generations, and a
// generation is used at most once (HandleTable). So the answer about a destroyed stream or function is never
// taken for one about its successor; dead answers only wait to be evicted. Any thread; find() takes only a
// shared lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "hipcore/wire/gen/op.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

inline constexpr std::size_t kCachedRepliesMax = 4096;      // per session; the oldest is evicted first
inline constexpr std::size_t kCachedRequestBytesMax = 128;  // longer requests are not cached

class ReplyCache {
 public:
  explicit ReplyCache(std::size_t capacity = kCachedRepliesMax) : capacity_(capacity) {}
  ReplyCache(const ReplyCache&) = delete;
  ReplyCache& operator=(const ReplyCache&) = delete;

  // The device in keys whose answer does not depend on the calling thread's device.
  static constexpr int kEveryDevice = -1;

  // True: `reply` is filled. False: unknown, or stored with another length.
  bool find(protocol::Op op, int device, std::span<const std::byte> request,
            std::span<std::byte> reply) const;
  void keep(protocol::Op op, int device, std::span<const std::byte> request,
            std::span<const std::byte> reply);
  std::size_t size() const;

 private:
  struct Hash {
    using is_transparent = void;  // a lookup builds no string
    std::size_t operator()(std::string_view key) const { return std::hash<std::string_view>{}(key); }
  };

  const std::size_t capacity_;
  mutable SharedMutex mutex_;
  std::unordered_map<std::string, std::string, Hash, std::equal_to<>> replies_ TF_GUARDED_BY(mutex_);
  std::deque<std::string> order_ TF_GUARDED_BY(mutex_);  // keys, oldest first
};

}  // namespace tf::proxy
