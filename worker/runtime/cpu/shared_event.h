// SPDX-License-Identifier: Apache-2.0
// SharedEvent: the state of an event that several processes record and wait for, in a page they share.
//
// Recordings are numbered across all processes; the event has happened when the last number has been reached.
// A process that dies with a recording under way never reaches it, which waiters notice. What the page says
// is the partners' to write: it decides how long a wait takes, and nothing else. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace tf::cpu {

class SharedEvent {
 public:
  // Both null when the system has no more.
  static std::shared_ptr<SharedEvent> make();
  static std::shared_ptr<SharedEvent> attach(int descriptor);  // takes the descriptor over
  SharedEvent(const SharedEvent&) = delete;
  SharedEvent& operator=(const SharedEvent&) = delete;
  ~SharedEvent();

  int descriptor() const { return descriptor_; }
  std::uint64_t begin_recording();
  void reach(std::uint64_t number);
  std::uint64_t last() const;
  bool reached(std::uint64_t number) const;
  void wait(std::uint64_t number) const;

 private:
  struct Page {
    std::atomic<std::uint64_t> recorded;
    std::atomic<std::uint64_t> reached;
    std::atomic<std::uint32_t> changed;  // goes up with `reached`: what waiters sleep on
    std::atomic<std::int32_t> recorder;  // the process of the last recording
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
                std::atomic<std::uint32_t>::is_always_lock_free);

  SharedEvent(int descriptor, Page& page) : descriptor_(descriptor), page_(page) {}
  bool recorder_is_gone() const;

  const int descriptor_;
  Page& page_;
};

}  // namespace tf::cpu
