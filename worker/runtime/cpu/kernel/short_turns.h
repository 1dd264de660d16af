// SPDX-License-Identifier: Apache-2.0
// How threads that run kernels share processors with those of other processes: clients of one worker are
// processes of their own, and the host's cores are the device.
#pragma once

#include <chrono>

namespace tf::cpu {

// A thread that waits for a processor gets it after one turn of each of the others. Short, so that a small
// kernel's latency does not grow with the number of sessions whose kernels fill the machine; long enough that
// changing turns costs little (some microseconds each).
inline constexpr std::chrono::microseconds kTurn{200};

// From now on the calling thread takes such turns. Linux knows turns of a length that a thread chooses since
// 6.12; false: this one does not, or does not allow it, and the thread is scheduled as all others are.
bool take_short_turns();

}  // namespace tf::cpu
