// SPDX-License-Identifier: Apache-2.0
// When a thread's slices are long. What the system's scheduler makes of them is not tested here.
#include "worker/runtime/cpu/kernel/slices.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <thread>

namespace tf::cpu {
namespace {

using namespace std::chrono_literals;

// The slice of the calling thread, in nanoseconds; 0: this Linux does not tell.
std::uint64_t slice_ns() {
  std::array<std::uint64_t, 6> attributes{};  // the fourth one is the runtime
  return ::syscall(SYS_sched_getattr, 0, attributes.data(), sizeof attributes, 0) == 0 ? attributes[3] : 0;
}

// Each test in a thread of its own: slices are a thread's.
template <typename Body>
void in_a_thread(Body body) {
  std::thread(body).join();
}

TEST(SlicesTest, OnlyLongWorkMakesThemLong) {
  in_a_thread([] {
    const std::uint64_t usual = slice_ns();
    Slices& slices = Slices::own();
    slices.running_for(Slices::kLong - 1ns);
    EXPECT_FALSE(slices.are_long());
    EXPECT_EQ(slice_ns(), usual);
    slices.running_for(Slices::kLong);
    EXPECT_TRUE(slices.are_long());
    EXPECT_EQ(slice_ns(), 2 * usual);
    slices.running_for(3 * Slices::kLong);
    EXPECT_EQ(slice_ns(), 2 * usual) << "they do not grow";
  });
}

TEST(SlicesTest, AShortRunAndARestMakeThemShort) {
  in_a_thread([] {
    const std::uint64_t usual = slice_ns();
    Slices& slices = Slices::own();
    slices.rests_after(Slices::kLong);
    EXPECT_TRUE(slices.are_long()) << "whoever rests between long grids goes on so";
    slices.running_for(1us);
    EXPECT_TRUE(slices.are_long()) << "nobody knows yet whether this run is short";
    slices.rests_after(1us);
    EXPECT_FALSE(slices.are_long());
    EXPECT_EQ(slice_ns(), usual);
  });
}

TEST(SlicesTest, AreAThreadsOwn) {
  in_a_thread([] {
    const std::uint64_t usual = slice_ns();
    Slices::own().running_for(Slices::kLong);
    in_a_thread([usual] {  // it inherits those of the thread that starts it
      EXPECT_FALSE(Slices::own().are_long());
      EXPECT_EQ(slice_ns(), usual);
    });
  });
}

}  // namespace
}  // namespace tf::cpu
