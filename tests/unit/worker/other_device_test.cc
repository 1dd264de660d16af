// SPDX-License-Identifier: Apache-2.0
// Requests of a thread whose device is not that of the stream or the function in them: the runtime is called
// with that device current, since AMD's refuses or crashes otherwise.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>

#include "session_rig.h"

namespace tf::worker {
namespace {

protocol::HipTable fake;
std::atomic<int> device_then{-1};  // current at the call in question

void note_device() {
  int device = -1;
  EXPECT_EQ(fake.hipGetDevice(&device), hipSuccess);
  device_then = device;
}

// A session with two devices.
class OtherDevice : public ::testing::Test {
 protected:
  OtherDevice() {
    ::setenv("FAKE_DEVICES", "2", 1);
    rig_.emplace();
    fake = rig_->hip();
    device_then = -1;
  }
  ~OtherDevice() override {
    rig_.reset();
    ::unsetenv("FAKE_DEVICES");
  }
  // An object of the second device.
  std::uint64_t bind(protocol::HandleKind kind, void* object) {
    const std::uint64_t raw = protocol::Handle(kind, 1, 7).raw();
    EXPECT_TRUE(rig_->session().objects.bind(kind, raw, {object, 1}));
    return raw;
  }

  std::optional<SessionRig> rig_;
};

TEST_F(OtherDevice, TheNullStreamIsFollowedOnTheStreams) {
  rig_->hip().hipEventCreateWithFlags = [](hipEvent_t* event, unsigned flags) {
    note_device();
    return fake.hipEventCreateWithFlags(event, flags);
  };
  hipStream_t stream = nullptr;
  ASSERT_EQ(fake.hipStreamCreateWithFlags(&stream, hipStreamDefault), hipSuccess);
  protocol::FollowNullRequest request{};
  request.stream = bind(protocol::HandleKind::kStream, stream);
  rig_->start();
  rig_->post(request);
  EXPECT_EQ(rig_->synchronize(0), hipSuccess);
  EXPECT_EQ(device_then, 1);
}

// Posts a graph of one kernel, whose function is of the second device.
std::uint64_t build_kernel_node(SessionRig& rig, std::uint64_t function) {
  protocol::BuildKernelNodeRequest request{};
  request.exec = protocol::Handle(protocol::HandleKind::kGraphExec, 1, 3).raw();
  request.function = function;
  std::fill_n(request.grid, 3, 1);
  std::fill_n(request.block, 3, 1);
  rig.post(protocol::BuildGraphRequest{request.exec});
  rig.post(request);
  return request.exec;
}

TEST_F(OtherDevice, AKernelNodeIsMadeOnTheFunctions) {
  rig_->hip().hipGraphAddKernelNode = [](hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, std::size_t,
                                         const hipKernelNodeParams*) {
    note_device();
    return hipErrorInvalidDeviceFunction;
  };
  static int function;
  const std::uint64_t raw = bind(protocol::HandleKind::kFunction, &function);
  rig_->start();
  build_kernel_node(*rig_, raw);
  EXPECT_EQ(rig_->synchronize(0), hipSuccess);
  EXPECT_EQ(device_then, 1);
}

TEST_F(OtherDevice, AFillNodeIsMadeOnTheMemorys) {
  rig_->hip().hipGraphAddMemsetNode = [](hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, std::size_t,
                                         const hipMemsetParams*) {
    note_device();
    return hipSuccess;
  };
  protocol::BuildFillNodeRequest request{};
  request.exec = protocol::Handle(protocol::HandleKind::kGraphExec, 1, 3).raw();
  request.target = 0x5000'0000'0000;
  request.element_bytes = 1;
  request.width = request.pitch = 64;
  request.height = 1;
  ASSERT_TRUE(rig_->session().addresses.add(request.target, 4096, 1));
  rig_->hip().hipGraphInstantiate = [](hipGraphExec_t*, hipGraph_t, hipGraphNode_t*, char*, std::size_t) {
    note_device();
    return hipErrorInvalidDeviceFunction;
  };
  rig_->start();
  rig_->post(protocol::BuildGraphRequest{request.exec});
  rig_->post(request);
  EXPECT_EQ(rig_->synchronize(0), hipSuccess);
  EXPECT_EQ(device_then, 1);
  device_then = -1;
  EXPECT_EQ(rig_->call(protocol::InstantiateGraphRequest{request.exec}), hipErrorInvalidDeviceFunction);
  EXPECT_EQ(device_then, 1) << "a graph of fills only";
}

TEST_F(OtherDevice, AGraphIsInstantiatedOnItsKernels) {
  rig_->hip().hipGraphAddKernelNode = [](hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* before,
                                         std::size_t count, const hipKernelNodeParams*) {
    return fake.hipGraphAddEmptyNode(node, graph, before, count);
  };
  rig_->hip().hipGraphInstantiate = [](hipGraphExec_t*, hipGraph_t, hipGraphNode_t*, char*, std::size_t) {
    note_device();
    return hipErrorInvalidDeviceFunction;
  };
  static int function;
  const std::uint64_t raw = bind(protocol::HandleKind::kFunction, &function);
  rig_->start();
  const std::uint64_t exec = build_kernel_node(*rig_, raw);
  EXPECT_EQ(rig_->call(protocol::InstantiateGraphRequest{exec}), hipErrorInvalidDeviceFunction);
  EXPECT_EQ(device_then, 1);
}

std::vector<int> devices_then;

TEST_F(OtherDevice, AGraphIsUpdatedOnItsKernels) {
  rig_->hip().hipGraphAddKernelNode = [](hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* before,
                                         std::size_t count, const hipKernelNodeParams*) {
    return fake.hipGraphAddEmptyNode(node, graph, before, count);
  };
  devices_then.clear();
  rig_->hip().hipGraphExecUpdate = [](hipGraphExec_t, hipGraph_t, hipGraphNode_t*,
                                      hipGraphExecUpdateResult*) {
    note_device();
    devices_then.push_back(device_then);
    return hipErrorGraphExecUpdateFailure;
  };
  rig_->hip().hipGraphInstantiate = [](hipGraphExec_t*, hipGraph_t, hipGraphNode_t*, char*, std::size_t) {
    note_device();
    devices_then.push_back(device_then);
    return hipErrorInvalidDeviceFunction;
  };
  rig_->hip().hipGraphExecDestroy = [](hipGraphExec_t) { return hipSuccess; };
  static int function;
  static int instantiated;
  const std::uint64_t raw = bind(protocol::HandleKind::kFunction, &function);
  const std::uint64_t exec = bind(protocol::HandleKind::kGraphExec, &instantiated);
  rig_->start();
  const std::uint64_t built = build_kernel_node(*rig_, raw);
  EXPECT_EQ(rig_->call(protocol::UpdateGraphRequest{exec, built}), hipErrorInvalidDeviceFunction);
  EXPECT_EQ(devices_then, (std::vector<int>{1, 1})) << "and where it is built again";
}

}  // namespace
}  // namespace tf::worker
