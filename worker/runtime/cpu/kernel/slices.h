// SPDX-License-Identifier: Apache-2.0
// Slices: threads whose kernels run for long give way to those that pass calls on, and to those whose kernels
// are short.
//
// Linux 6.12 and later lets a thread that wakes up run at once if its slice is shorter than that of the
// thread in its place. So a thread that has run kernels for kLong without a rest asks for slices twice as
// long as usual, until it has rested after less. Its part of the processors stays the same. Where Linux knows
// no slices of a thread's own, nothing is done.
#pragma once

#include <chrono>

namespace tf::cpu {

// Of the calling thread. One each.
class Slices {
 public:
  using Time = std::chrono::nanoseconds;
  static constexpr Time kLong = std::chrono::milliseconds(1);

  static Slices& own();

  // It has run kernels for `time` since it rested, and goes on.
  void running_for(Time time) {
    if (time >= kLong && !long_) set(true);
  }
  // It has run kernels for `time` since it rested, and rests.
  void rests_after(Time time) {
    if ((time >= kLong) != long_) set(time >= kLong);
  }
  // Whether its slices are long, or would be if this Linux knew them.
  bool are_long() const { return long_; }

 private:
  // They are the usual ones, also where the thread that started this one had long ones.
  Slices() { set(false); }
  void set(bool wanted);

  bool long_ = false;
};

}  // namespace tf::cpu
