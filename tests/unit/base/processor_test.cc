// SPDX-License-Identifier: Apache-2.0
#include "transport/base/processor.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace tf {
namespace {

cpu_set_t allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  return set;
}

TEST(ProcessorTest, OneThreadStaysWhereItIs) {
  const cpu_set_t before = allowed();
  std::thread([&] {
    stay_on_this_processor();
    const cpu_set_t now = allowed();
    EXPECT_EQ(CPU_COUNT(&now), 1);
    const int here = ::sched_getcpu();
    EXPECT_TRUE(CPU_ISSET(here, &now));
    EXPECT_TRUE(CPU_ISSET(here, &before));
  }).join();
  const cpu_set_t after = allowed();
  EXPECT_TRUE(CPU_EQUAL(&before, &after)) << "nobody else";
}

TEST(ProcessorTest, CountsThoseThatTheThreadMayUse) {
  const cpu_set_t before = allowed();
  EXPECT_EQ(usable_processors(), static_cast<unsigned>(CPU_COUNT(&before)));
  std::thread([] {
    stay_on_this_processor();
    EXPECT_EQ(usable_processors(), 1u);
  }).join();
}

}  // namespace
}  // namespace tf
