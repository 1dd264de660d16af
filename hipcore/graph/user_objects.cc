// SPDX-License-Identifier: Apache-2.0
// User objects, and the references that the program and its graphs have to them.
#include <algorithm>
#include <climits>
#include <utility>

#include "hipcore/graph/library.h"
#include "transport/base/mutex.h"

namespace tf::graph {
namespace {

bool is_count(unsigned count) { return count != 0 && count <= INT_MAX; }

// Takes up to `count` references; what is dropped is destroyed with `remains`.
void take(References& from, std::uint64_t count, std::vector<std::shared_ptr<void>>& remains) {
  from.count -= std::min(from.count, count);
  if (from.count == 0) remains.emplace_back(std::move(from.object));
}

}  // namespace

bool Library::find_object(hipUserObject_t object, KnownObject*& known, std::shared_ptr<UserObject>& alive) {
  const std::uint64_t id = to_id(object);
  const auto found = objects_.find(id);
  known = found != objects_.end() ? &found->second : nullptr;
  alive = known != nullptr ? known->object.lock() : nullptr;
  return id >= make_id(HandleTag::kObject, 1) && id < make_id(HandleTag::kObject, next_);
}

hipError_t Library::create_object(hipUserObject_t* object, void* data, hipHostFn_t destructor, unsigned count,
                                  unsigned flags) {
  if (object == nullptr || destructor == nullptr || !is_count(count) ||
      flags != hipUserObjectNoDestructorSync)
    return hipErrorInvalidValue;
  const MutexLock lock(mutex_);
  if (objects_.size() >= 2 * objects_swept_ + 1024 || objects_.size() >= kUserObjectsMax) {
    std::erase_if(objects_, [](const auto& entry) { return entry.second.object.expired(); });
    objects_swept_ = objects_.size();
  }
  if (objects_.size() >= kUserObjectsMax) return hipErrorOutOfMemory;
  const std::uint64_t id = make_id(HandleTag::kObject, next_++);
  KnownObject& known = objects_[id];
  known.program = {std::make_shared<UserObject>(destructor, data), count};
  known.object = known.program.object;
  *object = to_handle<hipUserObject_t>(id);
  return hipSuccess;
}

hipError_t Library::retain_object(hipUserObject_t object, unsigned count) {
  if (!is_count(count)) return hipErrorInvalidValue;
  std::shared_ptr<UserObject> alive;
  const MutexLock lock(mutex_);
  KnownObject* known = nullptr;
  if (!find_object(object, known, alive)) return hipErrorInvalidValue;
  if (alive == nullptr) return hipSuccess;
  known->program.object = alive;
  known->program.count += count;
  return hipSuccess;
}

hipError_t Library::release_object(hipUserObject_t object, unsigned count) {
  if (!is_count(count)) return hipErrorInvalidValue;
  Remains remains;
  std::shared_ptr<UserObject> alive;
  const MutexLock lock(mutex_);
  KnownObject* known = nullptr;
  if (!find_object(object, known, alive)) return hipErrorInvalidValue;
  if (alive != nullptr) take(known->program, count, remains);
  return hipSuccess;
}

hipError_t Library::retain_object(hipGraph_t graph, hipUserObject_t object, unsigned count, unsigned flags) {
  if (!is_count(count) || (flags != 0 && flags != hipGraphUserObjectMove)) return hipErrorInvalidValue;
  Remains remains;
  std::shared_ptr<UserObject> alive;
  const MutexLock lock(mutex_);
  KnownObject* known = nullptr;
  Graph* found = find(graph);
  if (found == nullptr || !find_object(object, known, alive)) return hipErrorInvalidValue;
  if (alive == nullptr) return hipSuccess;
  References& held = found->objects[to_id(object)];
  held.object = alive;
  held.count += count;
  if (flags == hipGraphUserObjectMove) take(known->program, count, remains);
  return hipSuccess;
}

hipError_t Library::release_object(hipGraph_t graph, hipUserObject_t object, unsigned count) {
  if (!is_count(count)) return hipErrorInvalidValue;
  Remains remains;
  std::shared_ptr<UserObject> alive;
  const MutexLock lock(mutex_);
  KnownObject* known = nullptr;
  Graph* found = find(graph);
  if (found == nullptr || !find_object(object, known, alive)) return hipErrorInvalidValue;
  const auto held = found->objects.find(to_id(object));
  if (held == found->objects.end()) return hipSuccess;
  take(held->second, count, remains);
  if (held->second.count == 0) found->objects.erase(held);
  return hipSuccess;
}

}  // namespace tf::graph
