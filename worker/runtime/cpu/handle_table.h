// SPDX-License-Identifier: Apache-2.0
// HandleTable: which opaque HIP handles are alive, so that a stale or invented one is an error and not a
// crash.
//
// The handle is the object's address. Thread-safe; the returned shared_ptr keeps the object through a racing
// destroy.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tf::cpu {

template <typename Object, typename Handle>
class HandleTable {
 public:
  static constexpr std::size_t kMaxHandles = 1 << 20;

  // Null when the table is full.
  Handle add(std::shared_ptr<Object> object) {
    const std::lock_guard lock(mutex_);
    if (objects_.size() >= kMaxHandles) return nullptr;
    void* const key = object.get();
    objects_.emplace(key, std::move(object));
    return reinterpret_cast<Handle>(key);
  }
  std::shared_ptr<Object> find(Handle handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<void*>(handle));
    return found == objects_.end() ? nullptr : found->second;
  }
  std::shared_ptr<Object> remove(Handle handle) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<void*>(handle));
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<Object> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }
  std::vector<std::shared_ptr<Object>> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Object>> objects;
    objects.reserve(objects_.size());
    for (const auto& entry : objects_) objects.push_back(entry.second);
    return objects;
  }

 private:
  mutable std::mutex mutex_;  // held for a look-up only, which a shared lock would make dearer, not shorter
  std::unordered_map<void*, std::shared_ptr<Object>> objects_;
};

}  // namespace tf::cpu
