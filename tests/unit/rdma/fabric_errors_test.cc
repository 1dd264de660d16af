// SPDX-License-Identifier: Apache-2.0
// Requests that fail when they are executed, and what becomes of their queue pairs.
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "tests/unit/rdma/side.h"

namespace tf::test {
namespace {

class FabricErrors : public FabricTest {
 protected:
  void expect_dead(Side& side) {
    ibv_qp_attr found{};
    ibv_qp_init_attr init{};
    ASSERT_EQ(side.verbs.query_qp(side.qp, &found, IBV_QP_STATE, &init), 0);
    EXPECT_EQ(found.qp_state, IBV_QPS_ERR);
  }
};

TEST_F(FabricErrors, KeysAccessAndRangeAtThePeer) {
  struct Case {
    const char* what;
    ibv_wr_opcode opcode;
    int access;
    std::ptrdiff_t from_start;
    bool local_key;
  };
  for (const Case& one :
       {Case{"no remote write", IBV_WR_RDMA_WRITE, IBV_ACCESS_REMOTE_READ, 0, false},
        Case{"no remote read", IBV_WR_RDMA_READ, kAllAccess & ~IBV_ACCESS_REMOTE_READ, 0, false},
        Case{"behind the end", IBV_WR_RDMA_WRITE, kAllAccess, 57, false},
        Case{"before the start", IBV_WR_RDMA_READ, kAllAccess, -1, false},
        Case{"local key", IBV_WR_RDMA_WRITE, kAllAccess, 0, true}}) {
    SCOPED_TRACE(one.what);
    connect();
    std::array<std::byte, 64> memory{};
    ibv_mr* const mr = right->verbs.reg_mr(right->pd, memory.data(), memory.size(), one.access);
    ibv_sge sge = left->piece(0, 8);
    ibv_send_wr wr{};
    wr.wr_id = 5;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = one.opcode;
    wr.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(memory.data()) + one.from_start;
    wr.wr.rdma.rkey = one.local_key ? mr->lkey : mr->rkey;
    ASSERT_EQ(right->post_receive(8), 0);
    ASSERT_EQ(left->post(wr), 0);
    const ibv_wc wc = left->next();
    EXPECT_EQ(wc.status, IBV_WC_REM_ACCESS_ERR) << "also when not signalled";
    EXPECT_EQ(wc.wr_id, 5u);
    EXPECT_EQ(right->next().status, IBV_WC_WR_FLUSH_ERR) << "the peer's queue pair ends too";
    expect_dead(*left);
    expect_dead(*right);
    ibv_async_event event{};
    ASSERT_EQ(right->verbs.get_async_event(right->context, &event), 0);
    EXPECT_EQ(event.event_type, IBV_EVENT_QP_ACCESS_ERR);
    EXPECT_EQ(event.element.qp, right->qp);
    right->verbs.ack_async_event(&event);
    EXPECT_EQ(right->verbs.dereg_mr(mr), 0);
  }
}

TEST_F(FabricErrors, MemoryThatIsGoneAtThePeer) {
  connect();
  const std::uint32_t key = right->mr->rkey;
  ASSERT_EQ(right->verbs.dereg_mr(right->mr), 0);
  right->mr = nullptr;
  ibv_sge sge = left->piece(0, 8);
  ibv_send_wr wr{};
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.wr.rdma = {reinterpret_cast<std::uintptr_t>(right->memory.data()), key};
  ASSERT_EQ(left->post(wr), 0);
  EXPECT_EQ(left->next().status, IBV_WC_REM_ACCESS_ERR);
}

TEST_F(FabricErrors, MemoryThatIsGoneWhenAReadIsRepeated) {
  for (const bool gone : {false, true}) {
    connect();
    fabric.repeat_reads_after(std::chrono::milliseconds(gone ? 300 : 0));
    const std::uint64_t before = fabric.counters().repeated_reads;
    right->fill(0, "once");
    ASSERT_EQ(left->post(*right, IBV_WR_RDMA_READ, 0, 4), 0);
    EXPECT_EQ(left->next().status, IBV_WC_SUCCESS);
    if (gone) {
      ASSERT_EQ(right->verbs.dereg_mr(right->mr), 0);
      right->mr = nullptr;
    }
    ASSERT_TRUE(fabric.wait_idle());
    EXPECT_EQ(fabric.counters().repeated_reads - before, gone ? 0u : 1u);
    EXPECT_EQ(left->text(0, 4), "once");
    if (!gone) continue;
    expect_dead(*right);
    ibv_async_event event{};
    ASSERT_EQ(right->verbs.get_async_event(right->context, &event), 0);
    EXPECT_EQ(event.event_type, IBV_EVENT_QP_ACCESS_ERR);
    right->verbs.ack_async_event(&event);
  }
}

TEST_F(FabricErrors, KeysCountInTheirDomainOnly) {
  for (const bool remote : {true, false}) {
    connect();
    Side& owner = remote ? *right : *left;
    ibv_pd* const other = owner.verbs.alloc_pd(owner.context);
    ibv_mr* const mr = owner.verbs.reg_mr(other, owner.memory.data(), owner.memory.size(), kAllAccess);
    ibv_sge sge = left->piece(0, 8);
    if (!remote) sge.lkey = mr->lkey;
    ibv_send_wr wr{};
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.wr.rdma = {reinterpret_cast<std::uintptr_t>(right->memory.data()), (remote ? mr : right->mr)->rkey};
    ASSERT_EQ(left->post(wr), 0);
    EXPECT_EQ(left->next().status, remote ? IBV_WC_REM_ACCESS_ERR : IBV_WC_LOC_PROT_ERR);
    EXPECT_EQ(owner.verbs.dereg_mr(mr), 0);
    EXPECT_EQ(owner.verbs.dealloc_pd(other), 0);
  }
}

TEST_F(FabricErrors, TheQueuePairMustAllowItToo) {
  connect();
  ibv_qp_attr wanted{};
  wanted.qp_access_flags = IBV_ACCESS_REMOTE_READ;
  ASSERT_EQ(right->verbs.modify_qp(right->qp, &wanted, IBV_QP_ACCESS_FLAGS), 0);
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 8), 0);
  EXPECT_EQ(left->next().status, IBV_WC_REM_ACCESS_ERR);
}

TEST_F(FabricErrors, LocalKeys) {
  for (const bool read : {false, true}) {
    connect();
    std::array<std::byte, 64> memory{};
    ibv_mr* const mr = left->verbs.reg_mr(left->pd, memory.data(), memory.size(), 0);
    ibv_sge sge{reinterpret_cast<std::uintptr_t>(memory.data()) + (read ? 0 : 60), 8, mr->lkey};
    ibv_send_wr wr{};
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
    wr.wr.rdma = {reinterpret_cast<std::uintptr_t>(right->memory.data()), right->mr->rkey};
    ASSERT_EQ(left->post(wr), 0);
    EXPECT_EQ(left->next().status, IBV_WC_LOC_PROT_ERR) << (read ? "not writable" : "behind the end");
    expect_dead(*left);
    EXPECT_EQ(left->verbs.dereg_mr(mr), 0);
  }
}

TEST_F(FabricErrors, WhatFollowsAnErrorIsFlushedInOrder) {
  connect();
  ASSERT_EQ(left->post_receive(50), 0);
  fabric.pause();
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 8, 0, 1, 0), 0);
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 8, 4090, 2, 0), 0);
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 8, 0, 3, 0), 0);
  fabric.resume();
  ibv_wc wc = left->next();
  EXPECT_EQ(wc.wr_id, 2u);
  EXPECT_EQ(wc.status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_NE(wc.byte_len, 8u) << "nothing else of it may be used";
  wc = left->next();
  EXPECT_EQ(wc.wr_id, 3u);
  EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
  wc = left->next();
  EXPECT_EQ(wc.wr_id, 50u);
  EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 8, 0, 4), 0) << "taken, and flushed";
  EXPECT_EQ(left->next().status, IBV_WC_WR_FLUSH_ERR);
  ASSERT_EQ(left->post_receive(51), 0);
  EXPECT_EQ(left->next().wr_id, 51u);
}

TEST_F(FabricErrors, NoReceiveIsTriedAgainAndCounted) {
  connect();
  fabric.set_rnr_time(std::chrono::milliseconds(1));
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 4), 0);
  EXPECT_EQ(left->next().status, IBV_WC_RNR_RETRY_EXC_ERR);
  EXPECT_EQ(fabric.counters().rnr, 3u) << "once, and rnr_retry times more";

  connect();
  fabric.set_rnr_time(std::chrono::milliseconds(1));
  fabric.pause();
  ASSERT_EQ(left->post(*right, IBV_WR_SEND, 0, 0), 0);
  ASSERT_EQ(right->post_receive(), 0);
  fabric.resume();
  EXPECT_EQ(left->next().status, IBV_WC_SUCCESS);
  EXPECT_EQ(fabric.counters().rnr, 3u);
}

TEST_F(FabricErrors, ReceiveTooSmallOrNotWritable) {
  connect();
  ASSERT_EQ(right->post_receive(1, 0, 4), 0);
  ASSERT_EQ(left->post(*right, IBV_WR_SEND, 0, 5), 0);
  EXPECT_EQ(left->next().status, IBV_WC_REM_INV_REQ_ERR);
  EXPECT_EQ(right->next().status, IBV_WC_LOC_LEN_ERR);

  connect();
  right->mr->lkey ^= 1;
  ASSERT_EQ(right->post_receive(1, 0, 8), 0);
  right->mr->lkey ^= 1;
  ASSERT_EQ(left->post(*right, IBV_WR_SEND, 0, 5), 0);
  EXPECT_EQ(left->next().status, IBV_WC_REM_OP_ERR);
  EXPECT_EQ(right->next().status, IBV_WC_LOC_PROT_ERR);
}

TEST_F(FabricErrors, APeerThatIsGoneDoesNotAnswer) {
  fabric.set_retry_time(std::chrono::milliseconds(2));
  connect();
  ASSERT_EQ(right->to_error(), 0);
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 4), 0);
  EXPECT_EQ(left->next().status, IBV_WC_RETRY_EXC_ERR);

  connect();
  ASSERT_EQ(right->verbs.destroy_qp(right->qp), 0);
  right->qp = nullptr;
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_READ, 0, 4), 0);
  EXPECT_EQ(left->next().status, IBV_WC_RETRY_EXC_ERR);
}

TEST_F(FabricErrors, ConnectionsThatDoNotFit) {
  fabric.set_retry_time(std::chrono::milliseconds(2));
  const auto attempt = [&](auto change_rtr, auto change_rts) {
    left = std::make_unique<Side>(fabric);
    right = std::make_unique<Side>(fabric, SideOptions{.device = 1});
    right->connect(*left);
    ibv_qp_attr to_receive = left->rtr(*right), to_send = Side::rts();
    change_rtr(to_receive);
    change_rts(to_send);
    EXPECT_EQ(left->to_init(), 0);
    EXPECT_EQ(left->verbs.modify_qp(left->qp, &to_receive, Side::kRtrMask), 0);
    EXPECT_EQ(left->verbs.modify_qp(left->qp, &to_send, Side::kRtsMask), 0);
    EXPECT_EQ(left->post(*right, IBV_WR_RDMA_READ, 0, 4), 0);
    return left->next().status;
  };
  const auto same = [](ibv_qp_attr&) {};
  EXPECT_EQ(attempt(same, same), IBV_WC_SUCCESS);
  EXPECT_EQ(attempt(same, [](ibv_qp_attr& a) { a.sq_psn = 8; }), IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(attempt([](ibv_qp_attr& a) { a.path_mtu = IBV_MTU_512; }, same), IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(attempt([](ibv_qp_attr& a) { a.ah_attr.grh.sgid_index = 0; }, same), IBV_WC_RETRY_EXC_ERR)
      << "RoCE v1 to v2";
  EXPECT_EQ(attempt([](ibv_qp_attr& a) { a.dest_qp_num ^= 1; }, same), IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(attempt(same, [](ibv_qp_attr& a) { a.max_rd_atomic = 0; }), IBV_WC_LOC_QP_OP_ERR);
  EXPECT_EQ(attempt(same, [](ibv_qp_attr& a) { a.max_rd_atomic = 5; }), IBV_WC_REM_INV_REQ_ERR);
  EXPECT_EQ(attempt([](ibv_qp_attr& a) { a.ah_attr.grh.hop_limit = 0; }, same), IBV_WC_SUCCESS);
  expected_violations = {"READ: max_rd_atomic is above the peer's max_dest_rd_atomic",
                         "modify_qp: hop_limit 0 goes nowhere"};
}

TEST_F(FabricErrors, DmaBufsAreMemoryUnderAnotherAddress) {
  std::vector<FakeDevice> devices{FakeDevice::make(0), FakeDevice::make(1)};
  for (FakeDevice& device : devices) device.dmabuf = true;
  FakeFabric able(std::move(devices));
  Side writer(able), owner(able, {.device = 1});
  writer.connect(owner);
  owner.connect(writer);
  const int fd = ::memfd_create("dma-buf", MFD_CLOEXEC);
  ASSERT_EQ(::ftruncate(fd, 8192), 0);
  constexpr std::uint64_t kAddress = 0x7000'0000'0000;
  ibv_mr* const mr = owner.verbs.reg_dmabuf_mr(owner.pd, 4096, 64, kAddress, fd, kAllAccess);
  ASSERT_NE(mr, nullptr);
  writer.fill(0, "device");
  ibv_sge sge = writer.piece(0, 6);
  ibv_send_wr wr{};
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.wr.rdma = {kAddress + 10, mr->rkey};
  ASSERT_EQ(writer.post(wr), 0);
  EXPECT_EQ(writer.next().status, IBV_WC_SUCCESS);
  std::array<char, 6> seen{};
  ASSERT_EQ(::pread(fd, seen.data(), seen.size(), 4096 + 10), 6);
  EXPECT_EQ(std::string(seen.data(), 6), "device");
  EXPECT_EQ(owner.verbs.dereg_mr(mr), 0);
  ::close(fd);
}

TEST_F(FabricErrors, ImplicitPagingCoversEverything) {
  std::vector<FakeDevice> devices{FakeDevice::make(0)};
  devices[0].attributes.odp_caps.general_caps = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT;
  FakeFabric able(std::move(devices));
  Side writer(able), owner(able);
  writer.connect(owner);
  owner.connect(writer);
  ibv_mr* const mr = owner.verbs.reg_mr(owner.pd, nullptr, SIZE_MAX, kAllAccess | IBV_ACCESS_ON_DEMAND);
  ASSERT_NE(mr, nullptr);
  std::array<char, 6> memory{};
  writer.fill(0, "anyone");
  ibv_sge sge = writer.piece(0, 6);
  ibv_send_wr wr{};
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.wr.rdma = {reinterpret_cast<std::uintptr_t>(memory.data()), mr->rkey};
  ASSERT_EQ(writer.post(wr), 0);
  EXPECT_EQ(writer.next().status, IBV_WC_SUCCESS);
  EXPECT_EQ(std::string(memory.data(), 6), "anyone");
  EXPECT_EQ(owner.verbs.dereg_mr(mr), 0);
}

}  // namespace
}  // namespace tf::test
