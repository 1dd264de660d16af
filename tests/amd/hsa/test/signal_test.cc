// SPDX-License-Identifier: Apache-2.0
// Signals: every way to change one, waits, handlers.
#include <atomic>
#include <thread>

#include "tests/amd/hsa/test/hsa_fixture.h"

namespace tf::amd::hsa::test {
namespace {

class SignalTest : public HsaTest {};

TEST_F(SignalTest, EveryFormChangesTheValue) {
  const hsa_signal_t signal = make_signal(0b1100);
  EXPECT_EQ(hsa_signal_load_scacquire(signal), 0b1100);
  hsa_signal_and_relaxed(signal, 0b0110);
  EXPECT_EQ(hsa_signal_load_relaxed(signal), 0b0100);
  hsa_signal_or_screlease(signal, 0b0011);
  EXPECT_EQ(hsa_signal_load_relaxed(signal), 0b0111);
  hsa_signal_xor_scacquire(signal, 0b0101);
  EXPECT_EQ(hsa_signal_load_relaxed(signal), 0b0010);
  hsa_signal_add_scacq_screl(signal, 40);
  hsa_signal_subtract_relaxed(signal, 43);
  EXPECT_EQ(hsa_signal_load_relaxed(signal), -1);
  EXPECT_EQ(hsa_signal_exchange_scacq_screl(signal, 5), -1);
  EXPECT_EQ(hsa_signal_cas_relaxed(signal, 4, 9), 5);
  EXPECT_EQ(hsa_signal_cas_scacquire(signal, 5, 9), 5);
  EXPECT_EQ(hsa_signal_load_relaxed(signal), 9);
  hsa_signal_silent_store_relaxed(signal, 12);
  EXPECT_EQ(hsa_signal_load_relaxed(signal), 12);
  hsa_signal_store_screlease(signal, INT64_MIN);
  EXPECT_EQ(hsa_signal_load_relaxed(signal), INT64_MIN);
}

TEST_F(SignalTest, AWaitEndsWhenItsConditionHoldsOrItsTimeIsOver) {
  const hsa_signal_t signal = make_signal(3);
  EXPECT_EQ(wait(signal, HSA_SIGNAL_CONDITION_NE, 2), 3);
  EXPECT_EQ(wait(signal, HSA_SIGNAL_CONDITION_LT, 4), 3);
  EXPECT_EQ(wait(signal, HSA_SIGNAL_CONDITION_GTE, 3), 3);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(hsa_signal_wait_relaxed(signal, HSA_SIGNAL_CONDITION_EQ, 0, 30'000'000, HSA_WAIT_STATE_BLOCKED),
            3);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(30));
  std::thread other([&] { hsa_signal_store_relaxed(signal, 0); });
  EXPECT_EQ(wait(signal, HSA_SIGNAL_CONDITION_EQ, 0), 0);
  other.join();
}

TEST_F(SignalTest, AWaitSeesWhatNobodyAnnounces) {
  // Kernels write values in memory; nobody wakes the waiting thread then.
  const hsa_signal_t signal = make_signal(1);
  volatile hsa_signal_value_t* value = nullptr;
  ASSERT_EQ(hsa_amd_signal_value_pointer(signal, &value), HSA_STATUS_SUCCESS);
  std::thread kernel([&] { *value = 0; });
  EXPECT_EQ(wait(signal, HSA_SIGNAL_CONDITION_EQ, 0), 0);
  kernel.join();
}

TEST_F(SignalTest, AHandlerIsCalledUntilItSaysNo) {
  const hsa_signal_t signal = make_signal(1);
  static std::atomic<int> calls;
  calls = 0;
  const auto handler = [](hsa_signal_value_t value, void* argument) {
    EXPECT_LT(value, 1);
    hsa_signal_store_relaxed(*static_cast<const hsa_signal_t*>(argument), 1);
    return ++calls < 2;
  };
  const hsa_signal_t seen = signal;
  ASSERT_EQ(hsa_amd_signal_async_handler(signal, HSA_SIGNAL_CONDITION_LT, 1, handler,
                                         const_cast<hsa_signal_t*>(&seen)),
            HSA_STATUS_SUCCESS);
  for (int call = 1; call <= 2; call++) {
    hsa_signal_store_relaxed(signal, -call);
    EXPECT_EQ(wait(signal, HSA_SIGNAL_CONDITION_EQ, 1), 1);
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (calls < call && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    EXPECT_EQ(calls, call);
  }
  const hsa_signal_t other = make_signal(1);  // its handler is called behind any of the first signal's
  hsa_signal_store_relaxed(signal, 0);
  ASSERT_EQ(hsa_amd_signal_async_handler(
                other, HSA_SIGNAL_CONDITION_EQ, 0,
                [](hsa_signal_value_t, void* argument) {
                  hsa_signal_store_relaxed(*static_cast<const hsa_signal_t*>(argument), 7);
                  return false;
                },
                const_cast<hsa_signal_t*>(&other)),
            HSA_STATUS_SUCCESS);
  hsa_signal_store_relaxed(other, 0);
  EXPECT_EQ(wait(other, HSA_SIGNAL_CONDITION_EQ, 7), 7);
  EXPECT_EQ(calls, 2);
}

TEST_F(SignalTest, ADestroyedSignalIsNone) {
  hsa_signal_t signal{0};
  ASSERT_EQ(hsa_signal_create(1, 0, nullptr, &signal), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_signal_destroy(signal), HSA_STATUS_ERROR_INVALID_SIGNAL);
  EXPECT_EQ(hsa_signal_destroy({0}), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_signal_destroy({0x1000}), HSA_STATUS_ERROR_INVALID_SIGNAL);
}

}  // namespace
}  // namespace tf::amd::hsa::test
