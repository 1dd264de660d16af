// SPDX-License-Identifier: Apache-2.0
// Graphs as clients build them, well and badly. The fake runtime refuses updates, so they are made anew.
#include <gtest/gtest.h>

#include <vector>

#include "session_rig.h"
#include "worker/session/graphs.h"

namespace tf::worker {
namespace {

using protocol::Handle;
using protocol::HandleKind;

constexpr std::uint64_t kBytes = 4096;

std::uint64_t exec_handle(std::uint32_t index) { return Handle(HandleKind::kGraphExec, 1, index).raw(); }

class GraphRig {
 public:
  GraphRig() {
    stream = rig.add_stream();
    rig.start();
    memory = rig.lease(kBytes);
  }
  void begin(std::uint64_t exec) {
    protocol::BuildGraphRequest request{};
    request.exec = exec;
    rig.post(request);
  }
  void add_fill(std::uint64_t exec, std::uint32_t value, std::vector<std::uint32_t> before = {},
                std::uint64_t width = kBytes) {
    protocol::BuildFillNodeRequest request{};
    request.exec = exec;
    request.target = memory;
    request.element_bytes = 1;
    request.width = width;
    request.height = 1;
    request.pitch = width;
    request.value = value;
    request.dependencies = static_cast<std::uint32_t>(before.size());
    rig.post(request, std::as_bytes(std::span(before)));
  }
  hipError_t instantiate(std::uint64_t exec) {
    protocol::InstantiateGraphRequest request{};
    request.exec = exec;
    return rig.call(request);
  }
  hipError_t update(std::uint64_t exec, std::uint64_t built) {
    protocol::UpdateGraphRequest request{};
    request.exec = exec;
    request.built = built;
    return rig.call(request);
  }
  void launch(std::uint64_t exec) {
    protocol::LaunchGraphRequest request{};
    request.exec = exec;
    request.stream = stream;
    rig.post(request);
    EXPECT_EQ(rig.synchronize(stream), hipSuccess);
  }
  unsigned char content() const { return *reinterpret_cast<const unsigned char*>(memory); }

  SessionRig rig;
  std::uint64_t stream = 0;
  std::uint64_t memory = 0;
};

TEST(Graphs, BuiltLaunchedUpdatedAndDestroyed) {
  GraphRig graphs;
  const std::uint64_t exec = exec_handle(0);
  graphs.begin(exec);
  graphs.add_fill(exec, 1);
  graphs.add_fill(exec, 2, {0});
  ASSERT_EQ(graphs.instantiate(exec), hipSuccess);
  graphs.launch(exec);
  EXPECT_EQ(graphs.content(), 2);
  graphs.begin(exec_handle(1));
  graphs.add_fill(exec_handle(1), 3);
  EXPECT_EQ(graphs.update(exec, exec_handle(1)), hipSuccess);
  graphs.launch(exec);
  EXPECT_EQ(graphs.content(), 3);
  EXPECT_EQ(graphs.update(exec, exec_handle(1)), hipErrorOutOfMemory);  // that build is over
  protocol::DestroyGraphRequest destroy{};
  destroy.exec = exec;
  EXPECT_EQ(graphs.rig.call(destroy), hipSuccess);
  EXPECT_EQ(graphs.rig.call(destroy), hipErrorInvalidHandle);
  EXPECT_TRUE(graphs.rig.faults().empty());
  graphs.launch(exec);
  ASSERT_EQ(graphs.rig.faults().size(), 1u);
  EXPECT_EQ(graphs.rig.faults()[0].stream, graphs.stream);
}

TEST(Graphs, WrongNodesAreToldAtTheEnd) {
  GraphRig graphs;
  std::uint32_t next = 0;
  const auto refused = [&](auto add) {
    const std::uint64_t exec = exec_handle(next++);
    graphs.begin(exec);
    add(exec);
    graphs.add_fill(exec, 1);
    const hipError_t error = graphs.instantiate(exec);
    EXPECT_EQ(graphs.instantiate(exec), hipErrorOutOfMemory);  // nothing is left of it
    return error;
  };
  EXPECT_EQ(refused([&](std::uint64_t exec) { graphs.add_fill(exec, 1, {0}); }), hipErrorInvalidValue);
  EXPECT_EQ(refused([&](std::uint64_t exec) { graphs.add_fill(exec, 1, {}, 1ull << 40); }),
            hipErrorInvalidValue);
  EXPECT_EQ(refused([&](std::uint64_t exec) { graphs.add_fill(exec, 1, {}, ~0ull); }), hipErrorInvalidValue);
  EXPECT_EQ(refused([&](std::uint64_t exec) {
              protocol::BuildEmptyNodeRequest request{};
              request.exec = exec;
              request.dependencies = 0xffffffff;  // and no tail
              graphs.rig.post(request);
            }),
            hipErrorInvalidValue);
  EXPECT_EQ(refused([&](std::uint64_t exec) {
              protocol::BuildKernelNodeRequest request{};
              request.exec = exec;
              request.function = 7;
              graphs.rig.post(request);
            }),
            hipErrorInvalidHandle);
  EXPECT_EQ(refused([&](std::uint64_t exec) {
              protocol::BuildCopyNodeRequest request{};
              request.exec = exec;
              request.source = graphs.memory;
              request.target = 4096;
              request.width = request.target_pitch = request.source_pitch = 16;
              request.height = request.depth = 1;
              graphs.rig.post(request);
            }),
            hipErrorInvalidValue);
}

TEST(Graphs, HandlesAreChecked) {
  GraphRig graphs;
  const std::uint64_t stream_handle = graphs.stream;  // of another kind
  graphs.begin(stream_handle);
  EXPECT_EQ(graphs.instantiate(stream_handle), hipErrorInvalidHandle);
  const std::uint64_t exec = exec_handle(0);
  graphs.begin(exec);
  EXPECT_EQ(graphs.instantiate(exec), hipSuccess);
  graphs.begin(exec);
  EXPECT_EQ(graphs.instantiate(exec), hipErrorInvalidHandle);  // taken
  graphs.add_fill(exec, 1);                                    // nothing is being built
  EXPECT_EQ(graphs.update(exec_handle(5), exec), hipErrorOutOfMemory);
}

TEST(Graphs, BuildsThatAreNeverFinishedAreBounded) {
  GraphRig graphs;
  for (std::uint32_t i = 0; i < kGraphBuildsMax + 10; ++i) {
    graphs.begin(exec_handle(i));
    graphs.add_fill(exec_handle(i), i);
  }
  EXPECT_EQ(graphs.instantiate(exec_handle(kGraphBuildsMax)), hipErrorOutOfMemory);
  EXPECT_EQ(graphs.instantiate(exec_handle(0)), hipSuccess);
  protocol::DestroyGraphRequest destroy{};
  destroy.exec = exec_handle(1);
  EXPECT_EQ(graphs.rig.call(destroy), hipSuccess);  // given up
  graphs.begin(exec_handle(kGraphBuildsMax));
  EXPECT_EQ(graphs.instantiate(exec_handle(kGraphBuildsMax)), hipSuccess);
}

TEST(Graphs, TheirBytesAreBounded) {
  GraphRig graphs;
  const std::vector<std::byte> tail(60 << 10);
  hipError_t error = hipSuccess;
  std::uint32_t made = 0;
  for (; error == hipSuccess && made < kGraphSessionBytesMax / tail.size() + 2000; made += 1000) {
    graphs.begin(exec_handle(made));
    for (int i = 0; i < 1000; ++i) {
      protocol::BuildEmptyNodeRequest request{};
      request.exec = exec_handle(made);
      graphs.rig.post(request, tail);
    }
    error = graphs.instantiate(exec_handle(made));
  }
  EXPECT_EQ(error, hipErrorOutOfMemory);
  protocol::DestroyGraphRequest destroy{};
  destroy.exec = exec_handle(0);
  EXPECT_EQ(graphs.rig.call(destroy), hipSuccess);
  graphs.begin(exec_handle(0));  // now there is room
  graphs.add_fill(exec_handle(0), 1);
  EXPECT_EQ(graphs.instantiate(exec_handle(0)), hipSuccess);
}

}  // namespace
}  // namespace tf::worker
