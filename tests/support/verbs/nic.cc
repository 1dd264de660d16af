// SPDX-License-Identifier: Apache-2.0
// The NIC's thread: executes, completes and flushes what was posted.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "tests/support/verbs/core.h"

namespace tf::test::fake {
namespace {

constexpr std::uint8_t kForEver = 7;      // of retry_cnt (as Linux's soft-RoCE has it) and rnr_retry
constexpr std::uint64_t kWordsUpTo = 64;  // bytes that are moved as words, see fake_fabric.h
constexpr std::uint64_t kSeenInPartsUpTo = 64 << 10;  // bytes that may be looked at while they are written

void look_again(Turn& turn, Clock::time_point at) { turn.next = std::min(turn.next.value_or(at), at); }

// --- Bytes -----------------------------------------------------------------------------------------------

bool is_words(const std::byte* memory, std::uint64_t bytes) {
  return bytes <= kWordsUpTo && bytes % 8 == 0 && reinterpret_cast<std::uintptr_t>(memory) % 8 == 0;
}

std::vector<std::byte> gather(Core& core, const Qp& qp, const Send& send) TF_REQUIRES(core.mutex) {
  if (send.is_inline()) return send.inline_bytes;
  std::vector<std::byte> bytes(send.bytes);
  std::uint64_t done = 0;
  for (const ibv_sge& piece : send.pieces) {
    read_memory(core.find_local(qp, piece, 0)->at(piece.addr), piece.length, bytes.data() + done);
    done += piece.length;
  }
  return bytes;
}

// `bytes` into as many of `pieces` as they fill.
void scatter(Core& core, const Qp& qp, const std::vector<ibv_sge>& pieces,
             const std::vector<std::byte>& bytes) TF_REQUIRES(core.mutex) {
  std::uint64_t done = 0;
  for (const ibv_sge& piece : pieces) {
    const std::uint64_t part = std::min<std::uint64_t>(piece.length, bytes.size() - done);
    if (part == 0) break;
    write_memory(core.find_local(qp, piece, IBV_ACCESS_LOCAL_WRITE)->at(piece.addr), part,
                 bytes.data() + done);
    done += part;
  }
}

bool are_allowed(Core& core, const Qp& qp, const std::vector<ibv_sge>& pieces, int access)
    TF_REQUIRES(core.mutex) {
  return std::all_of(pieces.begin(), pieces.end(), [&](const ibv_sge& piece) TF_REQUIRES(core.mutex) {
    return piece.length == 0 || core.find_local(qp, piece, access) != nullptr;
  });
}

// --- The peer --------------------------------------------------------------------------------------------

const FakeDevice& facts_of(const Qp& qp) { return static_cast<Context*>(qp.context)->of->facts; }
const FakePort& port_of(const Qp& qp) { return facts_of(qp).ports[qp.set.port_num - 1u]; }

const FakeGid* own_gid(const Qp& qp) {
  for (const FakeGid& gid : port_of(qp).gids)
    if (gid.index == qp.set.ah_attr.grh.sgid_index) return &gid;
  return nullptr;
}

bool leads_to(const Qp& qp, const FakePort& port) {
  if (port.link_layer != port_of(qp).link_layer) return false;
  const ibv_ah_attr& path = qp.set.ah_attr;
  if (path.is_global == 0) return path.dlid != 0 && path.dlid == port.lid;
  const FakeGid* const own = own_gid(qp);
  return own != nullptr && std::any_of(port.gids.begin(), port.gids.end(), [&](const FakeGid& gid) {
           return gid.type == own->type && std::memcmp(gid.gid.raw, path.grh.dgid.raw, 16) == 0;
         });
}

// Whether what `qp` sends arrives at `peer`.
bool reaches(const Core& core, const Qp& qp, const Qp& peer) TF_REQUIRES(core.mutex) {
  const std::string& from = facts_of(qp).name;
  const std::string& to = facts_of(peer).name;
  return qp.set.dest_qp_num == peer.qp_num && leads_to(qp, port_of(peer)) &&
         port_of(qp).state == IBV_PORT_ACTIVE && !core.cuts.contains(std::minmax(from, to));
}

// The queue pair that answers, or null.
Qp* find_responder(Core& core, Qp& qp) TF_REQUIRES(core.mutex) {
  Qp* const peer = core.find_qp(qp.set.dest_qp_num);
  if (peer == nullptr || (peer->now != IBV_QPS_RTR && peer->now != IBV_QPS_RTS)) return nullptr;
  const bool answers = reaches(core, qp, *peer) && reaches(core, *peer, qp) &&
                       qp.set.sq_psn == peer->set.rq_psn && qp.set.path_mtu == peer->set.path_mtu;
  return answers ? peer : nullptr;
}

void fail_responder(Core& core, Qp& responder, ibv_event_type type) TF_REQUIRES(core.mutex) {
  core.to_error(responder);
  core.raise(type, responder);
}

// --- One request -----------------------------------------------------------------------------------------

// What came of trying: a status, or nothing yet.
using Outcome = std::optional<ibv_wc_status>;

std::optional<ibv_wc_status> take_fault(Core& core, const Send& send) TF_REQUIRES(core.mutex) {
  for (auto fault = core.faults.begin(); fault != core.faults.end(); ++fault) {
    if (fault->opcode != send.wr.opcode) continue;
    if (fault->skip-- != 0) return std::nullopt;
    const ibv_wc_status status = fault->status;
    core.faults.erase(fault);
    return status;
  }
  return std::nullopt;
}

ibv_wc_status check_locally(Core& core, const Qp& qp, const Send& send) TF_REQUIRES(core.mutex) {
  if (send.is_read() && qp.set.max_rd_atomic == 0) return IBV_WC_LOC_QP_OP_ERR;
  if (send.bytes > port_of(qp).max_message) return IBV_WC_LOC_LEN_ERR;
  const int access = send.is_read() ? IBV_ACCESS_LOCAL_WRITE : 0;
  if (!send.is_inline() && !are_allowed(core, qp, send.pieces, access)) return IBV_WC_LOC_PROT_ERR;
  return IBV_WC_SUCCESS;
}

Outcome wait_for_peer(Core& core, const Qp& qp, Send& send, Clock::time_point now) TF_REQUIRES(core.mutex) {
  if (!send.silent_since) send.silent_since = now;
  if (qp.set.retry_cnt == kForEver || now - *send.silent_since < core.retry_time) return std::nullopt;
  return IBV_WC_RETRY_EXC_ERR;
}

Outcome wait_for_receive(Core& core, Qp& qp, Send& send, Clock::time_point now) TF_REQUIRES(core.mutex) {
  ++qp.counters.rnr;
  ++core.totals.rnr;
  if (qp.set.rnr_retry != kForEver && send.rnr_tries++ >= qp.set.rnr_retry) return IBV_WC_RNR_RETRY_EXC_ERR;
  send.execute_at = now + core.rnr_time;
  return std::nullopt;
}

ibv_wc_status read(Core& core, Qp& qp, const Send& send, Qp& responder) TF_REQUIRES(core.mutex) {
  if (qp.set.max_rd_atomic > responder.set.max_dest_rd_atomic) {
    core.violate("READ: max_rd_atomic is above the peer's max_dest_rd_atomic");
    fail_responder(core, responder, IBV_EVENT_QP_REQ_ERR);
    return IBV_WC_REM_INV_REQ_ERR;
  }
  if (send.bytes == 0) return IBV_WC_SUCCESS;
  const auto& remote = send.wr.wr.rdma;
  Mr* const mr =
      core.find_remote(responder, remote.rkey, remote.remote_addr, send.bytes, IBV_ACCESS_REMOTE_READ);
  if (mr == nullptr) {
    fail_responder(core, responder, IBV_EVENT_QP_ACCESS_ERR);
    return IBV_WC_REM_ACCESS_ERR;
  }
  std::vector<std::byte> bytes(send.bytes);
  read_memory(mr->at(remote.remote_addr), send.bytes, bytes.data());
  scatter(core, qp, send.pieces, bytes);
  qp.counters.bytes_read += send.bytes;
  core.totals.bytes_read += send.bytes;
  if (core.repeat_delay)
    core.repeats.push_back({.requester = qp.qp_num,
                            .responder = responder.qp_num,
                            .key = remote.rkey,
                            .address = remote.remote_addr,
                            .bytes = send.bytes,
                            .at = Clock::now() + *core.repeat_delay});
  return IBV_WC_SUCCESS;
}

// What two queue pairs that are still connected have to repeat by `now`.
void repeat_reads(Core& core, Clock::time_point now, Turn& turn) TF_REQUIRES(core.mutex) {
  for (; !core.repeats.empty() && core.repeats.front().at <= now; turn.did_something = true) {
    const Repeat again = core.repeats.front();
    core.repeats.pop_front();
    Qp* const qp = core.find_qp(again.requester);
    if (qp == nullptr || qp->now != IBV_QPS_RTS) continue;
    Qp* const responder = find_responder(core, *qp);
    if (responder == nullptr || responder->qp_num != again.responder) continue;
    if (core.find_remote(*responder, again.key, again.address, again.bytes, IBV_ACCESS_REMOTE_READ) !=
        nullptr)
      ++core.totals.repeated_reads;
    else
      fail_responder(core, *responder, IBV_EVENT_QP_ACCESS_ERR);
  }
  if (!core.repeats.empty()) look_again(turn, core.repeats.front().at);
}

// The first receive, out of the queue and completed.
void use_receive(Core& core, const Qp& qp, const Send& send, Qp& responder, ibv_wc_status status)
    TF_REQUIRES(core.mutex) {
  const Receive receive = responder.receives.front();
  responder.receives.pop_front();
  ibv_wc wc{};
  wc.status = status;
  wc.opcode = send.wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
  wc.byte_len = static_cast<std::uint32_t>(send.bytes);
  wc.src_qp = qp.qp_num;
  wc.imm_data = 0xdeadbeef;
  if (send.carries_immediate()) {
    wc.imm_data = send.wr.imm_data;
    wc.wc_flags = IBV_WC_WITH_IMM;
  }
  core.complete_receive(responder, receive, wc, (send.wr.send_flags & IBV_SEND_SOLICITED) != 0);
}

ibv_wc_status write(Core& core, Qp& qp, const Send& send, Qp& responder) TF_REQUIRES(core.mutex) {
  const auto& remote = send.wr.wr.rdma;
  if (send.bytes != 0) {
    Mr* const mr =
        core.find_remote(responder, remote.rkey, remote.remote_addr, send.bytes, IBV_ACCESS_REMOTE_WRITE);
    if (mr == nullptr) {
      fail_responder(core, responder, IBV_EVENT_QP_ACCESS_ERR);
      return IBV_WC_REM_ACCESS_ERR;
    }
    write_memory(mr->at(remote.remote_addr), send.bytes, gather(core, qp, send).data());
  }
  if (send.takes_receive()) use_receive(core, qp, send, responder, IBV_WC_SUCCESS);
  return IBV_WC_SUCCESS;
}

ibv_wc_status deliver(Core& core, Qp& qp, const Send& send, Qp& responder) TF_REQUIRES(core.mutex) {
  const std::vector<ibv_sge>& pieces = responder.receives.front().pieces;
  std::uint64_t room = 0;
  for (const ibv_sge& piece : pieces) room += piece.length;
  ibv_wc_status status = IBV_WC_SUCCESS, at_receiver = IBV_WC_SUCCESS;
  if (room < send.bytes) {
    status = IBV_WC_REM_INV_REQ_ERR;
    at_receiver = IBV_WC_LOC_LEN_ERR;
  } else if (!are_allowed(core, responder, pieces, IBV_ACCESS_LOCAL_WRITE)) {
    status = IBV_WC_REM_OP_ERR;
    at_receiver = IBV_WC_LOC_PROT_ERR;
  } else {
    scatter(core, responder, pieces, gather(core, qp, send));
  }
  use_receive(core, qp, send, responder, at_receiver);
  if (at_receiver != IBV_WC_SUCCESS) core.to_error(responder);
  return status;
}

void count_execution(Core& core, Qp& qp, const Send& send) TF_REQUIRES(core.mutex) {
  for (FakeCounters* const counters : {&qp.counters, &core.totals}) {
    ++counters->executed[send.wr.opcode];
    if (!send.is_read()) counters->bytes_written += send.bytes;
  }
}

Outcome execute(Core& core, Qp& qp, Send& send, Clock::time_point now) TF_REQUIRES(core.mutex) {
  if (!send.silent_since && send.rnr_tries == 0) {  // the first try
    if (const auto fault = take_fault(core, send)) return fault;
  }
  if (const ibv_wc_status status = check_locally(core, qp, send); status != IBV_WC_SUCCESS) return status;
  Qp* const responder = find_responder(core, qp);
  if (responder == nullptr) return wait_for_peer(core, qp, send, now);
  send.silent_since.reset();
  if (send.takes_receive() && responder->receives.empty()) return wait_for_receive(core, qp, send, now);
  ibv_wc_status status = IBV_WC_SUCCESS;
  if (send.is_read())
    status = read(core, qp, send, *responder);
  else if (send.wr.opcode == IBV_WR_SEND || send.wr.opcode == IBV_WR_SEND_WITH_IMM)
    status = deliver(core, qp, send, *responder);
  else
    status = write(core, qp, send, *responder);
  if (status == IBV_WC_SUCCESS) count_execution(core, qp, send);
  return status;
}

// --- One queue pair --------------------------------------------------------------------------------------

// Which request is to be executed next: the first, or one that may pass the READs before it.
Send* choose(const Core& core, Qp& qp, Clock::time_point now, Turn& turn) TF_REQUIRES(core.mutex) {
  Send* first = nullptr;
  unsigned reads = 0;
  for (Send& send : qp.sends) {
    if (send.executed && send.status != IBV_WC_SUCCESS) return first;
    if (send.executed) continue;
    if (send.execute_at > now) {
      look_again(turn, send.execute_at);
      break;
    }
    const bool may_wait =
        send.is_read() && now < send.execute_at + core.read_lateness && ++reads <= qp.set.max_rd_atomic;
    if (!may_wait)
      return first != nullptr && (send.is_read() || (send.wr.send_flags & IBV_SEND_FENCE)) ? first : &send;
    if (first == nullptr) look_again(turn, send.execute_at + core.read_lateness);
    first = first == nullptr ? &send : first;
  }
  return nullptr;
}

void flush(Core& core, Qp& qp, Turn& turn) TF_REQUIRES(core.mutex) {
  for (; !qp.sends.empty(); turn.did_something = true) {
    const Send send = std::move(qp.sends.front());
    qp.sends.pop_front();
    core.complete_send(qp, send, send.status == IBV_WC_SUCCESS ? IBV_WC_WR_FLUSH_ERR : send.status);
  }
  for (; !qp.receives.empty(); turn.did_something = true) {
    const Receive receive = std::move(qp.receives.front());
    qp.receives.pop_front();
    ibv_wc wc{};
    wc.status = IBV_WC_WR_FLUSH_ERR;
    core.complete_receive(qp, receive, wc, false);
  }
}

// What was executed, from the front.
void complete(Core& core, Qp& qp, Clock::time_point now, Turn& turn) TF_REQUIRES(core.mutex) {
  while (!qp.sends.empty() && qp.sends.front().executed && qp.now != IBV_QPS_ERR) {
    if (qp.sends.front().complete_at > now) {
      look_again(turn, qp.sends.front().complete_at);
      return;
    }
    const Send send = std::move(qp.sends.front());
    qp.sends.pop_front();
    turn.did_something = true;
    if (send.status == IBV_WC_SUCCESS && !send.watched.empty() &&
        send.watched != look_at_source(core, qp, send))
      core.violate("bytes of a request changed before it was complete");
    core.complete_send(qp, send, send.status);
    if (send.status != IBV_WC_SUCCESS) core.to_error(qp);
  }
}

void serve(Core& core, Qp& qp, Clock::time_point now, Turn& turn) TF_REQUIRES(core.mutex) {
  if (qp.now == IBV_QPS_RTS) {
    if (Send* const send = choose(core, qp, now, turn); send != nullptr) {
      if (const Outcome outcome = execute(core, qp, *send, now)) {
        send->executed = true;
        send->status = *outcome;
        send->complete_at = now + core.completion_delay + core.some_jitter();
        turn.did_something = true;
      } else {
        look_again(turn, send->silent_since
                             ? std::max(*send->silent_since, now - core.retry_time / 2) + core.retry_time
                             : send->execute_at);
      }
    }
    complete(core, qp, now, turn);
  }
  if (qp.now == IBV_QPS_ERR) flush(core, qp, turn);
}

}  // namespace

void read_memory(const std::byte* memory, std::uint64_t bytes, std::byte* out) {
  if (!is_words(memory, bytes)) {
    std::memcpy(out, memory, bytes);
    return;
  }
  auto* const words = reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(memory));
  for (std::uint64_t i = 0; i < bytes / 8; ++i) {
    const std::uint64_t word = std::atomic_ref(words[i]).load(std::memory_order_seq_cst);
    std::memcpy(out + i * 8, &word, 8);
  }
}

// Bytes that are there already are left alone: to write them again is nothing that anybody could see, but for
// a sanitizer. (What a consumer has fetched may also be pushed, and then comes twice.)
template <typename Word>
void write_one(std::byte* memory, const std::byte* from, std::memory_order order) {
  Word word{};
  std::memcpy(&word, from, sizeof word);
  const std::atomic_ref place(*reinterpret_cast<Word*>(memory));
  if (place.load(std::memory_order_relaxed) != word) place.store(word, order);
}

// The last bytes first, as some processors' copies do it: who looks meanwhile learns not to rely on an order.
void write_backwards(std::byte* memory, std::uint64_t bytes, const std::byte* from) {
  while (bytes != 0) {
    if (bytes >= 8 && reinterpret_cast<std::uintptr_t>(memory + bytes) % 8 == 0) {
      bytes -= 8;
      write_one<std::uint64_t>(memory + bytes, from + bytes, std::memory_order_relaxed);
    } else {
      --bytes;
      write_one<std::uint8_t>(memory + bytes, from + bytes, std::memory_order_relaxed);
    }
  }
}

void write_memory(std::byte* memory, std::uint64_t bytes, const std::byte* from) {
  if (is_words(memory, bytes)) {
    for (std::uint64_t at = 0; at < bytes; at += 8)
      write_one<std::uint64_t>(memory + at, from + at, std::memory_order_seq_cst);
  } else if (bytes <= kSeenInPartsUpTo) {
    write_backwards(memory, bytes, from);
  } else {
    std::memcpy(memory, from, bytes);
  }
}

std::chrono::nanoseconds Core::some_jitter() {
  if (jitter.count() <= 0) return std::chrono::nanoseconds(0);
  return std::chrono::nanoseconds(
      std::uniform_int_distribution<std::chrono::nanoseconds::rep>(0, jitter.count())(random));
}

Turn take_turn(Core& core) {
  Turn turn;
  const Clock::time_point now = Clock::now();
  for (const auto& [number, qp] : core.queue_pairs) serve(core, *qp, now, turn);
  repeat_reads(core, now, turn);
  return turn;
}

void run_nic(Core& core) {
  UniqueLock lock(core.mutex);
  while (!core.ending) {
    if (core.paused) {
      core.work.wait(core.mutex);
      continue;
    }
    const Turn turn = take_turn(core);
    core.idle.notify_all();
    if (turn.did_something) {
      lock.unlock();  // let users in between two requests
      lock.lock();
    } else if (turn.next) {
      core.work.wait_until(core.mutex, *turn.next);
    } else {
      core.work.wait(core.mutex);
    }
  }
}

}  // namespace tf::test::fake
