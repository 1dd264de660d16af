// SPDX-License-Identifier: Apache-2.0
// HandleTable: the opaque HIP handles that are alive, so that a stale or invalid handle is an error and not a
// crash.
//
// The handle is the object's address. Thread-safe; the returned shared_ptr keeps the object alive through a
// racing destroy. Every call looks up handles, so they are spread over many buckets: threads with their own
// objects do not collide, and a bucket rarely holds more than one.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "transport/base/mutex.h"

namespace tf::cpu {

template <typename Object, typename Handle>
class HandleTable {
 public:
  static constexpr std::size_t kMaxHandles = 1 << 20;

  // Null if the table is full.
  Handle add(std::shared_ptr<Object> object) {
    // relaxed: a count, orders nothing
    if (count_.fetch_add(1, std::memory_order_relaxed) >= kMaxHandles) {
      count_.fetch_sub(1, std::memory_order_relaxed);
      return nullptr;
    }
    void* const key = object.get();
    Bucket& bucket = bucket_of(key);
    const MutexLock lock(bucket.mutex);
    bucket.objects.push_back(std::move(object));
    return reinterpret_cast<Handle>(key);
  }
  std::shared_ptr<Object> find(Handle handle) const {
    const Bucket& bucket = bucket_of(handle);
    const MutexLock lock(bucket.mutex);
    for (const std::shared_ptr<Object>& object : bucket.objects)
      if (is(object, handle)) return object;
    return nullptr;
  }
  std::shared_ptr<Object> remove(Handle handle) {
    Bucket& bucket = bucket_of(handle);
    const MutexLock lock(bucket.mutex);
    const auto found = std::find_if(bucket.objects.begin(), bucket.objects.end(),
                                    [handle](const auto& object) { return is(object, handle); });
    if (found == bucket.objects.end()) return nullptr;
    std::shared_ptr<Object> object = std::move(*found);
    *found = std::move(bucket.objects.back());
    bucket.objects.pop_back();
    count_.fetch_sub(1, std::memory_order_relaxed);
    removals_.fetch_add(1, std::memory_order_release);  // pairs with removals()
    return object;
  }
  // The number of removals. An object found at some count is still alive while the count stays the same.
  std::uint64_t removals() const { return removals_.load(std::memory_order_acquire); }  // pairs with remove()
  std::vector<std::shared_ptr<Object>> all() const {
    std::vector<std::shared_ptr<Object>> objects;
    for (const Bucket& bucket : buckets_) {
      const MutexLock lock(bucket.mutex);
      objects.insert(objects.end(), bucket.objects.begin(), bucket.objects.end());
    }
    return objects;
  }

 private:
  struct Bucket {
    mutable Mutex mutex;  // held only for a lookup
    std::vector<std::shared_ptr<Object>> objects TF_GUARDED_BY(mutex);
  };
  static constexpr unsigned kBucketBits = 9;

  static bool is(const std::shared_ptr<Object>& object, Handle handle) {
    return static_cast<const void*>(object.get()) == reinterpret_cast<const void*>(handle);
  }
  // Fibonacci hashing: every bit of the address affects the upper bits of the product.
  static std::size_t index_of(const void* key) {
    constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
    return (reinterpret_cast<std::uintptr_t>(key) * kGoldenRatio) >> (64 - kBucketBits);
  }
  Bucket& bucket_of(const void* key) { return buckets_[index_of(key)]; }
  const Bucket& bucket_of(const void* key) const { return buckets_[index_of(key)]; }

  std::array<Bucket, std::size_t{1} << kBucketBits> buckets_;
  std::atomic<std::size_t> count_{0};
  std::atomic<std::uint64_t> removals_{0};
};

// An object looked up for one call: kept alive by this, or by the thread's RecentHandles.
template <typename Object>
class Found {
 public:
  Found() = default;
  explicit Found(Object* kept) : object_(kept) {}
  explicit Found(std::shared_ptr<Object> own) : object_(own.get()), own_(std::move(own)) {}
  explicit operator bool() const { return object_ != nullptr; }
  Object& operator*() const { return *object_; }
  Object* operator->() const { return object_; }

 private:
  Object* object_ = nullptr;
  std::shared_ptr<Object> own_;
};

// The handles that one thread used last: finding one again takes no lock and counts no reference. Keeps the
// objects alive until it notices another removal, so a destroyed object may stay in memory, unused, while its
// thread makes no calls.
template <typename Object, typename Handle>
class RecentHandles {
 public:
  // Valid until the next find() here. Null: no such handle.
  Object* find(const HandleTable<Object, Handle>& table, Handle handle) {
    const std::uint64_t removals = table.removals();
    if (removals != removals_) [[unlikely]] {
      for (std::shared_ptr<Object>& object : objects_) object.reset();
      removals_ = removals;
    }
    std::shared_ptr<Object>& place = objects_[index_of(handle)];
    if (place.get() != reinterpret_cast<Object*>(handle) || !place) [[unlikely]]
      place = table.find(handle);
    return place.get();
  }

 private:
  static constexpr std::size_t kKept = 16;
  static std::size_t index_of(Handle handle) {
    const auto address = reinterpret_cast<std::uintptr_t>(handle);
    return (address >> 4 ^ address >> 9 ^ address >> 14) % kKept;
  }

  std::uint64_t removals_ = 0;
  std::array<std::shared_ptr<Object>, kKept> objects_;
};

}  // namespace tf::cpu
