// SPDX-License-Identifier: Apache-2.0
// SharedEvent: the state of an event that several processes record and wait for, in a shared page.
//
// Recordings are numbered across all processes; the event is done when the last number is reached. If a
// process dies with a recording in flight, the number is never reached; waiters notice that. The other
// processes may write anything to the page: it decides only how long a wait takes. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace tf::cpu {

class SharedEvent {
 public:
  // Both return null if the system has no more memory or descriptors.
  static std::shared_ptr<SharedEvent> make();
  static std::shared_ptr<SharedEvent> attach(int descriptor);  // takes ownership of the descriptor
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
    std::atomic<std::uint32_t> changed;  // increases with `reached`: waiters sleep on it
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
