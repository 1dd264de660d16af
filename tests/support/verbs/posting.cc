// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tests/support/verbs/core.h"

namespace tf::test::fake {
namespace {

constexpr unsigned kKnownFlags = IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE;

bool is_known(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM || opcode == IBV_WR_SEND ||
         opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_READ;
}

// 0 or errno: what a driver looks at before it takes a request.
int check_send(const Core& core, const Qp& qp, const ibv_send_wr& wr, const Send& send)
    TF_REQUIRES(core.mutex) {
  if (qp.now == IBV_QPS_ERR && core.refuses_in_error) return EINVAL;
  if (qp.now != IBV_QPS_RTS && qp.now != IBV_QPS_ERR) return EINVAL;
  if (!is_known(wr.opcode) || (wr.send_flags & ~kKnownFlags) != 0) return EINVAL;
  if (wr.num_sge < 0 || static_cast<unsigned>(wr.num_sge) > qp.cap.max_send_sge) return EINVAL;
  if (send.is_inline() && (send.is_read() || send.bytes > qp.cap.max_inline_data)) return EINVAL;
  if (qp.sends_posted - qp.sends_retired >= qp.cap.max_send_wr) return ENOMEM;
  return 0;
}

Send make_send(const ibv_send_wr& wr) {
  Send send;
  send.wr = wr;
  for (int i = 0; i < wr.num_sge; ++i) {
    send.bytes += wr.sg_list[i].length;
    if (wr.sg_list[i].length != 0) send.pieces.push_back(wr.sg_list[i]);
  }
  send.wr.sg_list = nullptr;
  send.wr.next = nullptr;
  return send;
}

void keep_inline_bytes(Send& send) {
  send.inline_bytes.reserve(send.bytes);
  for (const ibv_sge& piece : send.pieces) {
    const auto* const from = reinterpret_cast<const std::byte*>(piece.addr);
    send.inline_bytes.insert(send.inline_bytes.end(), from, from + piece.length);
  }
}

int post_send(ibv_qp* base, ibv_send_wr* requests, ibv_send_wr** bad) {
  auto* const qp = static_cast<Qp*>(base);
  Core& core = core_of(qp);
  const MutexLock lock(core.mutex);
  int error = 0;
  bool rung = false;
  for (ibv_send_wr* wr = requests; wr != nullptr; wr = wr->next) {
    Send send = make_send(*wr);
    error = check_send(core, *qp, *wr, send);
    if (error != 0) {
      *bad = wr;
      break;
    }
    if (send.is_inline())
      keep_inline_bytes(send);
    else
      core.count_uses(send.pieces, 1);
    if (core.watching) send.watched = look_at_source(core, *qp, send);
    send.sequence = ++qp->sends_posted;
    send.execute_at = Clock::now() + core.execution_delay + core.some_jitter();
    qp->sends.push_back(std::move(send));
    ++qp->counters.work_requests;
    ++core.totals.work_requests;
    rung = true;
  }
  if (rung) {
    ++qp->counters.doorbells;
    ++core.totals.doorbells;
    core.wake();
  }
  return error;
}

int check_receive(const Core& core, const Qp& qp, const ibv_recv_wr& wr) TF_REQUIRES(core.mutex) {
  if (qp.now == IBV_QPS_ERR && core.refuses_in_error) return EINVAL;
  if (qp.now == IBV_QPS_RESET) return EINVAL;
  if (wr.num_sge < 0 || static_cast<unsigned>(wr.num_sge) > qp.cap.max_recv_sge) return EINVAL;
  if (qp.receives_posted - qp.receives_retired >= qp.cap.max_recv_wr) return ENOMEM;
  return 0;
}

int post_recv(ibv_qp* base, ibv_recv_wr* requests, ibv_recv_wr** bad) {
  auto* const qp = static_cast<Qp*>(base);
  Core& core = core_of(qp);
  const MutexLock lock(core.mutex);
  int error = 0;
  bool rung = false;
  for (ibv_recv_wr* wr = requests; wr != nullptr; wr = wr->next) {
    error = check_receive(core, *qp, *wr);
    if (error != 0) {
      *bad = wr;
      break;
    }
    Receive receive;
    receive.wr_id = wr->wr_id;
    receive.pieces.assign(wr->sg_list, wr->sg_list + wr->num_sge);
    receive.sequence = ++qp->receives_posted;
    core.count_uses(receive.pieces, 1);
    qp->receives.push_back(std::move(receive));
    ++qp->counters.receives;
    ++core.totals.receives;
    rung = true;
  }
  if (rung) {
    ++qp->counters.receive_doorbells;
    ++core.totals.receive_doorbells;
    core.wake();
  }
  return error;
}

}  // namespace

std::vector<std::byte> look_at_source(Core& core, const Qp& qp, const Send& send) {
  std::vector<std::byte> seen;
  if (send.is_inline() || send.is_read()) return seen;
  for (const ibv_sge& piece : send.pieces) {
    const Mr* const mr = core.find_local(qp, piece, 0);
    if (mr == nullptr) return {};
    const std::uint64_t part = std::min<std::uint64_t>(piece.length, kWatchedMax - seen.size());
    seen.resize(seen.size() + part);
    read_memory(mr->at(piece.addr), part, seen.data() + seen.size() - part);
  }
  return seen;
}

void fill_posting_functions(rdma::Verbs& table) {
  table.post_send = post_send;
  table.post_recv = post_recv;
}

}  // namespace tf::test::fake
