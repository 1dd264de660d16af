// SPDX-License-Identifier: Apache-2.0
// Task: one command of a stream. A callable that needs no allocation for ordinary captures.
//
// Built in a slot of a TaskQueue, run exactly once by the stream's executor, and destroyed there. One thread
// at a time.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace tf::cpu {

class Task {
 public:
  // A launch with a few arguments fits, and a task is two cache lines.
  static constexpr std::size_t kInlineBytes = 112;

  Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() { reset(); }

  // REQUIRES: it is empty. If this throws, it stays empty.
  template <typename Body>
  void emplace(Body&& body) {
    using Held = std::decay_t<Body>;
    if constexpr (sizeof(Held) <= kInlineBytes && alignof(Held) <= alignof(std::max_align_t)) {
      ::new (storage_) Held(std::forward<Body>(body));
      operations_ = &inline_operations<Held>;
    } else {
      using Owner = std::unique_ptr<Held>;
      ::new (storage_) Owner(std::make_unique<Held>(std::forward<Body>(body)));
      operations_ = &boxed_operations<Held>;
    }
  }

  hipError_t operator()() { return operations_->run(storage_); }

  void reset() {
    if (operations_ && operations_->destroy) operations_->destroy(storage_);
    operations_ = nullptr;
  }

 private:
  struct Operations {
    hipError_t (*run)(void*);
    void (*destroy)(void*) noexcept;  // null: nothing to do
  };

  template <typename Held>
  static void destroy_object(void* object) noexcept {
    static_cast<Held*>(object)->~Held();
  }
  template <typename Held>
  static hipError_t run_inline(void* object) {
    return (*static_cast<Held*>(object))();
  }
  template <typename Held>
  static hipError_t run_boxed(void* object) {
    return (**static_cast<std::unique_ptr<Held>*>(object))();
  }
  template <typename Held>
  static constexpr Operations inline_operations{
      &run_inline<Held>, std::is_trivially_destructible_v<Held> ? nullptr : &destroy_object<Held>};
  template <typename Held>
  static constexpr Operations boxed_operations{&run_boxed<Held>, &destroy_object<std::unique_ptr<Held>>};

  const Operations* operations_ = nullptr;
  alignas(std::max_align_t) std::byte storage_[kInlineBytes];
};
static_assert(sizeof(Task) == 128);

}  // namespace tf::cpu
