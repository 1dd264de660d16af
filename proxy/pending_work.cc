// SPDX-License-Identifier: Apache-2.0
#include "proxy/pending_work.h"

namespace tf::proxy {

void PendingWork::change(std::uint64_t now, std::uint64_t mark) {
  while (now != mark && now != kSeveral) {
    const std::uint64_t next = now == kNone ? mark : kSeveral;
    if (word_.compare_exchange_weak(now, next, std::memory_order_release, std::memory_order_relaxed)) return;
  }
}

PendingWork::Proof PendingWork::begin(std::uint64_t mark, bool all) {
  unheard_.store(false, std::memory_order_relaxed);  // what was posted before is answered before the wait is
  std::uint64_t now = word_.load(std::memory_order_relaxed);
  const bool is_proof = now != kSeveral && (now & kProof) != 0;
  if (now == kNone || is_proof || (now != mark && !all)) return {};
  const std::uint64_t ticket = kProof | (proofs_.fetch_add(1, std::memory_order_relaxed) & ~kProof);
  // Full barrier: the wait's message is posted after the word has changed.
  return word_.compare_exchange_strong(now, ticket, std::memory_order_seq_cst) ? Proof{ticket, now} : Proof{};
}

void PendingWork::end(const Proof& proof, bool waited) {
  if (proof.ticket == 0) return;
  std::uint64_t mine = proof.ticket;
  // Nobody has posted in between, or the word is not ours any more. Release: pairs with idle().
  word_.compare_exchange_strong(mine, waited ? kNone : proof.before, std::memory_order_acq_rel);
}

}  // namespace tf::proxy
