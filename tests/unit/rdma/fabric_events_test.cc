// SPDX-License-Identifier: Apache-2.0
// Completion channels, asynchronous events, and faults on demand.
#include <fcntl.h>
#include <poll.h>

#include <cerrno>

#include "tests/unit/rdma/side.h"

namespace tf::test {
namespace {

class FabricEvents : public FabricTest {
 protected:
  static bool is_readable(int fd) {
    pollfd entry{fd, POLLIN, 0};
    return ::poll(&entry, 1, 0) == 1;
  }
  void get_event(Side& side) {
    ibv_cq* cq = nullptr;
    void* user = nullptr;
    ASSERT_EQ(side.verbs.get_cq_event(side.channel, &cq, &user), 0);
    EXPECT_EQ(cq, side.cq);
    EXPECT_EQ(user, &side);
  }
  ibv_async_event next_async(Side& side) {
    ibv_async_event event{};
    EXPECT_EQ(side.verbs.get_async_event(side.context, &event), 0);
    return event;
  }
  // A completion of right's, solicited or not.
  void tell(bool solicited = false) {
    ASSERT_EQ(right->post_receive(), 0);
    ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 0, 1,
                         IBV_SEND_SIGNALED | (solicited ? unsigned{IBV_SEND_SOLICITED} : 0u)),
              0);
    EXPECT_EQ(left->next().status, IBV_WC_SUCCESS);
  }
  void connect_with_channel() { connect({}, {.device = 1, .channel = true}); }
};

TEST_F(FabricEvents, OneEventForEachTimeOfArming) {
  connect_with_channel();
  tell();
  EXPECT_FALSE(is_readable(right->channel->fd)) << "not armed";
  ASSERT_EQ(right->verbs.req_notify_cq(right->cq, 0), 0);
  EXPECT_FALSE(is_readable(right->channel->fd)) << "what was there before does not count";
  tell();
  tell();
  EXPECT_TRUE(is_readable(right->channel->fd));
  get_event(*right);
  EXPECT_FALSE(is_readable(right->channel->fd));
  EXPECT_EQ(fabric.counters().armings, 1u);
  EXPECT_EQ(fabric.counters().events, 1u);
  right->verbs.ack_cq_events(right->cq, 1);
}

TEST_F(FabricEvents, SolicitedOnly) {
  connect_with_channel();
  ASSERT_EQ(right->verbs.req_notify_cq(right->cq, 1), 0);
  tell(false);
  EXPECT_FALSE(is_readable(right->channel->fd));
  tell(true);
  EXPECT_TRUE(is_readable(right->channel->fd));
  get_event(*right);
  right->verbs.ack_cq_events(right->cq, 1);
  ASSERT_EQ(right->verbs.req_notify_cq(right->cq, 1), 0);
  ASSERT_EQ(right->post_receive(), 0);
  ASSERT_EQ(right->to_error(), 0);
  get_event(*right);  // errors count as solicited
  right->verbs.ack_cq_events(right->cq, 1);
}

TEST_F(FabricEvents, ArmingForSolicitedOnesDoesNotTakeBackArmingForAll) {
  connect_with_channel();
  ASSERT_EQ(right->verbs.req_notify_cq(right->cq, 0), 0);
  ASSERT_EQ(right->verbs.req_notify_cq(right->cq, 1), 0);
  tell(false);
  EXPECT_TRUE(is_readable(right->channel->fd));
}

TEST_F(FabricEvents, GettingWaitsUnlessTheDescriptorDoesNot) {
  connect_with_channel();
  ASSERT_EQ(right->verbs.req_notify_cq(right->cq, 0), 0);
  std::thread waiter([&] { get_event(*right); });
  tell();
  waiter.join();
  right->verbs.ack_cq_events(right->cq, 1);
  ::fcntl(right->channel->fd, F_SETFL, O_NONBLOCK);
  ibv_cq* cq = nullptr;
  void* user = nullptr;
  EXPECT_EQ(right->verbs.get_cq_event(right->channel, &cq, &user), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST_F(FabricEvents, EventsAreAcknowledgedBeforeTheQueueGoes) {
  connect_with_channel();
  ASSERT_EQ(right->verbs.req_notify_cq(right->cq, 0), 0);
  tell();
  get_event(*right);
  ASSERT_EQ(right->verbs.destroy_qp(right->qp), 0);
  right->qp = nullptr;
  EXPECT_EQ(right->verbs.destroy_cq(right->cq), EBUSY);
  right->verbs.ack_cq_events(right->cq, 2);
  expected_violations = {"destroy_cq: 1 events were not acknowledged (libibverbs would wait for ever)",
                         "ack_cq_events: more events than were got"};
}

TEST_F(FabricEvents, AnEventThatNobodyGotGoesWithItsQueue) {
  connect_with_channel();
  ASSERT_EQ(right->verbs.req_notify_cq(right->cq, 0), 0);
  tell();
  ASSERT_EQ(right->verbs.destroy_qp(right->qp), 0);
  right->qp = nullptr;
  ASSERT_EQ(right->verbs.destroy_cq(right->cq), 0);
  EXPECT_FALSE(is_readable(right->channel->fd));
  right->cq = right->verbs.create_cq(right->context, 4, nullptr, nullptr, 0);
}

TEST_F(FabricEvents, AQueueThatOverflowsIsDead) {
  connect({.cq_entries = 2});
  for (int i = 0; i < 3; ++i) ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 1), 0);
  ASSERT_TRUE(fabric.wait_idle());
  ibv_async_event event = next_async(*left);
  EXPECT_EQ(event.event_type, IBV_EVENT_CQ_ERR);
  EXPECT_EQ(event.element.cq, left->cq);
  left->verbs.ack_async_event(&event);
  ibv_wc wc{};
  EXPECT_LT(left->verbs.poll_cq(left->cq, 1, &wc), 0);
  expected_violations = {"completion queue of 2 entries overflows"};
}

TEST_F(FabricEvents, AQueuePairFails) {
  connect();
  ASSERT_EQ(left->post_receive(9), 0);
  EXPECT_FALSE(is_readable(left->context->async_fd));
  fabric.fail_qp(left->qp->qp_num);
  EXPECT_TRUE(is_readable(left->context->async_fd));
  EXPECT_EQ(left->next().status, IBV_WC_WR_FLUSH_ERR);
  ibv_async_event event = next_async(*left);
  EXPECT_EQ(event.event_type, IBV_EVENT_QP_FATAL);
  EXPECT_EQ(left->verbs.destroy_qp(left->qp), EBUSY);
  left->verbs.ack_async_event(&event);
  expected_violations = {"destroy_qp: 1 events were not acknowledged (libibverbs would wait for ever)"};
}

TEST_F(FabricEvents, AnAsynchronousEventThatNobodyGotGoesWithItsQueuePair) {
  connect();
  fabric.fail_qp(left->qp->qp_num);
  EXPECT_TRUE(is_readable(left->context->async_fd));
  ASSERT_EQ(left->verbs.destroy_qp(left->qp), 0);
  left->qp = nullptr;
  EXPECT_FALSE(is_readable(left->context->async_fd));
}

TEST_F(FabricEvents, ADeviceFails) {
  connect();
  ASSERT_EQ(left->post_receive(), 0);
  ASSERT_EQ(right->post_receive(), 0);
  fabric.fail_device("fake1");
  EXPECT_EQ(right->next().status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(next_async(*right).event_type, IBV_EVENT_DEVICE_FATAL);
  EXPECT_TRUE(left->is_empty());
}

TEST_F(FabricEvents, APortGoesDownAndComesBack) {
  connect();
  fabric.set_retry_time(std::chrono::hours(1));
  fabric.set_port_state("fake1", 1, IBV_PORT_DOWN);
  const ibv_async_event event = next_async(*right);
  EXPECT_EQ(event.event_type, IBV_EVENT_PORT_ERR);
  EXPECT_EQ(event.element.port_num, 1);
  ibv_port_attr port{};
  ASSERT_EQ(right->verbs.query_port(right->context, 1, &port), 0);
  EXPECT_EQ(port.state, IBV_PORT_DOWN);
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 1), 0);
  EXPECT_FALSE(fabric.wait_idle(std::chrono::milliseconds(2)));
  fabric.set_port_state("fake1", 1, IBV_PORT_ACTIVE);
  EXPECT_EQ(left->next().status, IBV_WC_SUCCESS) << "tried again";
  EXPECT_EQ(next_async(*right).event_type, IBV_EVENT_PORT_ACTIVE);
}

TEST_F(FabricEvents, LinksAreCutAndMended) {
  connect();
  fabric.set_retry_time(std::chrono::hours(1));
  fabric.cut_link("fake1", "fake0");
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 1), 0);
  EXPECT_FALSE(fabric.wait_idle(std::chrono::milliseconds(2)));
  fabric.mend_link("fake0", "fake1");
  EXPECT_EQ(left->next().status, IBV_WC_SUCCESS);
  fabric.set_retry_time(std::chrono::milliseconds(2));
  fabric.cut_link("fake0", "fake1");
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 1), 0);
  EXPECT_EQ(left->next().status, IBV_WC_RETRY_EXC_ERR);
}

TEST_F(FabricEvents, TheNextOfAKindFails) {
  connect();
  fabric.fail_next(IBV_WR_RDMA_READ, IBV_WC_RESP_TIMEOUT_ERR, 1);
  for (std::uint64_t i = 0; i < 2; ++i) {
    ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 1), 0);
    ASSERT_EQ(left->post(*right, IBV_WR_RDMA_READ, 0, 1, 0, i), 0);
    EXPECT_EQ(left->next().status, IBV_WC_SUCCESS);
    EXPECT_EQ(left->next().status, i == 0 ? IBV_WC_SUCCESS : IBV_WC_RESP_TIMEOUT_ERR);
  }
}

TEST_F(FabricEvents, CallsFailOnDemand) {
  connect();
  fabric.refuse_reg_mr(ENOMEM);
  EXPECT_EQ(left->verbs.reg_mr(left->pd, left->memory.data(), 8, 0), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  fabric.refuse_create_cq(ENOSPC, 2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(left->verbs.create_cq(left->context, 1, nullptr, nullptr, 0), nullptr);
    EXPECT_EQ(errno, ENOSPC);
  }
  ibv_cq* const cq = left->verbs.create_cq(left->context, 1, nullptr, nullptr, 0);
  ASSERT_NE(cq, nullptr);
  EXPECT_EQ(left->verbs.destroy_cq(cq), 0);
  fabric.refuse_create_qp(EPERM);
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = left->cq;
  init.qp_type = IBV_QPT_RC;
  EXPECT_EQ(left->verbs.create_qp(left->pd, &init), nullptr);
  EXPECT_EQ(errno, EPERM);
}

}  // namespace
}  // namespace tf::test
