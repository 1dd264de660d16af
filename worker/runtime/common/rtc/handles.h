// SPDX-License-Identifier: Apache-2.0
// The programs or link states that exist: a handle of a program of the user's may be any number. One thread
// at a time uses an object; any thread may come with a wrong handle.
#pragma once

#include <memory>
#include <set>

#include "transport/base/mutex.h"

namespace tf::runtime::rtc {

template <typename Object>
class Handles {
 public:
  // The object is the caller's until take().
  Object* add(std::unique_ptr<Object> object) {
    const MutexLock lock(mutex_);
    objects_.insert(object.get());
    return object.release();
  }
  // Null: there is no such object.
  Object* find(void* handle) const {
    const MutexLock lock(mutex_);
    const auto found = objects_.find(static_cast<Object*>(handle));
    return found == objects_.end() ? nullptr : *found;
  }
  std::unique_ptr<Object> take(void* handle) {
    const MutexLock lock(mutex_);
    const auto found = objects_.find(static_cast<Object*>(handle));
    if (found == objects_.end()) return nullptr;
    std::unique_ptr<Object> owned(*found);
    objects_.erase(found);
    return owned;
  }

 private:
  mutable Mutex mutex_;
  std::set<Object*> objects_ TF_GUARDED_BY(mutex_);
};

// Never destroyed: programs call hiprtc from static destructors.
template <typename Object>
Handles<Object>& handles() {
  static auto& all = *new Handles<Object>;
  return all;
}

}  // namespace tf::runtime::rtc
