// SPDX-License-Identifier: Apache-2.0
// Marks and proofs of work that may still be running.
#include "proxy/session/pending_work.h"

#include <bit>

namespace tf::proxy {

void PendingWork::change(std::size_t index, std::uint64_t now, std::uint64_t mark) {
  Word& word = words_[index];
  const std::uint64_t plain = mark & ~kFlags;
  while (now != mark && now != plain && now != kSeveral) {
    const bool is_ours = is_mark(now) && (now & ~kFlags) == plain;
    const std::uint64_t next = now == kNone ? mark : is_ours ? plain : kSeveral;
    const bool was_none = now == kNone;
    // Release, here and below: a thread that sees the mark sees it counted.
    if (was_none) marked_.fetch_add(unit_of(index), std::memory_order_relaxed);
    if (word.compare_exchange_weak(now, next, std::memory_order_release, std::memory_order_acquire)) return;
    if (was_none) marked_.fetch_sub(unit_of(index), std::memory_order_release);
  }
}

void PendingWork::claim(Proof& proof, std::size_t index) {
  Word& word = words_[index];
  std::uint64_t now = word.load(std::memory_order_relaxed);
  const bool is_proof = now != kSeveral && (now & kProof) != 0;
  if (now == kNone || is_proof) return;
  if (proof.words == 0) proof.ticket = kProof | (proofs_.fetch_add(1, std::memory_order_relaxed) & ~kProof);
  // Full barrier: the wait's message is posted after the word has changed.
  if (!word.compare_exchange_strong(now, proof.ticket, std::memory_order_seq_cst)) return;
  proof.before[index] = now;
  proof.words |= std::uint64_t{1} << index;
}

PendingWork::Proof PendingWork::begin(std::uint64_t mark, bool all) {
  unheard_.store(false, std::memory_order_relaxed);  // earlier posts are answered before the wait is
  Proof proof;
  if (all) {
    for (std::size_t index = 0; index < words_.size(); ++index) claim(proof, index);
    return proof;
  }
  for (const std::size_t index : {word_of(mark), word_of(mark) + kWords})
    if ((words_[index].load(std::memory_order_relaxed) & ~kFlags) == mark) claim(proof, index);
  return proof;
}

void PendingWork::end(const Proof& proof, bool waited) {
  for (std::uint64_t left = proof.words; left != 0; left &= left - 1) {
    const auto index = static_cast<std::size_t>(std::countr_zero(left));
    std::uint64_t mine = proof.ticket;
    // Either nobody has posted in between, or the word is no longer ours.
    const bool is_ours = words_[index].compare_exchange_strong(mine, waited ? kNone : proof.before[index],
                                                               std::memory_order_acq_rel);
    if (is_ours && waited) marked_.fetch_sub(unit_of(index), std::memory_order_release);  // pairs with idle()
  }
}

}  // namespace tf::proxy
