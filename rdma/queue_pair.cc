// SPDX-License-Identifier: Apache-2.0
// Creates, connects and posts to one reliable connected queue pair.
#include "rdma/queue_pair.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <string>

namespace tf::rdma {
namespace {

constexpr int kAccess = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
constexpr std::uint8_t kReceiverRetries = 6;  // never needed: a receive is always posted first
constexpr std::uint8_t kReceiverDelay = 12;   // 0.64 ms
constexpr std::uint8_t kHopLimit = 64;
constexpr std::uint32_t kPacketMask = 0xffffff;

std::uint32_t random_packet() {
  std::uint32_t value = 0;
  // Without randomness zero will do: the number only keeps an old connection's packets out.
  if (::getrandom(&value, sizeof value, GRND_NONBLOCK) != sizeof value) value = 0;
  return value & kPacketMask;
}

const char* meaning(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_RETRY_EXC_ERR: return "the peer does not answer";
    case IBV_WC_RNR_RETRY_EXC_ERR: return "the peer had no receive posted, which is a defect";
    case IBV_WC_REM_ACCESS_ERR: return "the peer denies access to that memory, or has closed";
    case IBV_WC_REM_OP_ERR: return "the peer's device failed";
    case IBV_WC_REM_INV_REQ_ERR: return "the peer's device refused the request";
    case IBV_WC_WR_FLUSH_ERR: return "the queue pair had failed before";
    case IBV_WC_LOC_PROT_ERR: return "memory of ours is not registered, which is a defect";
    default: return "the queue pair failed";
  }
}

bool is_loss(ibv_wc_status status) {
  return status == IBV_WC_RETRY_EXC_ERR || status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_OP_ERR ||
         status == IBV_WC_REM_INV_REQ_ERR || status == IBV_WC_WR_FLUSH_ERR;
}

}  // namespace

Status work_failed(const Verbs& verbs, const char* what, ibv_wc_status status) {
  std::string text = std::string("rdma: ") + what + ": " + verbs.wc_status_str(status);
  return {is_loss(status) ? Code::kPeerLost : Code::kInternal, text + " (" + meaning(status) + ")"};
}

Result<std::unique_ptr<QueuePair>> QueuePair::create(const Verbs& verbs, const Plan& plan) {
  std::unique_ptr<QueuePair> made(new QueuePair(verbs, random_packet()));
  ibv_qp_init_attr wanted{};
  wanted.send_cq = plan.sends;
  wanted.recv_cq = plan.receives;
  wanted.qp_type = IBV_QPT_RC;
  wanted.cap = {.max_send_wr = kSendDepth,
                .max_recv_wr = plan.receive_depth,
                .max_send_sge = 1,
                .max_recv_sge = 1,
                .max_inline_data = plan.inline_bytes};
  made->queue_ = verbs.create_qp(plan.pd, &wanted);
  if (made->queue_ == nullptr) return Status::from_errno("rdma: creating a queue pair", errno);
  made->inline_bytes_ = std::min(wanted.cap.max_inline_data, plan.inline_bytes);
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = plan.port;
  attributes.qp_access_flags = kAccess;
  const int error = verbs.modify_qp(made->queue_, &attributes,
                                    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  if (error != 0) return Status::from_errno("rdma: a queue pair to INIT", error);
  TF_RETURN_IF_ERROR(made->post_receives(plan.receive_depth));
  return made;
}

// Some devices refuse every post once the queue pair has failed.
Status QueuePair::post_failed(const char* what, int error) const {
  if (has_failed())
    return {Code::kPeerLost, std::string("rdma: ") + what + ": the queue pair had failed before"};
  return {Code::kInternal, Status::from_errno(std::string("rdma: ") + what, error).message()};
}

bool QueuePair::has_failed() const {
  ibv_qp_attr attributes{};
  ibv_qp_init_attr init{};
  const int error = verbs_.query_qp(queue_, &attributes, IBV_QP_STATE, &init);
  return error == 0 && attributes.qp_state == IBV_QPS_ERR;
}

QueuePair::~QueuePair() {
  if (queue_ != nullptr) verbs_.destroy_qp(queue_);
}

Status QueuePair::connect(const Route& route, const QueueAddress& peer) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = route.mtu;
  attributes.dest_qp_num = peer.number;
  attributes.rq_psn = peer.first_packet & kPacketMask;
  attributes.max_dest_rd_atomic = route.reads_in;
  attributes.min_rnr_timer = kReceiverDelay;
  attributes.ah_attr.port_num = route.port;
  attributes.ah_attr.dlid = route.peer_lid;
  if (route.global) {
    attributes.ah_attr.is_global = 1;
    attributes.ah_attr.grh.dgid = route.peer_gid;
    attributes.ah_attr.grh.sgid_index = route.gid_index;
    attributes.ah_attr.grh.hop_limit = kHopLimit;
  }
  int error = verbs_.modify_qp(queue_, &attributes,
                               IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (error != 0) return Status::from_errno("rdma: a queue pair to RTR", error);
  attributes = {};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.timeout = route.retries.ack_timeout;
  attributes.retry_cnt = route.retries.count;
  attributes.rnr_retry = kReceiverRetries;
  attributes.sq_psn = first_packet_;
  attributes.max_rd_atomic = route.reads_out;
  error = verbs_.modify_qp(queue_, &attributes,
                           IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                               IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
  if (error != 0) return Status::from_errno("rdma: a queue pair to RTS", error);
  return Status::ok();
}

void QueuePair::to_error() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  verbs_.modify_qp(queue_, &attributes, IBV_QP_STATE);  // fails only if it is in that state anyway
}

Status QueuePair::post(std::span<ibv_send_wr> chain, bool wanted, std::uint32_t cookie) {
  for (std::size_t index = 0; index < chain.size(); ++index) {
    number(chain[index]);
    chain[index].next = index + 1 < chain.size() ? &chain[index + 1] : nullptr;
  }
  if (wanted || is_signal_due()) signal(chain.back(), wanted ? cookie : 0);
  return ring(chain.front());
}

void QueuePair::note_done(std::uint64_t number) {
  if (number > done_ && number <= posted_) done_ = number;
}

Status QueuePair::post_receives(unsigned count) {
  constexpr unsigned kChain = 8;
  std::array<ibv_recv_wr, kChain> receives;
  while (count > 0) {
    const unsigned some = std::min(count, kChain);
    for (unsigned index = 0; index < some; ++index) {
      receives[index] = {};
      receives[index].wr_id = kReceiveMark;
      if (index + 1 < some) receives[index].next = &receives[index + 1];
    }
    ibv_recv_wr* bad = nullptr;
    const int error = verbs_.post_recv(queue_, receives.data(), &bad);
    if (error != 0) return post_failed("posting receives", error);
    count -= some;
  }
  return Status::ok();
}

}  // namespace tf::rdma
