// SPDX-License-Identifier: Apache-2.0
// TaskQueue: a stream's tasks on the way to its thread, in chunks that are reused.
//
// One thread at a time pushes and publishes (under the stream's lock), one thread takes. Neither waits for
// the other: published tasks are taken without a lock, and a task is built, run and destroyed in its slot.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "worker/runtime/cpu/task.h"

namespace tf::cpu {

class TaskQueue {
 public:
  TaskQueue() = default;
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;
  // REQUIRES: nobody uses it any more.
  ~TaskQueue() {
    for (Chunk* chunk = head_; chunk != nullptr;)
      chunk = std::unique_ptr<Chunk>(chunk)->next;  // freed by this line
    std::unique_ptr<Chunk>(spare_.load(std::memory_order_relaxed));
  }

  // Producer. The consumer sees it after publish(). May throw std::bad_alloc; then nothing has changed.
  template <typename Body>
  void push(Body&& body) {
    if (pushed_ == tail_end_) extend();
    tail_->tasks[pushed_ % kChunkTasks].emplace(std::forward<Body>(body));
    ++pushed_;
  }
  // False: there was nothing new for the consumer. Release pairs with front() and has_next().
  bool publish() {
    if (published_.load(std::memory_order_relaxed) == pushed_) return false;
    published_.store(pushed_, std::memory_order_release);
    return true;
  }

  // Consumer: the oldest task not popped yet; null if there is none.
  Task* front() {
    if (taken_ == seen_) {
      seen_ = published_.load(std::memory_order_acquire);
      if (taken_ == seen_) return nullptr;
    }
    if (taken_ == head_end_) leave_chunk();
    if (taken_ + 1 != seen_ && taken_ + 1 != head_end_) fetch(head_->tasks[(taken_ + 1) % kChunkTasks]);
    return &head_->tasks[taken_ % kChunkTasks];
  }
  void pop() { ++taken_; }
  // Consumer.
  bool has_next() const { return published_.load(std::memory_order_acquire) != taken_; }

 private:
  static constexpr std::size_t kChunkTasks = 128;
  struct Chunk {
    Task tasks[kChunkTasks];
    Chunk* next = nullptr;
  };

  // Prefetches it from the producer's cache while the task before it runs.
  static void fetch(const Task& task) {
    constexpr std::size_t kLineBytes = 64;
    const auto* const bytes = reinterpret_cast<const std::byte*>(&task);
    for (std::size_t at = 0; at < sizeof task; at += kLineBytes) __builtin_prefetch(bytes + at);
  }
  void extend() {
    Chunk* chunk = spare_.exchange(nullptr, std::memory_order_acquire);  // pairs with leave_chunk()
    if (chunk == nullptr) chunk = std::make_unique<Chunk>().release();
    chunk->next = nullptr;
    (tail_ == nullptr ? head_ : tail_->next) = chunk;
    tail_ = chunk;
    tail_end_ += kChunkTasks;
  }
  // REQUIRES: something in the next chunk was published, so it exists.
  void leave_chunk() {
    Chunk* const left = head_end_ == 0 ? nullptr : head_;
    head_end_ += kChunkTasks;
    if (left == nullptr) return;
    head_ = left->next;
    std::unique_ptr<Chunk>(spare_.exchange(left, std::memory_order_acq_rel));  // a second spare is not kept
  }

  // Producer only.
  Chunk* tail_ = nullptr;
  std::uint64_t pushed_ = 0;
  std::uint64_t tail_end_ = 0;  // the first number that the last chunk has no slot for
  // Consumer only, except that the producer sets the first chunk, before anything is published.
  alignas(64) Chunk* head_ = nullptr;
  std::uint64_t taken_ = 0;
  std::uint64_t seen_ = 0;  // of published_
  std::uint64_t head_end_ = 0;
  // Both sides.
  alignas(64) std::atomic<std::uint64_t> published_{0};
  std::atomic<Chunk*> spare_{nullptr};
};

}  // namespace tf::cpu
