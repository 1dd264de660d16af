// SPDX-License-Identifier: Apache-2.0
// Device memory that no processor may touch, over rdma: payload goes straight there where runtime and
// transport can, through staging where they cannot, and nothing is freed that the transport has.
#include <dlfcn.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdlib>

#include "hipcore/wire/access_wish.h"
#include "rdma/transport.h"
#include "tests/support/endpoint_pair.h"
#include "tests/support/peer.h"
#include "tests/support/verbs/fake_fabric.h"
#include "tests/unit/worker/fake_runtime.h"
#include "tests/unit/worker/session_rig.h"

namespace tf::worker {
namespace {

constexpr std::uint64_t kLease = 8 << 20;

// What is seen of the session as its memory goes.
struct Freed {
  SessionRig* rig = nullptr;
  int times = 0;
  int too_soon = 0;
};
Freed freed;

void note_freed(void* address) {
  ++freed.times;
  if (freed.rig->worker_bulk().reaches({static_cast<std::byte*>(address), 1})) ++freed.too_soon;
}

class DeviceRegionsTest : public testing::Test {
 protected:
  ~DeviceRegionsTest() override {
    rig_.reset();
    if (state_ != nullptr) state_->on_free = nullptr;
    ::unsetenv("FAKE_FAR");
    if (fabric_ == nullptr) return;
    EXPECT_EQ(fabric_->violations(), std::vector<std::string>{});
    EXPECT_EQ(fabric_->live_objects(), 0u);
  }

  SessionRig::Ends connect(bool dmabuf) {
    std::vector<test::FakeDevice> devices{test::FakeDevice::make(0), test::FakeDevice::make(1)};
    for (test::FakeDevice& device : devices) device.dmabuf = dmabuf;
    fabric_ = std::make_unique<test::FakeFabric>(std::move(devices));
    transport_ = rdma::make_transport(*fabric_->verbs(), {});
    Result<net::Listener> listener = test::listen_tcp();
    EXPECT_TRUE(listener.is_ok());
    Result<test::EndpointPair> pair = test::connect_pair(*transport_, *listener);
    EXPECT_TRUE(pair.is_ok()) << pair.status().to_string();
    return {std::move(pair->client), std::move(pair->server)};
  }
  // `far` as FAKE_FAR has it.
  void open(const char* far, bool dmabuf, const SessionRig::Adjust& adjust = {}) {
    ::setenv("FAKE_FAR", far, 1);
    rig_ = std::make_unique<SessionRig>(kFakeRuntime, connect(dmabuf), adjust);
    void* const library = ::dlopen(kFakeRuntime, RTLD_NOW);
    state_ = reinterpret_cast<decltype(&fake_runtime_state)>(::dlsym(library, "fake_runtime_state"))();
    seen_ = reinterpret_cast<decltype(&fake_runtime_seen)>(::dlsym(library, "fake_runtime_seen"));
    ASSERT_TRUE(state_ != nullptr && seen_ != nullptr);
    state_->copies = state_->exports = state_->flushes = 0;
    freed = {};
    freed.rig = rig_.get();
    state_->on_free = note_freed;
    stream_ = rig_->add_stream();
    other_ = rig_->add_stream();
    rig_->start();
  }

  void post_in(std::uint64_t target, std::size_t bytes, std::uint64_t tag) {
    protocol::CopyToDeviceRequest request{};
    request.target = target;
    request.bytes = bytes;
    request.stream = stream_;
    request.tag = tag;
    rig_->post(request);
  }
  void copy_in(std::uint64_t target, std::span<const std::byte> source) {
    BulkCompletion sent;
    post_in(target, source.size(), ++tag_);
    ASSERT_TRUE(rig_->bulk().send(tag_, source, sent).is_ok());
    ASSERT_TRUE(rig_->await(sent).is_ok());
    ASSERT_EQ(rig_->synchronize(stream_), hipSuccess);
  }
  std::vector<std::byte> copy_out(std::uint64_t source, std::size_t bytes) {
    std::vector<std::byte> target(bytes);
    BulkCompletion received;
    EXPECT_TRUE(rig_->bulk().receive(++tag_, target, received).is_ok());
    protocol::CopyFromDeviceRequest request{};
    request.source = source;
    request.bytes = bytes;
    request.stream = stream_;
    request.tag = tag_;
    rig_->post(request);
    EXPECT_TRUE(rig_->await(received).is_ok());
    return target;
  }
  std::span<const std::byte> seen(std::uint64_t address, std::size_t bytes) const {
    return {static_cast<const std::byte*>(seen_(reinterpret_cast<void*>(address))), bytes};
  }
  // In, looked at, and out again: odd places and sizes.
  void there_and_back(std::uint64_t memory) {
    std::uint64_t seed = 0;
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{5000}, std::size_t{3} << 20, (std::size_t{6} << 20) + 7}) {
      const std::uint64_t place = memory + 4097 * ++seed;
      const std::vector<std::byte> data = test::pattern(bytes, seed);
      copy_in(place, data);
      EXPECT_EQ(test::find_mismatch(seen(place, bytes), seed), test::kNoMismatch) << bytes;
      EXPECT_EQ(copy_out(place, bytes), data) << bytes;
    }
    EXPECT_TRUE(rig_->faults().empty());
  }
  bool reaches(std::uint64_t address, std::size_t bytes = 1) {
    return rig_->worker_bulk().reaches({reinterpret_cast<const std::byte*>(address), bytes});
  }
  static std::size_t count(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
  }

  std::unique_ptr<test::FakeFabric> fabric_;
  std::unique_ptr<net::Transport> transport_;
  std::unique_ptr<SessionRig> rig_;
  FakeRuntimeState* state_ = nullptr;
  decltype(&fake_runtime_seen) seen_ = nullptr;
  std::uint64_t stream_ = 0;
  std::uint64_t other_ = 0;
  std::uint64_t tag_ = 0;
};

TEST_F(DeviceRegionsTest, PayloadGoesStraightThere) {
  testing::internal::CaptureStderr();
  open("export", true);
  const std::uint64_t memory = rig_->lease(kLease);
  const std::uint64_t more = rig_->lease(kLease);
  EXPECT_TRUE(reaches(memory, kLease));
  there_and_back(memory);
  there_and_back(more);
  EXPECT_EQ(state_->copies, 0) << "none through staging";
  EXPECT_EQ(state_->exports, 2);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(count(log, "rdma: payload goes straight to and from GPU memory of device 0 (dma-buf)"), 1u)
      << log;
  EXPECT_EQ(count(log, "staging"), 0u) << log;
}

TEST_F(DeviceRegionsTest, OrThroughStagingWhereTheNetworkDeviceCannot) {
  testing::internal::CaptureStderr();
  open("export", false);
  const std::uint64_t memory = rig_->lease(kLease);
  rig_->lease(kLease);
  rig_->lease(kLease);
  EXPECT_FALSE(reaches(memory));
  there_and_back(memory);
  EXPECT_GT(state_->copies, 0);
  EXPECT_EQ(state_->exports, 1) << "not tried again";
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(count(log,
                  "rdma: GPU memory of device 0 goes through staging: the kernel or the RDMA device "
                  "registers no dma-bufs"),
            1u)
      << log;
  EXPECT_EQ(count(log, "staging"), 1u) << log;
}

TEST_F(DeviceRegionsTest, OrTheRuntimeCannot) {
  testing::internal::CaptureStderr();
  open("only", true);
  const std::uint64_t memory = rig_->lease(kLease);
  rig_->lease(kLease);
  there_and_back(memory);
  EXPECT_GT(state_->copies, 0);
  EXPECT_EQ(state_->exports, 1) << "not tried again";
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(count(log, "staging: the HIP runtime does not export it (error 801)"), 1u) << log;
}

TEST_F(DeviceRegionsTest, OrTheRuntimeIsTooOld) {
  testing::internal::CaptureStderr();
  open("export", true, [](OptionalFunctions& optional, auto&) { optional.range_handle = nullptr; });
  rig_->lease(kLease);
  there_and_back(rig_->lease(kLease));
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(count(log, "staging: the HIP runtime exports none (no hipMemGetHandleForAddressRange)"), 1u)
      << log;
  EXPECT_EQ(state_->exports, 0);
}

// As where a GPU shows the bus a part of its memory only.
TEST_F(DeviceRegionsTest, WhatWasReachedBeforeARefusalStaysSo) {
  testing::internal::CaptureStderr();
  open("export", true);
  const std::uint64_t memory = rig_->lease(kLease);
  fabric_->refuse_reg_mr(ENOMEM);
  const std::uint64_t refused = rig_->lease(kLease);
  const std::uint64_t later = rig_->lease(kLease);
  there_and_back(memory);
  EXPECT_EQ(state_->copies, 0);
  there_and_back(refused);
  there_and_back(later);
  EXPECT_GT(state_->copies, 0);
  EXPECT_EQ(state_->exports, 2);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(count(log, "rdma: further GPU memory of device 0 goes through staging: registering a dma-buf"),
            1u)
      << log;
}

TEST_F(DeviceRegionsTest, WhatOthersWroteIsFlushedBeforeAnythingElseRuns) {
  open("flush", true);
  const std::uint64_t memory = rig_->lease(kLease);
  const int probed = state_->flushes;
  const std::vector<std::byte> data = test::pattern(3 << 20, 1);
  BulkCompletion sent;
  post_in(memory, data.size(), ++tag_);
  ASSERT_TRUE(rig_->bulk().send(tag_, data, sent).is_ok());
  ASSERT_EQ(rig_->synchronize(other_), hipSuccess);
  EXPECT_EQ(state_->flushes, probed + 1);
  EXPECT_EQ(test::find_mismatch(seen(memory, data.size()), 1), test::kNoMismatch);
  ASSERT_TRUE(rig_->await(sent).is_ok());
  EXPECT_EQ(copy_out(memory, data.size()), data);
  ASSERT_EQ(rig_->synchronize(stream_), hipSuccess);
  EXPECT_EQ(state_->flushes, probed + 1) << "not after reading";
  EXPECT_EQ(state_->copies, 0);
}

TEST_F(DeviceRegionsTest, WhatCannotBeMadeVisibleIsNotOffered) {
  testing::internal::CaptureStderr();
  open("unseen", true);
  there_and_back(rig_->lease(kLease));
  EXPECT_EQ(state_->exports, 0);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(count(log, "staging: the driver cannot make the writes of other devices visible"), 1u) << log;
}

// --- Life -------------------------------------------------------------------------------------------------

TEST_F(DeviceRegionsTest, MemoryIsTakenFromTheTransportBeforeItGoes) {
  open("export", true);
  const std::size_t before = fabric_->registered_bytes();
  const std::uint64_t memory = rig_->lease(kLease);
  EXPECT_EQ(fabric_->registered_bytes(), before + kLease);
  rig_->post(protocol::ReturnLeaseRequest{memory});
  ASSERT_EQ(rig_->synchronize(stream_), hipSuccess);
  EXPECT_EQ(freed.times, 1);
  EXPECT_EQ(freed.too_soon, 0);
  EXPECT_EQ(fabric_->registered_bytes(), before);
  const std::uint64_t again = rig_->lease(kLease);
  there_and_back(again);
  rig_->end_session();
  EXPECT_EQ(freed.times, 2);
  EXPECT_EQ(freed.too_soon, 0);
}

TEST_F(DeviceRegionsTest, AndNotBeforePayloadThatIsUnderWay) {
  open("export", true);
  const std::uint64_t memory = rig_->lease(kLease);
  const std::vector<std::byte> data = test::pattern(3 << 20, 1);
  post_in(memory, data.size(), 1);
  rig_->post(protocol::ReturnLeaseRequest{memory});
  const Deadline watch = Deadline::after(std::chrono::milliseconds(50));
  while (!watch.passed()) ASSERT_TRUE(rig_->queue().poll().is_ok());
  EXPECT_EQ(freed.times, 0);
  BulkCompletion sent;
  ASSERT_TRUE(rig_->bulk().send(1, data, sent).is_ok());
  ASSERT_TRUE(rig_->await(sent).is_ok());
  ASSERT_EQ(rig_->synchronize(stream_), hipSuccess);
  EXPECT_EQ(freed.times, 1);
  EXPECT_EQ(freed.too_soon, 0);
  EXPECT_TRUE(rig_->faults().empty());
}

TEST_F(DeviceRegionsTest, ThePeerVanishesWhileTheDeviceWrites) {
  open("export", true);
  const std::uint64_t memory = rig_->lease(kLease);
  fabric_->set_execution_delay(std::chrono::milliseconds(2));
  const std::vector<std::byte> data = test::pattern(kLease, 1);
  BulkCompletion sent;
  post_in(memory, data.size(), 1);
  ASSERT_TRUE(rig_->bulk().send(1, data, sent).is_ok());
  const std::uint64_t before = fabric_->counters().bytes_read;
  const Deadline deadline = Deadline::after(std::chrono::seconds(20));
  while (fabric_->counters().bytes_read == before && !deadline.passed())
    ASSERT_TRUE(rig_->queue().poll().is_ok());
  rig_->drop_client();
  EXPECT_FALSE(rig_->wait_end().is_ok());
  rig_->end_session();
  EXPECT_EQ(freed.times, 1);
  EXPECT_EQ(freed.too_soon, 0);
}

// --- Memory that the client maps itself -------------------------------------------------------------------

int exported = 0;

hipError_t export_anything(void* handle, hipDeviceptr_t, std::size_t bytes, int, unsigned long long) {
  const int file = ::memfd_create("stands in for a dma-buf", MFD_CLOEXEC);
  EXPECT_EQ(::ftruncate(file, static_cast<off_t>(bytes)), 0);
  *static_cast<int*>(handle) = file;
  ++exported;
  return hipSuccess;
}

TEST_F(DeviceRegionsTest, MappedMemoryIsReachedWhileItIsMapped) {
  exported = 0;
  rig_ = std::make_unique<SessionRig>(TF_CPU_RUNTIME, connect(true),
                                      [](OptionalFunctions& optional, protocol::WorkerSnapshot& snapshot) {
                                        optional.range_handle = export_anything;
                                        for (protocol::DeviceSnapshot& device : snapshot.devices)
                                          device.properties.integrated = 0;
                                      });
  constexpr std::uint64_t kUnit = 2 << 20;
  const std::uint64_t base = rig_->snapshot().reservations.base;
  if (base == 0) GTEST_SKIP() << "no room for address windows here";
  rig_->start();
  const std::uint64_t memory = protocol::Handle(protocol::HandleKind::kMemAllocation, 1, 0).raw();
  const auto allow = [&](std::uint64_t address, std::uint64_t bytes, std::uint32_t flags) {
    const protocol::AccessWish wish{0, flags};
    return rig_->call(protocol::SetAccessRequest{address, bytes}, std::as_bytes(std::span(&wish, 1)));
  };
  protocol::CreatePhysicalRequest create{};
  create.memory = memory;
  create.bytes = 2 * kUnit;
  ASSERT_EQ(rig_->call(create), hipSuccess);
  for (const std::uint64_t part : {std::uint64_t{0}, kUnit})
    ASSERT_EQ(rig_->call(protocol::MapPhysicalRequest{base + part, kUnit, part, memory}), hipSuccess);
  EXPECT_FALSE(reaches(base)) << "nobody may use it";
  ASSERT_EQ(allow(base, kUnit, hipMemAccessFlagsProtRead), hipSuccess);
  EXPECT_FALSE(reaches(base)) << "nobody may write it";
  ASSERT_EQ(allow(base, 2 * kUnit, hipMemAccessFlagsProtReadWrite), hipSuccess);
  EXPECT_TRUE(reaches(base, 2 * kUnit));
  ASSERT_EQ(allow(base, 2 * kUnit, hipMemAccessFlagsProtReadWrite), hipSuccess);
  EXPECT_EQ(exported, 2) << "each once";
  EXPECT_EQ(rig_->call(protocol::UnmapPhysicalRequest{base, kUnit}), hipSuccess);
  EXPECT_FALSE(reaches(base));
  EXPECT_TRUE(reaches(base + kUnit, kUnit));
  EXPECT_EQ(rig_->call(protocol::UnmapPhysicalRequest{base + kUnit, kUnit}), hipSuccess);
  EXPECT_FALSE(reaches(base + kUnit));
}

}  // namespace
}  // namespace tf::worker
