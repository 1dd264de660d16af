// SPDX-License-Identifier: Apache-2.0
// Side: one end of a connection, over FakeFabric or over real verbs, with everything that it takes.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/verbs/fake_fabric.h"

namespace tf::test {

inline constexpr int kAllAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;

struct SideOptions {
  int device = 0;
  int cq_entries = 64;
  bool channel = false;
  ibv_qp_cap cap{
      .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 4, .max_recv_sge = 4, .max_inline_data = 64};
  bool all_signalled = false;
};

class Side {
 public:
  explicit Side(FakeFabric& fabric, SideOptions options = {}) : Side(*fabric.verbs(), options) {}
  // Also over the library's table.
  explicit Side(const rdma::Verbs& table, SideOptions options = {}) : verbs(table) {
    ibv_device** const list = verbs.get_device_list(nullptr);
    context = verbs.open_device(list[options.device]);
    verbs.free_device_list(list);
    pd = verbs.alloc_pd(context);
    if (options.channel) channel = verbs.create_comp_channel(context);
    cq = verbs.create_cq(context, options.cq_entries, this, channel, 0);
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq;
    init.cap = options.cap;
    init.qp_type = IBV_QPT_RC;
    init.sq_sig_all = options.all_signalled ? 1 : 0;
    qp = verbs.create_qp(pd, &init);
    memory.resize(4096);
    mr = verbs.reg_mr(pd, memory.data(), memory.size(), kAllAccess);
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;
  ~Side() {
    if (qp != nullptr) {
      EXPECT_EQ(verbs.destroy_qp(qp), 0);
    }
    if (mr != nullptr) {
      EXPECT_EQ(verbs.dereg_mr(mr), 0);
    }
    EXPECT_EQ(verbs.destroy_cq(cq), 0);
    if (channel != nullptr) {
      EXPECT_EQ(verbs.destroy_comp_channel(channel), 0);
    }
    EXPECT_EQ(verbs.dealloc_pd(pd), 0);
    EXPECT_EQ(verbs.close_device(context), 0);
  }

  // The one with an IPv4 address, of RoCE v2.
  ibv_gid_entry gid() const {
    for (std::uint32_t i = 0; i < 256; ++i) {
      ibv_gid_entry entry{};
      if (verbs.query_gid_ex(context, 1, i, &entry) != 0) continue;
      if (entry.gid_type == IBV_GID_TYPE_ROCE_V2 && entry.gid.raw[10] == 0xff) return entry;
    }
    ADD_FAILURE() << "no such GID";
    return {};
  }

  int to_init() {
    ibv_qp_attr wanted{};
    wanted.qp_state = IBV_QPS_INIT;
    wanted.port_num = 1;
    wanted.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
    return verbs.modify_qp(qp, &wanted, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  }

  static constexpr int kRtrMask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  ibv_qp_attr rtr(const Side& peer) const {
    ibv_qp_attr wanted{};
    wanted.qp_state = IBV_QPS_RTR;
    wanted.path_mtu = IBV_MTU_1024;
    wanted.dest_qp_num = peer.qp->qp_num;
    wanted.rq_psn = 7;
    wanted.max_dest_rd_atomic = 4;
    wanted.min_rnr_timer = 12;
    wanted.ah_attr.is_global = 1;
    wanted.ah_attr.grh.dgid = peer.gid().gid;
    wanted.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(gid().gid_index);
    wanted.ah_attr.grh.hop_limit = 64;
    wanted.ah_attr.port_num = 1;
    return wanted;
  }

  static constexpr int kRtsMask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
  static ibv_qp_attr rts() {
    ibv_qp_attr wanted{};
    wanted.qp_state = IBV_QPS_RTS;
    wanted.timeout = 14;
    wanted.retry_cnt = 6;
    wanted.rnr_retry = 2;
    wanted.sq_psn = 7;
    wanted.max_rd_atomic = 4;
    return wanted;
  }

  void connect(const Side& peer) {
    ibv_qp_attr to_receive = rtr(peer), to_send = rts();
    ASSERT_EQ(to_init(), 0);
    ASSERT_EQ(verbs.modify_qp(qp, &to_receive, kRtrMask), 0);
    ASSERT_EQ(verbs.modify_qp(qp, &to_send, kRtsMask), 0);
  }

  int to_error() {
    ibv_qp_attr wanted{};
    wanted.qp_state = IBV_QPS_ERR;
    return verbs.modify_qp(qp, &wanted, IBV_QP_STATE);
  }

  ibv_sge piece(std::size_t offset, std::size_t bytes) const {
    return {reinterpret_cast<std::uintptr_t>(memory.data() + offset), static_cast<std::uint32_t>(bytes),
            mr->lkey};
  }

  // One signalled request with one piece of our memory and as many bytes at `to` of the peer's.
  int post(const Side& peer, ibv_wr_opcode opcode, std::size_t offset, std::size_t bytes, std::size_t to = 0,
           std::uint64_t id = 1, unsigned flags = IBV_SEND_SIGNALED, std::uint32_t immediate = 0) {
    ibv_sge sge = piece(offset, bytes);
    ibv_send_wr wr{};
    wr.wr_id = id;
    wr.sg_list = &sge;
    wr.num_sge = bytes == 0 ? 0 : 1;
    wr.opcode = opcode;
    wr.send_flags = flags;
    wr.imm_data = immediate;
    wr.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(peer.memory.data() + to);
    wr.wr.rdma.rkey = peer.mr->rkey;
    return post(wr);
  }
  int post(ibv_send_wr& wr) {
    ibv_send_wr* bad = nullptr;
    return verbs.post_send(qp, &wr, &bad);
  }

  int post_receive(std::uint64_t id = 100, std::size_t offset = 0, std::size_t bytes = 0) {
    ibv_sge sge = piece(offset, bytes);
    ibv_recv_wr wr{};
    wr.wr_id = id;
    wr.sg_list = &sge;
    wr.num_sge = bytes == 0 ? 0 : 1;
    ibv_recv_wr* bad = nullptr;
    return verbs.post_recv(qp, &wr, &bad);
  }

  // Polls until there is one; a failed test after 10 s.
  ibv_wc next() {
    ibv_wc wc{};
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (std::chrono::steady_clock::now() < limit) {
      const int count = verbs.poll_cq(cq, 1, &wc);
      if (count != 0) {
        EXPECT_EQ(count, 1);
        return wc;
      }
      std::this_thread::yield();
    }
    ADD_FAILURE() << "no completion";
    return wc;
  }
  bool is_empty() {
    ibv_wc wc{};
    return verbs.poll_cq(cq, 1, &wc) == 0;
  }

  void fill(std::size_t offset, const std::string& text) {
    std::memcpy(memory.data() + offset, text.data(), text.size());
  }
  std::string text(std::size_t offset, std::size_t bytes) const {
    return {reinterpret_cast<const char*>(memory.data()) + offset, bytes};
  }

  const rdma::Verbs& verbs;
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_comp_channel* channel = nullptr;
  ibv_cq* cq = nullptr;
  ibv_qp* qp = nullptr;
  ibv_mr* mr = nullptr;
  std::vector<std::byte> memory;
};

// Two sides, connected, and no violation at the end.
class FabricTest : public ::testing::Test {
 protected:
  void connect(SideOptions left_options = {}, SideOptions right_options = {.device = 1}) {
    left.reset();
    right.reset();
    left = std::make_unique<Side>(fabric, left_options);
    right = std::make_unique<Side>(fabric, right_options);
    left->connect(*right);
    right->connect(*left);
  }
  void TearDown() override {
    left.reset();
    right.reset();
    EXPECT_EQ(fabric.violations(), expected_violations);
    EXPECT_EQ(fabric.live_objects(), 0u);
  }

  FakeFabric fabric;
  std::unique_ptr<Side> left, right;
  std::vector<std::string> expected_violations;
};

}  // namespace tf::test
