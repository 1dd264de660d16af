// SPDX-License-Identifier: Apache-2.0
// The graph library on a Side that only remembers: what executable graphs keep, what changes and failures
// leave behind, and which locks are held when the program's code runs.
#include "hipcore/graph/library.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <utility>

namespace tf::graph {
namespace {

constexpr std::chrono::seconds kLockLimit(5);  // for a call that needs nothing but a lock

class FakeExecutable final : public Executable {
 public:
  hipError_t launch(const StreamRef&) override { return answer; }
  hipError_t update(const Plan& plan) override {
    if (answer == hipSuccess) last = plan;
    return answer;
  }
  void when_done(std::function<void()> call) override {
    if (running)
      waiting.push_back(std::move(call));
    else
      call();
  }
  void end() {
    running = false;
    for (const auto& call : std::exchange(waiting, {})) call();
  }

  Plan last;
  hipError_t answer = hipSuccess;
  bool running = true;
  std::vector<std::function<void()>> waiting;
};

class FakeSide final : public Side, private array::Finder {
 public:
  hipError_t describe(const void*, KernelFacts&) override { return hipSuccess; }
  hipError_t find_symbol(const void*, std::byte*&, std::size_t&) override { return hipErrorInvalidSymbol; }
  hipError_t check(const Work&) override { return hipSuccess; }
  hipError_t instantiate(const Plan& plan, std::shared_ptr<Executable>& executable) override {
    made = std::make_shared<FakeExecutable>();
    made->last = plan;
    executable = made;
    return hipSuccess;
  }
  const array::Finder& arrays() const override {
    if (under_lock) under_lock();
    return *this;
  }
  hipError_t allocate(int, std::size_t, std::byte*& address) override {
    address = memory + 256 * allocations++;
    return hipSuccess;
  }
  void release(int, std::byte*) override { ++releases; }
  int device_count() override { return 1; }

  std::shared_ptr<FakeExecutable> made;  // the last one
  std::function<void()> under_lock;      // called by arrays()
  std::byte memory[4096]{};
  int allocations = 0;
  int releases = 0;

 private:
  std::optional<array::Place> find(hipArray_const_t) const override { return std::nullopt; }
  std::optional<array::FoundArray> at(std::uint64_t) const override { return std::nullopt; }
};

class GraphLibrary : public testing::Test {
 protected:
  ~GraphLibrary() override {
    side_.made.reset();
    calls_.clear();  // waits for all
  }

  hipGraph_t create() {
    hipGraph_t graph = nullptr;
    EXPECT_EQ(library_.create(&graph, 0), hipSuccess);
    return graph;
  }
  hipGraphNode_t add(hipGraph_t graph, Work work, std::vector<hipGraphNode_t> before = {}) {
    hipGraphNode_t node = nullptr;
    EXPECT_EQ(library_.add(&node, graph, before.data(), before.size(), std::move(work)), hipSuccess);
    return node;
  }
  // Which the graph holds alone.
  void add_object(hipGraph_t graph) {
    hipUserObject_t object = nullptr;
    const auto end = [](void* self) {
      auto& test = *static_cast<GraphLibrary*>(self);
      ++test.ended_;
      if (test.at_end_) test.at_end_();
    };
    ASSERT_EQ(library_.create_object(&object, this, end, 1, hipUserObjectNoDestructorSync), hipSuccess);
    ASSERT_EQ(library_.retain_object(graph, object, 1, hipGraphUserObjectMove), hipSuccess);
  }
  // Destroys the graph.
  hipGraphExec_t instantiate(hipGraph_t graph) {
    hipGraphExec_t exec = nullptr;
    EXPECT_EQ(library_.instantiate(&exec, graph, 0ULL), hipSuccess);
    EXPECT_EQ(library_.destroy(graph), hipSuccess);
    return exec;
  }
  hipGraphExecUpdateResult update(hipGraphExec_t exec, hipGraph_t graph) {
    hipGraphNode_t node = nullptr;
    hipGraphExecUpdateResult result = hipGraphExecUpdateError;
    const hipError_t error = library_.update(exec, graph, &node, &result);
    EXPECT_EQ(error == hipSuccess, result == hipGraphExecUpdateSuccess);
    return result;
  }
  // Whether another thread ends the call while we wait; it may need locks.
  bool ends(std::function<void()> call) {
    calls_.push_back(std::async(std::launch::async, std::move(call)));
    return calls_.back().wait_for(kLockLimit) == std::future_status::ready;
  }
  // Changes of executable graphs and everything else may go on.
  bool no_lock_is_held() {
    return ends([this] { EXPECT_EQ(library_.destroy(hipGraphExec_t{}), hipErrorInvalidValue); });
  }
  std::uint64_t used() {
    std::uint64_t bytes = 0;
    EXPECT_EQ(library_.get_memory_attribute(0, hipGraphMemAttrUsedMemCurrent, &bytes), hipSuccess);
    return bytes;
  }
  void* add_allocation(hipGraph_t graph, hipGraphNode_t& node) {
    hipMemAllocNodeParams wish{};
    wish.poolProps.allocType = hipMemAllocationTypePinned;
    wish.poolProps.location = {hipMemLocationTypeDevice, 0};
    wish.bytesize = 64;
    EXPECT_EQ(library_.add_allocation(&node, graph, nullptr, 0, &wish), hipSuccess);
    return wish.dptr;
  }

  std::function<void()> at_end_;
  int ended_ = 0;
  std::vector<std::future<void>> calls_;
  FakeSide side_;
  Library library_{side_};
};

TEST_F(GraphLibrary, AnUpdateKeepsTheObjectsOfRunningLaunches) {
  const hipGraph_t first = create();
  add_object(first);
  const hipGraphExec_t exec = instantiate(first);
  const hipGraph_t other = create();
  ASSERT_EQ(update(exec, other), hipGraphExecUpdateSuccess);
  EXPECT_EQ(ended_, 0);
  side_.made->end();
  EXPECT_EQ(ended_, 1);
}

TEST_F(GraphLibrary, ANewChildGraphKeepsTheObjectsOfRunningLaunches) {
  const hipGraph_t child = create();
  add_object(child);
  const hipGraph_t graph = create();
  hipGraphNode_t node = nullptr;
  ASSERT_EQ(library_.add_child(&node, graph, nullptr, 0, child), hipSuccess);
  ASSERT_EQ(library_.destroy(child), hipSuccess);
  const hipGraphExec_t exec = instantiate(graph);
  EXPECT_EQ(library_.set_child(exec, node, create()), hipSuccess);
  EXPECT_EQ(ended_, 0);
  side_.made->end();
  EXPECT_EQ(ended_, 1);
}

TEST_F(GraphLibrary, ObjectsEndWithoutALock) {
  std::vector<bool> free;
  at_end_ = [&] { free.push_back(no_lock_is_held()); };
  const hipGraph_t child = create();
  add_object(child);
  const hipGraph_t graph = create();
  add_object(graph);
  hipGraphNode_t node = nullptr;
  ASSERT_EQ(library_.add_child(&node, graph, nullptr, 0, child), hipSuccess);
  ASSERT_EQ(library_.destroy(child), hipSuccess);
  const hipGraphExec_t exec = instantiate(graph);
  side_.made->running = false;
  const hipGraph_t empty = create();
  EXPECT_EQ(library_.set_child(exec, node, empty), hipSuccess);
  EXPECT_EQ(free, std::vector<bool>(1, true));
  const hipGraph_t other = create();
  add_object(other);
  ASSERT_EQ(library_.add_child(&node, other, nullptr, 0, empty), hipSuccess);
  EXPECT_EQ(update(exec, other), hipGraphExecUpdateSuccess);
  EXPECT_EQ(free, std::vector<bool>(2, true));
  EXPECT_EQ(library_.destroy(other), hipSuccess);
  EXPECT_EQ(library_.destroy(exec), hipSuccess);
  EXPECT_EQ(free, std::vector<bool>(3, true));
}

TEST_F(GraphLibrary, AChangeThatFailsChangesNothing) {
  const hipGraph_t graph = create();
  FillWork fill;
  fill.value = 1;
  const hipGraphNode_t node = add(graph, fill);
  const hipGraphNode_t other = add(graph, fill);
  hipGraphExec_t exec = nullptr;
  ASSERT_EQ(library_.instantiate(&exec, graph, 0ULL), hipSuccess);
  side_.made->answer = hipErrorOutOfMemory;
  hipMemsetParams changed{};
  changed.dst = side_.memory;
  changed.value = 2;
  changed.elementSize = 1;
  changed.width = 1;
  changed.height = 1;
  EXPECT_EQ(library_.set_fill(exec, node, &changed), hipErrorOutOfMemory);
  EXPECT_EQ(library_.set_enabled(exec, node, 0), hipErrorOutOfMemory);
  unsigned enabled = 0;
  EXPECT_EQ(library_.get_enabled(exec, node, &enabled), hipSuccess);
  EXPECT_EQ(enabled, 1u);
  side_.made->answer = hipSuccess;
  EXPECT_EQ(library_.set_enabled(exec, other, 0), hipSuccess);
  const auto* first = std::get_if<FillWork>(side_.made->last[0].work.get());
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->value, 1u);
}

// fill -> child graph of a fill; and a plan of two fills without one.
TEST_F(GraphLibrary, NodesOfAChildGraphAreNoNodesOfTheParent) {
  const hipGraph_t child = create();
  add(child, FillWork{});
  const hipGraph_t graph = create();
  const hipGraphNode_t first = add(graph, FillWork{});
  hipGraphNode_t node = nullptr;
  ASSERT_EQ(library_.add_child(&node, graph, &first, 1, child), hipSuccess);
  const hipGraphExec_t exec = instantiate(graph);
  const hipGraph_t flat = create();
  add(flat, FillWork{}, {add(flat, FillWork{})});
  EXPECT_EQ(update(exec, flat), hipGraphExecUpdateErrorTopologyChanged);
}

TEST_F(GraphLibrary, ALaunchThatFailsAllocatesAndFreesNothing) {
  const hipGraph_t graph = create();
  hipGraphNode_t node = nullptr;
  void* const memory = add_allocation(graph, node);
  const hipGraphExec_t exec = instantiate(graph);
  const auto allocating = side_.made;
  const hipGraph_t other = create();
  ASSERT_EQ(library_.add_release(&node, other, nullptr, 0, memory), hipSuccess);
  const hipGraphExec_t freeing = instantiate(other);
  allocating->answer = hipErrorInvalidHandle;
  EXPECT_EQ(library_.launch(exec, {}), hipErrorInvalidHandle);
  EXPECT_EQ(used(), 0u);
  allocating->answer = hipSuccess;
  EXPECT_EQ(library_.launch(exec, {}), hipSuccess);
  EXPECT_EQ(used(), 64u);
  side_.made->answer = hipErrorInvalidHandle;
  EXPECT_EQ(library_.launch(freeing, {}), hipErrorInvalidHandle);
  EXPECT_EQ(used(), 64u);
  EXPECT_EQ(library_.free_memory(memory), hipSuccess);
}

TEST_F(GraphLibrary, ALaunchThatFailsLeavesWhatTheOneBeforeAllocated) {
  const hipGraph_t graph = create();
  hipGraphNode_t node = nullptr;
  void* const memory = add_allocation(graph, node);
  hipGraphExec_t exec = nullptr;
  ASSERT_EQ(library_.instantiate(&exec, graph, hipGraphInstantiateFlagAutoFreeOnLaunch), hipSuccess);
  EXPECT_EQ(library_.launch(exec, {}), hipSuccess);
  side_.made->answer = hipErrorInvalidHandle;
  EXPECT_EQ(library_.launch(exec, {}), hipErrorInvalidHandle);
  EXPECT_EQ(used(), 64u);
  EXPECT_EQ(library_.free_memory(memory), hipSuccess);
}

// While a thread holds the lock, another one frees memory that no graph has.
TEST_F(GraphLibrary, FreeingTakesTheLockOnlyWhileGraphsHaveMemory) {
  const hipGraph_t copies = create();
  const hipGraphNode_t copy = add(copies, CopyWork{});
  const hipGraph_t graph = create();
  hipGraphNode_t node = nullptr;
  void* const memory = add_allocation(graph, node);
  EXPECT_EQ(library_.free_memory(memory), hipErrorInvalidValue) << "no launch has allocated it";
  ASSERT_EQ(library_.destroy(graph), hipSuccess);
  EXPECT_EQ(side_.releases, 1);
  bool ended = false;
  side_.under_lock = [&] { ended = ends([&] { EXPECT_EQ(library_.free_memory(&ended), std::nullopt); }); };
  hipMemcpy3DParms parameters{};
  ASSERT_EQ(library_.get_copy(copy, &parameters), hipSuccess);
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace tf::graph
