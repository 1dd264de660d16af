// SPDX-License-Identifier: Apache-2.0
// What a real provider refuses, at the call.
#include <cerrno>

#include "tests/unit/rdma/side.h"

namespace tf::test {
namespace {

using FabricRules = FabricTest;

TEST_F(FabricRules, StatesFollowEachOther) {
  left = std::make_unique<Side>(fabric);
  right = std::make_unique<Side>(fabric, SideOptions{.device = 1});
  ibv_qp_attr to_receive = left->rtr(*right), to_send = Side::rts();
  const auto modify = [&](ibv_qp_attr& wanted, int mask) {
    return left->verbs.modify_qp(left->qp, &wanted, mask);
  };
  EXPECT_EQ(modify(to_receive, Side::kRtrMask), EINVAL) << "before INIT";
  ASSERT_EQ(left->to_init(), 0);
  EXPECT_EQ(left->qp->state, IBV_QPS_INIT);
  EXPECT_EQ(modify(to_send, Side::kRtsMask), EINVAL) << "before RTR";
  EXPECT_EQ(modify(to_receive, Side::kRtrMask), 0);
  EXPECT_EQ(modify(to_receive, Side::kRtrMask), EINVAL) << "twice";
  EXPECT_EQ(modify(to_send, Side::kRtsMask), 0);
  ibv_qp_attr reset{};
  EXPECT_EQ(modify(reset, IBV_QP_STATE), EINVAL);
  ASSERT_EQ(left->to_error(), 0);
  EXPECT_EQ(modify(to_send, Side::kRtsMask), EINVAL);
  ibv_qp_attr found{};
  ibv_qp_init_attr init{};
  ASSERT_EQ(left->verbs.query_qp(left->qp, &found, IBV_QP_STATE, &init), 0);
  EXPECT_EQ(found.qp_state, IBV_QPS_ERR);
  EXPECT_EQ(init.cap.max_inline_data, 64u);
}

TEST_F(FabricRules, EveryAttributeOfAStateIsNeededAndNoOther) {
  left = std::make_unique<Side>(fabric);
  right = std::make_unique<Side>(fabric, SideOptions{.device = 1});
  const auto expect_exact = [&](const ibv_qp_attr& wanted, int mask) {
    for (int bit = 1; bit <= IBV_QP_DEST_QPN; bit <<= 1) {
      if (bit == IBV_QP_STATE || (mask & bit) == 0) continue;
      ibv_qp_attr copy = wanted;
      EXPECT_EQ(left->verbs.modify_qp(left->qp, &copy, mask & ~bit), EINVAL) << bit;
    }
    ibv_qp_attr copy = wanted;
    EXPECT_EQ(left->verbs.modify_qp(left->qp, &copy, mask | IBV_QP_QKEY), EINVAL);
    EXPECT_EQ(left->verbs.modify_qp(left->qp, &copy, mask), 0);
  };
  ibv_qp_attr init{};
  init.qp_state = IBV_QPS_INIT;
  init.port_num = 1;
  expect_exact(init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  expect_exact(left->rtr(*right), Side::kRtrMask);
  expect_exact(Side::rts(), Side::kRtsMask);
}

TEST_F(FabricRules, ValuesOfAttributesAreChecked) {
  left = std::make_unique<Side>(fabric);
  right = std::make_unique<Side>(fabric, SideOptions{.device = 1});
  ASSERT_EQ(left->to_init(), 0);
  const auto refuses = [&](auto change) {
    ibv_qp_attr wanted = left->rtr(*right);
    change(wanted);
    return left->verbs.modify_qp(left->qp, &wanted, Side::kRtrMask) == EINVAL;
  };
  EXPECT_TRUE(refuses([](ibv_qp_attr& a) { a.ah_attr.is_global = 0; })) << "Ethernet needs a GID";
  EXPECT_TRUE(refuses([](ibv_qp_attr& a) { a.ah_attr.grh.sgid_index = 3; })) << "empty entry";
  EXPECT_TRUE(refuses([](ibv_qp_attr& a) { a.ah_attr.port_num = 2; }));
  EXPECT_TRUE(refuses([](ibv_qp_attr& a) { a.path_mtu = static_cast<ibv_mtu>(0); }));
  EXPECT_TRUE(refuses([](ibv_qp_attr& a) { a.rq_psn = 1u << 24; }));
  EXPECT_TRUE(refuses([](ibv_qp_attr& a) { a.max_dest_rd_atomic = 17; }));
  EXPECT_TRUE(refuses([](ibv_qp_attr& a) { a.min_rnr_timer = 32; }));
  EXPECT_FALSE(refuses([](ibv_qp_attr&) {}));
}

TEST_F(FabricRules, PostingNeedsTheRightState) {
  left = std::make_unique<Side>(fabric);
  right = std::make_unique<Side>(fabric, SideOptions{.device = 1});
  EXPECT_EQ(left->post_receive(), EINVAL);
  ASSERT_EQ(left->to_init(), 0);
  EXPECT_EQ(left->post_receive(), 0);
  EXPECT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 1), EINVAL);
  ibv_qp_attr to_receive = left->rtr(*right);
  ASSERT_EQ(left->verbs.modify_qp(left->qp, &to_receive, Side::kRtrMask), 0);
  EXPECT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 1), EINVAL);
}

TEST_F(FabricRules, ASlotIsFreeWhenACompletionBehindItHasBeenPolled) {
  connect(
      {.cap = {
           .max_send_wr = 4, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0}});
  for (std::uint64_t i = 0; i < 4; ++i)
    ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 1, 0, i, i == 2 ? unsigned{IBV_SEND_SIGNALED} : 0u),
              0);
  ASSERT_TRUE(fabric.wait_idle());
  EXPECT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 1), ENOMEM) << "executed, not polled";
  EXPECT_EQ(left->next().wr_id, 2u);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 1, 0, i, 0), 0);
  EXPECT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 1), ENOMEM) << "the fourth was not signalled";
}

TEST_F(FabricRules, AReceiveSlotIsFreeWhenItsCompletionHasBeenPolled) {
  connect(
      {.cap = {
           .max_send_wr = 1, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0}});
  EXPECT_EQ(left->post_receive(), 0);
  EXPECT_EQ(left->post_receive(), 0);
  EXPECT_EQ(left->post_receive(), ENOMEM);
  ASSERT_EQ(right->post(*left, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0), 0);
  EXPECT_EQ(right->next().status, IBV_WC_SUCCESS);
  EXPECT_EQ(left->post_receive(), ENOMEM);
  left->next();
  EXPECT_EQ(left->post_receive(), 0);
}

TEST_F(FabricRules, AChainEndsAtTheOneThatIsRefused) {
  connect();
  ibv_send_wr third{}, second{}, first{};
  for (ibv_send_wr* const wr : {&first, &second, &third}) wr->opcode = IBV_WR_RDMA_WRITE;
  first.next = &second;
  first.send_flags = IBV_SEND_SIGNALED;
  second.next = &third;
  second.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(left->verbs.post_send(left->qp, &first, &bad), EINVAL);
  EXPECT_EQ(bad, &second);
  EXPECT_EQ(left->next().status, IBV_WC_SUCCESS);
  EXPECT_EQ(fabric.counters(left->qp->qp_num).work_requests, 1u);
}

TEST_F(FabricRules, LimitsOfARequest) {
  connect();
  EXPECT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 64, 0, 1, IBV_SEND_INLINE), 0);
  EXPECT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 65, 0, 1, IBV_SEND_INLINE), EINVAL);
  EXPECT_EQ(left->post(*right, IBV_WR_RDMA_READ, 0, 8, 0, 1, IBV_SEND_INLINE), EINVAL);
  std::array<ibv_sge, 5> pieces{};
  ibv_send_wr wr{};
  wr.sg_list = pieces.data();
  wr.num_sge = 5;
  wr.opcode = IBV_WR_RDMA_WRITE;
  EXPECT_EQ(left->post(wr), EINVAL);
}

TEST_F(FabricRules, LimitsOfADevice) {
  left = std::make_unique<Side>(fabric);
  const auto refuses = [&](auto change) {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = left->cq;
    init.cap = {
        .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
    init.qp_type = IBV_QPT_RC;
    change(init);
    ibv_qp* const made = left->verbs.create_qp(left->pd, &init);
    if (made != nullptr) left->verbs.destroy_qp(made);
    return made == nullptr && errno == EINVAL;
  };
  EXPECT_TRUE(refuses([](ibv_qp_init_attr& init) { init.cap.max_inline_data = 257; }));
  EXPECT_TRUE(refuses([](ibv_qp_init_attr& init) { init.cap.max_send_wr = 4097; }));
  EXPECT_TRUE(refuses([](ibv_qp_init_attr& init) { init.cap.max_recv_sge = 17; }));
  EXPECT_TRUE(refuses([](ibv_qp_init_attr& init) { init.qp_type = IBV_QPT_UD; }));
  EXPECT_FALSE(refuses([](ibv_qp_init_attr&) {}));
  EXPECT_EQ(left->verbs.create_cq(left->context, 65537, nullptr, nullptr, 0), nullptr);
  EXPECT_EQ(left->verbs.create_cq(left->context, 1, nullptr, nullptr, 1), nullptr) << "no such vector";
}

TEST_F(FabricRules, Registration) {
  left = std::make_unique<Side>(fabric);
  const auto reg = [&](void* address, std::size_t bytes, int access) {
    errno = 0;
    ibv_mr* const mr = left->verbs.reg_mr(left->pd, address, bytes, access);
    if (mr != nullptr) left->verbs.dereg_mr(mr);
    return mr == nullptr ? errno : 0;
  };
  std::array<char, 64> memory{};
  EXPECT_EQ(reg(memory.data(), 64, 0), 0);
  EXPECT_EQ(reg(memory.data(), 64, IBV_ACCESS_RELAXED_ORDERING | IBV_ACCESS_LOCAL_WRITE), 0);
  EXPECT_EQ(reg(memory.data(), 64, IBV_ACCESS_REMOTE_WRITE), EINVAL) << "needs LOCAL_WRITE";
  EXPECT_EQ(reg(memory.data(), 0, 0), EINVAL);
  EXPECT_EQ(reg(nullptr, SIZE_MAX, IBV_ACCESS_ON_DEMAND), EINVAL);
  EXPECT_EQ(reg(memory.data(), 64, IBV_ACCESS_ON_DEMAND), EOPNOTSUPP);
  fabric.set_memory_limit(4096 + 64);
  EXPECT_EQ(reg(memory.data(), 64, 0), 0);
  EXPECT_EQ(reg(memory.data(), 65, 0), ENOMEM);
  EXPECT_EQ(fabric.registered_bytes(), 4096u);
  EXPECT_EQ(left->verbs.reg_dmabuf_mr(left->pd, 0, 64, 0, 0, 0), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(FabricRules, DestroyingWhatIsInUseIsRefusedAndNoted) {
  left = std::make_unique<Side>(fabric, SideOptions{.channel = true});
  const rdma::Verbs& verbs = left->verbs;
  EXPECT_EQ(verbs.close_device(left->context), EBUSY);
  EXPECT_EQ(verbs.dealloc_pd(left->pd), EBUSY);
  EXPECT_EQ(verbs.destroy_cq(left->cq), EBUSY);
  EXPECT_EQ(verbs.destroy_comp_channel(left->channel), EBUSY);
  expected_violations = {
      "close_device: 3 objects of it exist", "dealloc_pd: 2 regions and queue pairs of it exist",
      "destroy_cq: queue pairs use it", "destroy_comp_channel: 1 completion queues use it"};
}

TEST_F(FabricRules, MemoryOfARequestStaysRegistered) {
  connect();
  fabric.pause();
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 8), 0);
  EXPECT_EQ(left->verbs.dereg_mr(left->mr), EBUSY);
  ASSERT_EQ(right->post_receive(1, 0, 8), 0);
  EXPECT_EQ(right->verbs.dereg_mr(right->mr), EBUSY);
  fabric.resume();
  EXPECT_EQ(left->next().status, IBV_WC_SUCCESS);
  EXPECT_EQ(left->verbs.dereg_mr(left->mr), 0);
  left->mr = nullptr;
  expected_violations = {"dereg_mr: requests that are not finished use 1 pieces of the region",
                         "dereg_mr: requests that are not finished use 1 pieces of the region"};
}

TEST_F(FabricRules, BytesUnderWayStayAsTheyAre) {
  connect();
  fabric.pause();
  left->fill(0, "old");
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 8), 0);
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 8, 8, 2, IBV_SEND_SIGNALED | IBV_SEND_INLINE), 0);
  left->fill(7, "new");
  fabric.resume();
  left->next();
  left->next();
  expected_violations = {"bytes of a request changed before it was complete"};
}

TEST_F(FabricRules, AQueuePairTakesItsCompletionsWithIt) {
  connect();
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 8), 0);
  ASSERT_TRUE(fabric.wait_idle());
  ASSERT_EQ(left->verbs.destroy_qp(left->qp), 0);
  left->qp = nullptr;
  EXPECT_TRUE(left->is_empty());
}

TEST_F(FabricRules, FabricsAreApart) {
  FakeFabric other({FakeDevice::make(4)});
  int count = 0;
  ibv_device** const list = other.verbs()->get_device_list(&count);
  ASSERT_EQ(count, 1);
  EXPECT_STREQ(other.verbs()->get_device_name(list[0]), "fake4");
  EXPECT_EQ(list[1], nullptr);
  other.verbs()->free_device_list(list);
}

}  // namespace
}  // namespace tf::test
