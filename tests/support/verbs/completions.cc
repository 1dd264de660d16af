// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>

#include "tests/support/verbs/core.h"

namespace tf::test::fake {
namespace {

ibv_comp_channel* create_comp_channel(ibv_context* base) {
  auto* const context = static_cast<Context*>(base);
  auto* const channel = new Channel{};
  channel->context = base;
  channel->fd = make_event_fd();
  const MutexLock lock(context->core->mutex);
  ++context->children;
  ++context->core->objects;
  return channel;
}

int destroy_comp_channel(ibv_comp_channel* base) {
  auto* const channel = static_cast<Channel*>(base);
  Core& core = core_of(channel);
  const MutexLock lock(core.mutex);
  if (channel->queues != 0) {
    core.violate("destroy_comp_channel: " + std::to_string(channel->queues) + " completion queues use it");
    return EBUSY;
  }
  --static_cast<Context*>(channel->context)->children;
  --core.objects;
  ::close(channel->fd);
  delete channel;
  return 0;
}

ibv_cq* create_cq(ibv_context* base, int entries, void* user, ibv_comp_channel* channel, int vector) {
  auto* const context = static_cast<Context*>(base);
  Core& core = *context->core;
  const MutexLock lock(core.mutex);
  if (core.refused_cqs.take()) return nullptr;
  const bool right = entries > 0 && entries <= context->of->facts.attributes.orig_attr.max_cqe &&
                     vector >= 0 && vector < base->num_comp_vectors &&
                     (channel == nullptr || channel->context == base);
  if (!right) {
    errno = EINVAL;
    return nullptr;
  }
  auto* const cq = new Cq{};
  cq->context = base;
  cq->channel = channel;
  cq->cq_context = user;
  cq->cqe = entries;
  cq->capacity = static_cast<std::size_t>(entries);
  ++context->children;
  ++core.objects;
  if (channel != nullptr) ++static_cast<Channel*>(channel)->queues;
  return cq;
}

int destroy_cq(ibv_cq* base) {
  auto* const cq = static_cast<Cq*>(base);
  Core& core = core_of(cq);
  const MutexLock lock(core.mutex);
  if (cq->queue_pairs != 0) {
    core.violate("destroy_cq: queue pairs use it");
    return EBUSY;
  }
  if (cq->unacknowledged + cq->unacknowledged_async != 0) {
    core.violate("destroy_cq: " + std::to_string(cq->unacknowledged + cq->unacknowledged_async) +
                 " events were not acknowledged (libibverbs would wait for ever)");
    return EBUSY;
  }
  if (cq->channel != nullptr) {
    auto* const channel = static_cast<Channel*>(cq->channel);
    --channel->queues;
    std::erase_if(channel->events, [&](const Cq* of) {
      if (of == cq) take_from_event_fd(channel->fd);
      return of == cq;
    });
  }
  auto* const context = static_cast<Context*>(cq->context);
  drop_events(*context, cq);
  --context->children;
  --core.objects;
  delete cq;
  return 0;
}

int get_cq_event(ibv_comp_channel* base, ibv_cq** cq, void** user) {
  auto* const channel = static_cast<Channel*>(base);
  for (;;) {
    if (!wait_event_fd(channel->fd)) return -1;
    const MutexLock lock(core_of(channel).mutex);
    if (channel->events.empty()) continue;  // somebody else took it
    Cq* const of = channel->events.front();
    channel->events.pop_front();
    take_from_event_fd(channel->fd);
    ++of->unacknowledged;
    *cq = of;
    *user = of->cq_context;
    return 0;
  }
}

void ack_cq_events(ibv_cq* base, unsigned count) {
  auto* const cq = static_cast<Cq*>(base);
  Core& core = core_of(cq);
  const MutexLock lock(core.mutex);
  if (count > cq->unacknowledged) {
    core.violate("ack_cq_events: more events than were got");
    count = static_cast<unsigned>(cq->unacknowledged);
  }
  cq->unacknowledged -= count;
}

int req_notify_cq(ibv_cq* base, int solicited_only) {
  auto* const cq = static_cast<Cq*>(base);
  Core& core = core_of(cq);
  const MutexLock lock(core.mutex);
  ++core.totals.armings;
  if (cq->channel == nullptr) core.violate("req_notify_cq: the queue has no channel");
  if (solicited_only == 0)
    cq->armed = Cq::Armed::kNext;
  else if (cq->armed == Cq::Armed::kNo)
    cq->armed = Cq::Armed::kSolicited;
  return 0;
}

int poll_cq(ibv_cq* base, int entries, ibv_wc* completions) {
  auto* const cq = static_cast<Cq*>(base);
  Core& core = core_of(cq);
  const MutexLock lock(core.mutex);
  ++core.totals.polls;
  if (cq->dead) return -1;
  int count = 0;
  for (; count < entries && !cq->entries.empty(); ++count) {
    const Completion& entry = cq->entries.front();
    completions[count] = entry.wc;
    if (Qp* const qp = core.find_qp(entry.wc.qp_num); qp != nullptr)
      (entry.of_receive ? qp->receives_retired : qp->sends_retired) = entry.sequence;
    cq->entries.pop_front();
  }
  return count;
}

const char* wc_status_str(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_SUCCESS: return "success";
    case IBV_WC_LOC_LEN_ERR: return "local length error";
    case IBV_WC_LOC_QP_OP_ERR: return "local QP operation error";
    case IBV_WC_LOC_PROT_ERR: return "local protection error";
    case IBV_WC_WR_FLUSH_ERR: return "Work Request Flushed Error";
    case IBV_WC_REM_INV_REQ_ERR: return "remote invalid request error";
    case IBV_WC_REM_ACCESS_ERR: return "remote access error";
    case IBV_WC_REM_OP_ERR: return "remote operation error";
    case IBV_WC_RETRY_EXC_ERR: return "transport retry counter exceeded";
    case IBV_WC_RNR_RETRY_EXC_ERR: return "RNR retry counter exceeded";
    default: return "another error";
  }
}

// What real devices leave in the members of a failed completion that the manual page calls invalid.
void spoil(ibv_wc& wc) {
  wc.opcode = static_cast<ibv_wc_opcode>(0x6f);
  wc.byte_len = 0xdeadbeef;
  wc.imm_data = 0xdeadbeef;
  wc.wc_flags = 0;
  wc.vendor_err = 0x51;
}

ibv_wc_opcode completed_opcode(ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_RDMA_READ: return IBV_WC_RDMA_READ;
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM: return IBV_WC_SEND;
    default: return IBV_WC_RDMA_WRITE;
  }
}

}  // namespace

void Core::push(Cq& cq, Qp& qp, Completion completion) {
  if (cq.dead) return;
  if (cq.entries.size() >= cq.capacity) {
    violate("completion queue of " + std::to_string(cq.capacity) + " entries overflows");
    cq.dead = true;
    ibv_async_event event{};
    event.event_type = IBV_EVENT_CQ_ERR;
    event.element.cq = &cq;
    raise(*static_cast<Context*>(cq.context), event);
    for (const auto& [number, other] : queue_pairs)
      if (other->send_cq == &cq || other->recv_cq == &cq) to_error(*other);
    return;
  }
  completion.wc.qp_num = qp.qp_num;
  const bool failed = completion.wc.status != IBV_WC_SUCCESS;
  if (failed) spoil(completion.wc);
  const bool rings =
      cq.armed == Cq::Armed::kNext || (cq.armed == Cq::Armed::kSolicited && (completion.solicited || failed));
  cq.entries.push_back(completion);
  ++(completion.of_receive ? qp.counters.receive_completions : qp.counters.completions);
  ++(completion.of_receive ? totals.receive_completions : totals.completions);
  const bool silent = silent_flushes && completion.of_receive && completion.wc.status == IBV_WC_WR_FLUSH_ERR;
  if (!rings || silent) return;
  cq.armed = Cq::Armed::kNo;
  auto* const channel = static_cast<Channel*>(cq.channel);
  if (channel == nullptr) return;
  ++totals.events;
  channel->events.push_back(&cq);
  signal_event_fd(channel->fd);
}

void Core::complete_send(Qp& qp, const Send& send, ibv_wc_status status) {
  if (!send.is_inline()) count_uses(send.pieces, static_cast<std::size_t>(-1));
  const bool signalled = qp.all_signalled || (send.wr.send_flags & IBV_SEND_SIGNALED) != 0;
  if (!signalled && status == IBV_WC_SUCCESS) return;
  Completion completion;
  completion.sequence = send.sequence;
  completion.wc.wr_id = send.wr.wr_id;
  completion.wc.status = status;
  completion.wc.opcode = completed_opcode(send.wr.opcode);
  completion.wc.byte_len = send.is_read() ? static_cast<std::uint32_t>(send.bytes) : 0xdeadbeef;
  push(*static_cast<Cq*>(qp.send_cq), qp, completion);
}

void Core::complete_receive(Qp& qp, const Receive& receive, ibv_wc wc, bool solicited) {
  count_uses(receive.pieces, static_cast<std::size_t>(-1));
  Completion completion;
  completion.of_receive = true;
  completion.solicited = solicited;
  completion.sequence = receive.sequence;
  completion.wc = wc;
  completion.wc.wr_id = receive.wr_id;
  push(*static_cast<Cq*>(qp.recv_cq), qp, completion);
}

void fill_completion_functions(rdma::Verbs& table) {
  table.create_comp_channel = create_comp_channel;
  table.destroy_comp_channel = destroy_comp_channel;
  table.create_cq = create_cq;
  table.destroy_cq = destroy_cq;
  table.get_cq_event = get_cq_event;
  table.ack_cq_events = ack_cq_events;
  table.req_notify_cq = req_notify_cq;
  table.poll_cq = poll_cq;
  table.wc_status_str = wc_status_str;
}

}  // namespace tf::test::fake
