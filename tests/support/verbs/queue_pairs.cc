// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>

#include "tests/support/verbs/core.h"

namespace tf::test::fake {
namespace {

void remove_completions(Cq& cq, std::uint32_t qp_num) {
  std::erase_if(cq.entries, [&](const Completion& entry) { return entry.wc.qp_num == qp_num; });
}

bool wants_too_much(const FakeDevice& facts, const ibv_qp_cap& cap) {
  const ibv_device_attr& limits = facts.attributes.orig_attr;
  const auto above = [](std::uint32_t wanted, int limit) { return wanted > static_cast<unsigned>(limit); };
  return above(cap.max_send_wr, limits.max_qp_wr) || above(cap.max_recv_wr, limits.max_qp_wr) ||
         above(cap.max_send_sge, limits.max_sge) || above(cap.max_recv_sge, limits.max_sge) ||
         cap.max_inline_data > facts.max_inline;
}

ibv_qp* create_qp(ibv_pd* base, ibv_qp_init_attr* attributes) {
  auto* const pd = static_cast<Pd*>(base);
  Core& core = core_of(pd);
  const MutexLock lock(core.mutex);
  if (core.refused_qps.take()) return nullptr;
  const bool right = attributes->qp_type == IBV_QPT_RC && attributes->srq == nullptr &&
                     attributes->send_cq != nullptr && attributes->recv_cq != nullptr &&
                     attributes->send_cq->context == pd->context &&
                     attributes->recv_cq->context == pd->context &&
                     !wants_too_much(static_cast<Context*>(pd->context)->of->facts, attributes->cap);
  if (!right) {
    errno = EINVAL;
    return nullptr;
  }
  auto* const qp = new Qp{};
  qp->context = pd->context;
  qp->qp_context = attributes->qp_context;
  qp->pd = pd;
  qp->send_cq = attributes->send_cq;
  qp->recv_cq = attributes->recv_cq;
  qp->qp_type = IBV_QPT_RC;
  qp->state = IBV_QPS_RESET;
  qp->qp_num = core.next_qp;
  qp->cap = attributes->cap;
  qp->all_signalled = attributes->sq_sig_all != 0;
  core.next_qp += 0x13;
  core.queue_pairs.emplace(qp->qp_num, qp);
  ++static_cast<Cq*>(qp->send_cq)->queue_pairs;
  ++static_cast<Cq*>(qp->recv_cq)->queue_pairs;
  ++pd->children;
  ++core.objects;
  return qp;
}

int destroy_qp(ibv_qp* base) {
  auto* const qp = static_cast<Qp*>(base);
  Core& core = core_of(qp);
  const MutexLock lock(core.mutex);
  if (qp->unacknowledged_async != 0) {
    core.violate("destroy_qp: " + std::to_string(qp->unacknowledged_async) +
                 " events were not acknowledged (libibverbs would wait for ever)");
    return EBUSY;
  }
  for (const Send& send : qp->sends)
    if (!send.is_inline()) core.count_uses(send.pieces, static_cast<std::size_t>(-1));
  for (const Receive& receive : qp->receives) core.count_uses(receive.pieces, static_cast<std::size_t>(-1));
  for (ibv_cq* const used : {qp->send_cq, qp->recv_cq}) {
    auto* const cq = static_cast<Cq*>(used);
    remove_completions(*cq, qp->qp_num);
    --cq->queue_pairs;
  }
  drop_events(*static_cast<Context*>(qp->context), qp);
  core.queue_pairs.erase(qp->qp_num);
  --static_cast<Pd*>(qp->pd)->children;
  --core.objects;
  delete qp;
  core.idle.notify_all();
  return 0;
}

// --- States ----------------------------------------------------------------------------------------------

struct Transition {
  ibv_qp_state from;
  ibv_qp_state to;
  int required;  // beside IBV_QP_STATE
  int optional;
};

constexpr int kRtrOptional = IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH;
constexpr int kRtsOptional =
    IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;
constexpr Transition kTransitions[] = {
    {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0},
    {IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
    {IBV_QPS_INIT, IBV_QPS_RTR,
     IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
         IBV_QP_MIN_RNR_TIMER,
     kRtrOptional},
    {IBV_QPS_RTR, IBV_QPS_RTS,
     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
     kRtsOptional},
    {IBV_QPS_RTS, IBV_QPS_RTS, 0, kRtsOptional},
};

bool is_allowed(ibv_qp_state from, ibv_qp_state to, int mask) {
  if (to == IBV_QPS_ERR) return (mask & ~(IBV_QP_STATE | IBV_QP_CUR_STATE)) == 0;
  for (const Transition& known : kTransitions) {
    if (known.from != from || known.to != to) continue;
    const int given = mask & ~IBV_QP_STATE;
    return (given & known.required) == known.required && (given & ~(known.required | known.optional)) == 0;
  }
  return false;
}

bool is_valid_path(const FakeDevice& facts, const ibv_qp_attr& wanted, std::uint8_t port_num) {
  const ibv_ah_attr& path = wanted.ah_attr;
  if (path.port_num != port_num) return false;
  const FakePort& port = facts.ports[port_num - 1u];
  if (wanted.path_mtu < IBV_MTU_256 || wanted.path_mtu > port.active_mtu) return false;
  if (path.is_global == 0) return port.link_layer == IBV_LINK_LAYER_INFINIBAND;
  return std::any_of(port.gids.begin(), port.gids.end(),
                     [&](const FakeGid& gid) { return gid.index == path.grh.sgid_index; });
}

// What of `wanted` the hardware would refuse.
bool is_valid(const FakeDevice& facts, const Qp& qp, const ibv_qp_attr& wanted, int mask) {
  const ibv_device_attr& limits = facts.attributes.orig_attr;
  if ((mask & IBV_QP_PORT) != 0 && (wanted.port_num == 0 || wanted.port_num > facts.ports.size()))
    return false;
  if ((mask & IBV_QP_PKEY_INDEX) != 0 && wanted.pkey_index != 0) return false;
  if ((mask & IBV_QP_AV) != 0 && !is_valid_path(facts, wanted, qp.set.port_num)) return false;
  if ((mask & (IBV_QP_RQ_PSN)) != 0 && wanted.rq_psn > 0xffffff) return false;
  if ((mask & (IBV_QP_SQ_PSN)) != 0 && wanted.sq_psn > 0xffffff) return false;
  if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) != 0 && wanted.max_dest_rd_atomic > limits.max_qp_rd_atom)
    return false;
  if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0 && wanted.max_rd_atomic > limits.max_qp_init_rd_atom)
    return false;
  if ((mask & IBV_QP_MIN_RNR_TIMER) != 0 && wanted.min_rnr_timer > 31) return false;
  if ((mask & IBV_QP_TIMEOUT) != 0 && wanted.timeout > 31) return false;
  if ((mask & IBV_QP_RETRY_CNT) != 0 && wanted.retry_cnt > 7) return false;
  return (mask & IBV_QP_RNR_RETRY) == 0 || wanted.rnr_retry <= 7;
}

void keep(ibv_qp_attr& set, const ibv_qp_attr& wanted, int mask) {
  if ((mask & IBV_QP_PKEY_INDEX) != 0) set.pkey_index = wanted.pkey_index;
  if ((mask & IBV_QP_PORT) != 0) set.port_num = wanted.port_num;
  if ((mask & IBV_QP_ACCESS_FLAGS) != 0) set.qp_access_flags = wanted.qp_access_flags;
  if ((mask & IBV_QP_AV) != 0) set.ah_attr = wanted.ah_attr;
  if ((mask & IBV_QP_PATH_MTU) != 0) set.path_mtu = wanted.path_mtu;
  if ((mask & IBV_QP_DEST_QPN) != 0) set.dest_qp_num = wanted.dest_qp_num;
  if ((mask & IBV_QP_RQ_PSN) != 0) set.rq_psn = wanted.rq_psn;
  if ((mask & IBV_QP_SQ_PSN) != 0) set.sq_psn = wanted.sq_psn;
  if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) != 0) set.max_dest_rd_atomic = wanted.max_dest_rd_atomic;
  if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0) set.max_rd_atomic = wanted.max_rd_atomic;
  if ((mask & IBV_QP_MIN_RNR_TIMER) != 0) set.min_rnr_timer = wanted.min_rnr_timer;
  if ((mask & IBV_QP_TIMEOUT) != 0) set.timeout = wanted.timeout;
  if ((mask & IBV_QP_RETRY_CNT) != 0) set.retry_cnt = wanted.retry_cnt;
  if ((mask & IBV_QP_RNR_RETRY) != 0) set.rnr_retry = wanted.rnr_retry;
}

int modify_qp(ibv_qp* base, ibv_qp_attr* attributes, int mask) {
  auto* const qp = static_cast<Qp*>(base);
  Core& core = core_of(qp);
  const MutexLock lock(core.mutex);
  const ibv_qp_state to = (mask & IBV_QP_STATE) != 0 ? attributes->qp_state : qp->now;
  if ((mask & IBV_QP_CUR_STATE) != 0 && attributes->cur_qp_state != qp->now) return EINVAL;
  if (!is_allowed(qp->now, to, mask)) return EINVAL;
  if (!is_valid(static_cast<Context*>(qp->context)->of->facts, *qp, *attributes, mask)) return EINVAL;
  if ((mask & IBV_QP_AV) != 0 && attributes->ah_attr.is_global != 0 && attributes->ah_attr.grh.hop_limit == 0)
    core.violate("modify_qp: hop_limit 0 goes nowhere");
  keep(qp->set, *attributes, mask);
  qp->state = to;
  if (to == IBV_QPS_ERR)
    core.to_error(*qp);
  else
    qp->now = to;
  core.wake();
  return 0;
}

int query_qp(ibv_qp* base, ibv_qp_attr* attributes, int /*mask*/, ibv_qp_init_attr* init) {
  auto* const qp = static_cast<Qp*>(base);
  Core& core = core_of(qp);
  const MutexLock lock(core.mutex);
  *attributes = qp->set;
  attributes->qp_state = attributes->cur_qp_state = qp->now;
  attributes->cap = qp->cap;
  qp->state = qp->now;
  if (init == nullptr) return 0;
  *init = ibv_qp_init_attr{};
  init->qp_context = qp->qp_context;
  init->send_cq = qp->send_cq;
  init->recv_cq = qp->recv_cq;
  init->cap = qp->cap;
  init->qp_type = IBV_QPT_RC;
  init->sq_sig_all = qp->all_signalled ? 1 : 0;
  return 0;
}

}  // namespace

Qp* Core::find_qp(std::uint32_t number) {
  const auto found = queue_pairs.find(number);
  return found == queue_pairs.end() ? nullptr : found->second;
}

void Core::to_error(Qp& qp) {
  qp.now = IBV_QPS_ERR;  // the NIC flushes
  wake();
}

void fill_queue_functions(rdma::Verbs& table) {
  table.create_qp = create_qp;
  table.modify_qp = modify_qp;
  table.query_qp = query_qp;
  table.destroy_qp = destroy_qp;
}

}  // namespace tf::test::fake
