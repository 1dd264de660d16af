// SPDX-License-Identifier: Apache-2.0
// TaskQueue: the tasks of a stream on their way to its thread, in chunks that are used again.
//
// One thread at a time pushes and publishes (the stream's lock says which), one thread takes. Neither waits
// for the other: what was published is taken without a lock, and a task is made, run and destroyed in its
// slot.
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
  // Nobody uses it any more.
  ~TaskQueue() {
    for (Chunk* chunk = head_; chunk != nullptr;)
      chunk = std::unique_ptr<Chunk>(chunk)->next;  // which goes with this line
    std::unique_ptr<Chunk>(spare_.load(std::memory_order_relaxed));
  }

  // Producer. The consumer sees it after publish(). Throws std::bad_alloc, and nothing has happened.
  template <typename Body>
  void push(Body&& body) {
    if (pushed_ == tail_end_) extend();
    tail_->tasks[pushed_ % kChunkTasks].emplace(std::forward<Body>(body));
    ++pushed_;
  }
  // False: there was nothing that the consumer did not know of. Release pairs with front() and has_next().
  bool publish() {
    if (published_.load(std::memory_order_relaxed) == pushed_) return false;
    published_.store(pushed_, std::memory_order_release);
    return true;
  }

  // Consumer: the oldest task that it has not popped; null when there is none.
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

  // The producer's cache has it: on its way while the task before it runs.
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
  // The next chunk exists: something in it was published.
  void leave_chunk() {
    Chunk* const left = head_end_ == 0 ? nullptr : head_;
    head_end_ += kChunkTasks;
    if (left == nullptr) return;
    head_ = left->next;
    std::unique_ptr<Chunk>(spare_.exchange(left, std::memory_order_acq_rel));  // a second spare is not kept
  }

  // The producer's.
  Chunk* tail_ = nullptr;
  std::uint64_t pushed_ = 0;
  std::uint64_t tail_end_ = 0;  // the first number that the last chunk has no slot for
  // The consumer's, but that the first chunk comes from the producer, before anything is published.
  alignas(64) Chunk* head_ = nullptr;
  std::uint64_t taken_ = 0;
  std::uint64_t seen_ = 0;  // of published_
  std::uint64_t head_end_ = 0;
  // Both sides'.
  alignas(64) std::atomic<std::uint64_t> published_{0};
  std::atomic<Chunk*> spare_{nullptr};
};

}  // namespace tf::cpu
