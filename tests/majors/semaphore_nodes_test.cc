// SPDX-License-Identifier: Apache-2.0
// Nodes of semaphores of other APIs: no semaphore can be imported, so a node names none, and does nothing.
#include <string>

#include "tests/majors/graphs.h"

namespace tf::majors {
namespace {

// The two kinds of such nodes, by the functions of each.
struct Signals {
  using Parameters = hipExternalSemaphoreSignalNodeParams;
  using Each = hipExternalSemaphoreSignalParams;
  static constexpr const char* kName = "Signal";
  static constexpr int kType = kSignalSemaphore;
};
struct Waits {
  using Parameters = hipExternalSemaphoreWaitNodeParams;
  using Each = hipExternalSemaphoreWaitParams;
  static constexpr const char* kName = "Wait";
  static constexpr int kType = kWaitSemaphore;
};

template <typename Kind>
class SemaphoreNodes : public Graphs {
 protected:
  using Parameters = typename Kind::Parameters;

  template <typename Function>
  Function* of_kind(const std::string& before, const std::string& after) const {
    return this->template get<Function>((before + Kind::kName + after).c_str());
  }
  hipError_t add(hipGraphNode_t* node, const Parameters* parameters) const {
    using Add =
        hipError_t(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, std::size_t, const Parameters*);
    return of_kind<Add>("hipGraphAddExternalSemaphores", "Node")(node, graph_, nullptr, 0, parameters);
  }
  hipError_t ask(hipGraphNode_t node, Parameters* parameters) const {
    using Ask = hipError_t(hipGraphNode_t, Parameters*);
    return of_kind<Ask>("hipGraphExternalSemaphores", "NodeGetParams")(node, parameters);
  }
  hipError_t set(hipGraphNode_t node, const Parameters* parameters) const {
    using Set = hipError_t(hipGraphNode_t, const Parameters*);
    return of_kind<Set>("hipGraphExternalSemaphores", "NodeSetParams")(node, parameters);
  }
  hipError_t set_in(hipGraphExec_t exec, hipGraphNode_t node, const Parameters* parameters) const {
    using Set = hipError_t(hipGraphExec_t, hipGraphNode_t, const Parameters*);
    return of_kind<Set>("hipGraphExecExternalSemaphores", "NodeSetParams")(exec, node, parameters);
  }

  hipExternalSemaphore_t semaphore_ = reinterpret_cast<hipExternalSemaphore_t>(&semaphore_);
  typename Kind::Each each_{};
  const Parameters none_{&semaphore_, &each_, 0};
  const Parameters one_{&semaphore_, &each_, 1};
};

using Kinds = testing::Types<Signals, Waits>;
TYPED_TEST_SUITE(SemaphoreNodes, Kinds);

TYPED_TEST(SemaphoreNodes, OfNoneAreNodesOfTheirType) {
  hipGraphNode_t node = nullptr;
  ASSERT_EQ(this->add(&node, &this->none_), hipSuccess);
  EXPECT_EQ(this->type_of(node), TypeParam::kType);
  typename TypeParam::Parameters told{};
  told.numExtSems = 7;
  ASSERT_EQ(this->ask(node, &told), hipSuccess);
  EXPECT_EQ(told.numExtSems, 0u);
  EXPECT_EQ(this->set(node, &told), hipSuccess) << "what is told may be set";
  const hipGraphExec_t exec = this->instantiate();
  EXPECT_EQ(this->set_in(exec, node, &told), hipSuccess);
  this->run(exec);
  this->destroy(exec);
  EXPECT_EQ(this->set_in(exec, node, &told), kInvalid) << "it is destroyed";
}

TYPED_TEST(SemaphoreNodes, AreClonedAndPrinted) {
  hipGraphNode_t node = nullptr;
  ASSERT_EQ(this->add(&node, &this->none_), hipSuccess);
  hipGraph_t copy = nullptr;
  hipGraphNode_t twin = nullptr;
  ASSERT_EQ((*this->template get<decltype(::hipGraphClone)>("hipGraphClone"))(&copy, this->graph_),
            hipSuccess);
  ASSERT_EQ((*this->template get<decltype(::hipGraphNodeFindInClone)>("hipGraphNodeFindInClone"))(&twin, node,
                                                                                                  copy),
            hipSuccess);
  EXPECT_EQ(this->type_of(twin), TypeParam::kType);
  const std::string text = this->printed(copy);
  const std::string name = TypeParam::kType == kSignalSemaphore ? "signal semaphores" : "wait for semaphores";
  EXPECT_NE(text.find("label=\"" + name + "\""), std::string::npos) << text;
  EXPECT_EQ((*this->template get<decltype(::hipGraphDestroy)>("hipGraphDestroy"))(copy), hipSuccess);
}

TYPED_TEST(SemaphoreNodes, WrongOnesAreRefused) {
  hipGraphNode_t node = nullptr;
  EXPECT_EQ(this->add(nullptr, &this->none_), kInvalid);
  EXPECT_EQ(this->add(&node, nullptr), kInvalid);
  EXPECT_EQ(this->add(&node, &this->one_), kInvalid) << "no such semaphore";
  typename TypeParam::Parameters wrong = this->none_;
  wrong.extSemArray = nullptr;
  EXPECT_EQ(this->add(&node, &wrong), kInvalid);
  wrong = this->none_;
  wrong.paramsArray = nullptr;
  EXPECT_EQ(this->add(&node, &wrong), kInvalid);
  EXPECT_EQ(node, nullptr);
  ASSERT_EQ(this->add(&node, &this->none_), hipSuccess);
  EXPECT_EQ(this->set(node, &this->one_), kInvalid);
  EXPECT_EQ(this->set(node, nullptr), kInvalid);
  EXPECT_EQ(this->set(nullptr, &this->none_), kInvalid);
  EXPECT_EQ(this->ask(node, nullptr), kInvalid);
  EXPECT_EQ(this->ask(nullptr, &wrong), kInvalid);
  const hipGraphExec_t exec = this->instantiate();
  EXPECT_EQ(this->set_in(exec, node, &this->one_), kInvalid);
  EXPECT_EQ(this->set_in(exec, node, nullptr), kInvalid);
  EXPECT_EQ(this->set_in(nullptr, node, &this->none_), kInvalid);
  this->destroy(exec);
  ASSERT_EQ((*this->template get<decltype(::hipGraphDestroyNode)>("hipGraphDestroyNode"))(node), hipSuccess);
  EXPECT_EQ(this->ask(node, &wrong), kInvalid) << "it is destroyed";
  EXPECT_EQ(this->set(node, &this->none_), kInvalid) << "it is destroyed";
}

class AnySemaphoreNodes : public Graphs {};

TEST_F(AnySemaphoreNodes, ThroughOneStructAndNotEachOthers) {
  hipExternalSemaphore_t semaphore = nullptr;
  const hipExternalSemaphoreSignalParams signal{};
  const hipExternalSemaphoreWaitParams wait{};
  hipGraphNodeParams signals{};
  signals.type = kSignalSemaphore;
  signals.extSemSignal = {&semaphore, &signal, 0};
  hipGraphNodeParams waits{};
  waits.type = kWaitSemaphore;
  waits.extSemWait = {&semaphore, &wait, 0};
  hipGraphNode_t first = nullptr;
  hipGraphNode_t second = nullptr;
  ASSERT_EQ(HIP(hipGraphAddNode)(&first, graph_, nullptr, 0, &signals), hipSuccess);
  ASSERT_EQ(HIP(hipGraphAddNode)(&second, graph_, &first, 1, &waits), hipSuccess);
  EXPECT_EQ(type_of(first), kSignalSemaphore);
  EXPECT_EQ(type_of(second), kWaitSemaphore);
  EXPECT_EQ(HIP(hipGraphNodeSetParams)(first, &signals), hipSuccess);
  EXPECT_EQ(HIP(hipGraphNodeSetParams)(first, &waits), kInvalid) << "another kind";
  hipExternalSemaphoreWaitNodeParams told{};
  EXPECT_EQ(HIP(hipGraphExternalSemaphoresWaitNodeGetParams)(first, &told), kInvalid) << "another kind";
  const hipGraphExec_t exec = instantiate();
  EXPECT_EQ(HIP(hipGraphExecNodeSetParams)(exec, second, &waits), hipSuccess);
  EXPECT_EQ(HIP(hipGraphExecNodeSetParams)(exec, second, &signals), kInvalid) << "another kind";
  run(exec);
  destroy(exec);
  signals.extSemSignal.numExtSems = 1;
  EXPECT_EQ(HIP(hipGraphAddNode)(&first, graph_, nullptr, 0, &signals), kInvalid) << "no such semaphore";
}

}  // namespace
}  // namespace tf::majors
