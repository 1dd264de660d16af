// SPDX-License-Identifier: Apache-2.0
// AQL queues: packets, barriers, what stops a queue.
#include <atomic>
#include <cstring>

#include "tests/amd/hsa/test/hsa_fixture.h"

namespace tf::amd::hsa::test {
namespace {

constexpr std::uint32_t kPackets = 64;

class QueueTest : public HsaTest {
 protected:
  void SetUp() override {
    HsaTest::SetUp();
    const auto stopped = [](hsa_status_t status, hsa_queue_t*, void* data) {
      auto& test = *static_cast<QueueTest*>(data);
      test.status_ = status;
      hsa_signal_store_screlease(test.stopped_, 0);
    };
    stopped_ = make_signal(1);
    ASSERT_EQ(hsa_queue_create(gpus_[0], kPackets, HSA_QUEUE_TYPE_MULTI, stopped, this, 0, 0, &queue_),
              HSA_STATUS_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(hsa_queue_destroy(queue_), HSA_STATUS_SUCCESS);
    HsaTest::TearDown();
  }

  // Publishes a packet as hsa.h says: body, header, doorbell.
  template <typename Packet>
  void submit(Packet packet, unsigned type) {
    static_assert(sizeof packet == 64);
    const std::uint64_t index = hsa_queue_add_write_index_screlease(queue_, 1);
    while (index - hsa_queue_load_read_index_scacquire(queue_) >= kPackets) __builtin_ia32_pause();
    char* place = static_cast<char*>(queue_->base_address) + index % kPackets * sizeof packet;
    std::memcpy(place + 2, reinterpret_cast<char*>(&packet) + 2, sizeof packet - 2);
    const auto header =
        static_cast<std::uint16_t>(type << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER);
    std::atomic_ref<std::uint16_t>(*reinterpret_cast<std::uint16_t*>(place)).store(header);
    hsa_signal_store_screlease(queue_->doorbell_signal, static_cast<hsa_signal_value_t>(index));
  }
  void expect_stop(hsa_status_t status) {
    ASSERT_EQ(wait(stopped_, HSA_SIGNAL_CONDITION_EQ, 0), 0);
    EXPECT_EQ(status_, status);
  }
  // Whether a value stays 1 for some time.
  static bool stays(hsa_signal_t signal) {
    return hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_NE, 1, 20'000'000,
                                     HSA_WAIT_STATE_BLOCKED) == 1;
  }

  hsa_queue_t* queue_ = nullptr;
  hsa_signal_t stopped_{0};
  std::atomic<hsa_status_t> status_{HSA_STATUS_SUCCESS};
};

TEST_F(QueueTest, PacketsCompleteInOrderAcrossTheEndOfTheRing) {
  const hsa_signal_t count = make_signal(3 * kPackets);
  for (unsigned at = 0; at < 3 * kPackets; at++) {
    hsa_barrier_and_packet_t packet{};
    packet.completion_signal = count;
    submit(packet, HSA_PACKET_TYPE_BARRIER_AND);
  }
  EXPECT_EQ(wait(count, HSA_SIGNAL_CONDITION_EQ, 0), 0);
  hsa_amd_profiling_dispatch_time_t time{};
  ASSERT_EQ(hsa_amd_profiling_get_dispatch_time(gpus_[0], count, &time), HSA_STATUS_SUCCESS);
  EXPECT_GE(time.end, time.start);
  EXPECT_EQ(hsa_queue_load_write_index_relaxed(queue_), 3 * kPackets);
}

TEST_F(QueueTest, BarrierAndWaitsForAllAndBarrierOrForOne) {
  const hsa_signal_t first = make_signal(1), second = make_signal(1), all = make_signal(1),
                     any = make_signal(1);
  hsa_barrier_or_packet_t one{};
  one.dep_signal[1] = first;
  one.dep_signal[4] = second;
  one.completion_signal = any;
  submit(one, HSA_PACKET_TYPE_BARRIER_OR);
  hsa_barrier_and_packet_t both{};
  both.dep_signal[0] = first;
  both.dep_signal[3] = second;
  both.completion_signal = all;
  submit(both, HSA_PACKET_TYPE_BARRIER_AND);
  EXPECT_TRUE(stays(any));
  hsa_signal_store_screlease(second, 0);
  EXPECT_EQ(wait(any, HSA_SIGNAL_CONDITION_EQ, 0), 0);
  EXPECT_TRUE(stays(all));
  hsa_signal_store_screlease(first, 0);
  EXPECT_EQ(wait(all, HSA_SIGNAL_CONDITION_EQ, 0), 0);
}

TEST_F(QueueTest, BarrierValueComparesUnderAMask) {
  const hsa_signal_t signal = make_signal(0xf00), done = make_signal(1);
  hsa_amd_barrier_value_packet_t packet{};
  packet.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
  packet.signal = signal;
  packet.value = 5;
  packet.mask = 0xff;
  packet.cond = HSA_SIGNAL_CONDITION_GTE;
  packet.completion_signal = done;
  submit(packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC);
  EXPECT_TRUE(stays(done));
  hsa_signal_store_screlease(signal, 0xf04);
  EXPECT_TRUE(stays(done));
  hsa_signal_store_screlease(signal, 0xf05);
  EXPECT_EQ(wait(done, HSA_SIGNAL_CONDITION_EQ, 0), 0);
}

TEST_F(QueueTest, AQueueThatWaitsCanBeDestroyed) {
  hsa_barrier_and_packet_t packet{};
  packet.dep_signal[0] = make_signal(1);
  submit(packet, HSA_PACKET_TYPE_BARRIER_AND);
  EXPECT_TRUE(stays(packet.dep_signal[0]));
}

TEST_F(QueueTest, AnUnknownPacketStopsTheQueue) {
  const hsa_signal_t done = make_signal(1);
  hsa_agent_dispatch_packet_t packet{};
  submit(packet, HSA_PACKET_TYPE_AGENT_DISPATCH);
  hsa_barrier_and_packet_t behind{};
  behind.completion_signal = done;
  submit(behind, HSA_PACKET_TYPE_BARRIER_AND);
  expect_stop(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
  EXPECT_TRUE(stays(done));
}

TEST_F(QueueTest, AnUnknownVendorPacketStopsTheQueue) {
  hsa_amd_barrier_value_packet_t packet{};
  packet.header.AmdFormat = 99;
  submit(packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC);
  expect_stop(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
}

TEST_F(QueueTest, ABarrierOnNoSignalStopsTheQueue) {
  hsa_barrier_and_packet_t packet{};
  packet.dep_signal[2] = {0x1240};
  submit(packet, HSA_PACKET_TYPE_BARRIER_AND);
  expect_stop(HSA_STATUS_ERROR_INVALID_SIGNAL);
}

TEST_F(QueueTest, AKernelOutsideOfTheAgentsMemoryStopsTheQueue) {
  hsa_kernel_dispatch_packet_t packet{};
  packet.setup = 1;
  packet.workgroup_size_x = packet.workgroup_size_y = packet.workgroup_size_z = 1;
  packet.grid_size_x = packet.grid_size_y = packet.grid_size_z = 1;
  packet.kernel_object =
      reinterpret_cast<std::uint64_t>(allocate(gpu_pools_[1].coarse, 64));  // of another agent
  submit(packet, HSA_PACKET_TYPE_KERNEL_DISPATCH);
  expect_stop(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
}

TEST_F(QueueTest, AnImpossibleWorkGroupStopsTheQueue) {
  hsa_kernel_dispatch_packet_t packet{};
  packet.setup = 3;
  packet.workgroup_size_x = 1024;
  packet.workgroup_size_y = 2;
  packet.workgroup_size_z = 1;
  packet.grid_size_x = packet.grid_size_y = packet.grid_size_z = 1;
  packet.kernel_object = reinterpret_cast<std::uint64_t>(allocate(gpu_pools_[0].coarse, 64));
  submit(packet, HSA_PACKET_TYPE_KERNEL_DISPATCH);
  expect_stop(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
}

TEST_F(QueueTest, WrongSizesAndAgentsGetNoQueue) {
  hsa_queue_t* queue = nullptr;
  EXPECT_EQ(hsa_queue_create(gpus_[0], 100, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0, &queue),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_queue_create(gpus_[0], 1U << 20, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0, &queue),
            HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
  EXPECT_EQ(hsa_queue_create(host_, 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0, &queue),
            HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
  EXPECT_EQ(hsa_queue_create(gpus_[0], 64, HSA_QUEUE_TYPE_COOPERATIVE, nullptr, nullptr, 0, 0, &queue),
            HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
}

}  // namespace
}  // namespace tf::amd::hsa::test
