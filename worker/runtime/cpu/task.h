// SPDX-License-Identifier: Apache-2.0
// Task: one command of a stream, a move-only callable without an allocation for ordinary captures.
//
// Made by an API call, run exactly once by the stream's executor. Not shared between threads at a time.
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
  static constexpr std::size_t kInlineBytes = 120;

  Task() = default;
  template <typename Body, typename = std::enable_if_t<!std::is_same_v<std::decay_t<Body>, Task>>>
  Task(Body&& body) {  // NOLINT: implicit, so that a lambda is a Task
    using Held = std::decay_t<Body>;
    if constexpr (fits<Held>()) {
      ::new (storage_) Held(std::forward<Body>(body));
      operations_ = &inline_operations<Held>;
    } else {
      using Owner = std::unique_ptr<Held>;
      ::new (storage_) Owner(std::make_unique<Held>(std::forward<Body>(body)));
      operations_ = &boxed_operations<Held>;
    }
  }
  Task(Task&& other) noexcept { take(other); }
  Task& operator=(Task&& other) noexcept {
    if (this == &other) return *this;
    reset();
    take(other);
    return *this;
  }
  ~Task() { reset(); }

  hipError_t operator()() { return operations_->run(storage_); }

  void reset() {
    if (operations_) operations_->destroy(storage_);
    operations_ = nullptr;
  }

 private:
  struct Operations {
    hipError_t (*run)(void*);
    void (*move)(void* from, void* to) noexcept;
    void (*destroy)(void*) noexcept;
  };

  template <typename Held>
  static constexpr bool fits() {
    return sizeof(Held) <= kInlineBytes && alignof(Held) <= alignof(std::max_align_t) &&
           std::is_nothrow_move_constructible_v<Held>;
  }
  template <typename Held>
  static void move_object(void* from, void* to) noexcept {
    Held* source = static_cast<Held*>(from);
    ::new (to) Held(std::move(*source));
    source->~Held();
  }
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
  static constexpr Operations inline_operations{&run_inline<Held>, &move_object<Held>, &destroy_object<Held>};
  template <typename Held>
  static constexpr Operations boxed_operations{&run_boxed<Held>, &move_object<std::unique_ptr<Held>>,
                                               &destroy_object<std::unique_ptr<Held>>};

  void take(Task& other) noexcept {
    operations_ = other.operations_;
    if (operations_) operations_->move(other.storage_, storage_);
    other.operations_ = nullptr;
  }

  const Operations* operations_ = nullptr;
  alignas(std::max_align_t) std::byte storage_[kInlineBytes];
};

}  // namespace tf::cpu
