// SPDX-License-Identifier: Apache-2.0
// Marks and proofs of work that may still be running.
#include "proxy/session/pending_work.h"

namespace tf::proxy {

void PendingWork::change(Word& word, std::uint64_t now, std::uint64_t mark) {
  while (now != mark && now != kSeveral) {
    const std::uint64_t next = now == kNone ? mark : kSeveral;
    // Release, here and below: a thread that sees the mark sees it counted.
    if (now == kNone) marked_.fetch_add(1, std::memory_order_relaxed);
    if (word.compare_exchange_weak(now, next, std::memory_order_release, std::memory_order_acquire)) return;
    if (next == mark) marked_.fetch_sub(1, std::memory_order_release);
  }
}

void PendingWork::claim(Proof& proof, std::size_t index) {
  Word& word = words_[index];
  std::uint64_t now = word.load(std::memory_order_relaxed);
  const bool is_proof = now != kSeveral && (now & kProof) != 0;
  if (now == kNone || is_proof) return;
  if (proof.ticket == 0) proof.ticket = kProof | (proofs_.fetch_add(1, std::memory_order_relaxed) & ~kProof);
  // Full barrier: the wait's message is posted after the word has changed.
  if (word.compare_exchange_strong(now, proof.ticket, std::memory_order_seq_cst)) proof.before[index] = now;
}

PendingWork::Proof PendingWork::begin(std::uint64_t mark, bool all) {
  unheard_.store(false, std::memory_order_relaxed);  // earlier posts are answered before the wait is
  Proof proof;
  const std::size_t own = word_of(mark);
  if (all) {
    for (std::size_t index = 0; index < words_.size(); ++index) claim(proof, index);
  } else if (words_[own].load(std::memory_order_relaxed) == mark) {
    claim(proof, own);
  }
  return proof;
}

void PendingWork::end(const Proof& proof, bool waited) {
  if (proof.ticket == 0) return;
  for (std::size_t index = 0; index < words_.size(); ++index) {
    if (proof.before[index] == kNone) continue;
    std::uint64_t mine = proof.ticket;
    // Either nobody has posted in between, or the word is no longer ours.
    const bool is_ours = words_[index].compare_exchange_strong(mine, waited ? kNone : proof.before[index],
                                                               std::memory_order_acq_rel);
    if (is_ours && waited) marked_.fetch_sub(1, std::memory_order_release);  // pairs with idle()
  }
}

}  // namespace tf::proxy
