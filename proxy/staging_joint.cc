// SPDX-License-Identifier: Apache-2.0
// The copies of Staging that several threads make. Each takes the next chunk of the copy, carries it between
// the program's memory and a buffer of its own, and posts the device's part; in which order chunks reach the
// device does not matter, since the copy as a whole ends when all of them have.
#include <algorithm>
#include <array>
#include <cstring>

#include "proxy/session.h"
#include "proxy/staging.h"

namespace tf::proxy {

// One copy. `next` and `error` are shared by its threads (relaxed: what the chunks hold is ordered by their
// words and by CopyThreads).
struct Staging::Joint {
  Staging& staging;
  const CopyMode& mode;
  std::byte* host;
  std::uint64_t device;
  std::uint64_t bytes;
  std::uint64_t chunk_bytes;
  std::atomic<std::uint64_t> next{0};
  std::atomic<hipError_t> error{hipSuccess};

  // CopyThreads' piece: the part of one thread, which has the buffers of this number.
  static void send_piece(void* self, std::uint64_t thread) { static_cast<Joint*>(self)->send(thread); }
  static void fetch_piece(void* self, std::uint64_t thread) { static_cast<Joint*>(self)->fetch(thread); }

  void send(std::uint64_t thread);
  void fetch(std::uint64_t thread);
  bool take(std::uint64_t& at, std::uint64_t& part);
  Chunk& chunk(std::uint64_t thread, std::uint64_t turn) {
    return staging.joint_chunks_[thread * kJointChunksPerThread + turn % kJointChunksPerThread];
  }
  bool keep(hipError_t seen) {
    if (seen != hipSuccess) error.store(seen, std::memory_order_relaxed);
    return seen == hipSuccess;
  }
};

// The next chunk of the copy. False: there is none, or it has failed.
bool Staging::Joint::take(std::uint64_t& at, std::uint64_t& part) {
  if (error.load(std::memory_order_relaxed) != hipSuccess) return false;
  at = next.fetch_add(1, std::memory_order_relaxed) * chunk_bytes;
  if (at >= bytes) return false;
  part = std::min(chunk_bytes, bytes - at);
  return true;
}

void Staging::Joint::send(std::uint64_t thread) {
  std::uint64_t at = 0;
  std::uint64_t part = 0;
  for (std::uint64_t turn = 0; take(at, part); ++turn) {
    Chunk& own = chunk(thread, turn);
    if (!keep(staging.await(own.word, own.device, own.stream))) return;
    std::memcpy(staging.memory(own), host + at, part);
    if (!keep(staging.move(mode, own, device + at, own.address, part))) return;
  }
}

void Staging::Joint::fetch(std::uint64_t thread) {
  struct Place {
    std::uint64_t at = 0;
    std::uint64_t part = 0;
  };
  std::array<Place, kJointChunksPerThread> places;
  bool more = true;
  std::uint64_t asked = 0;
  for (std::uint64_t landed = 0;; ++landed) {
    while (more && asked - landed < kJointChunksPerThread) {
      Place& place = places[asked % kJointChunksPerThread];
      more = take(place.at, place.part);
      if (!more) break;
      Chunk& own = chunk(thread, asked);
      if (!keep(staging.await(own.word, own.device, own.stream))) return;
      if (!keep(staging.move(mode, own, own.address, device + place.at, place.part))) return;
      ++asked;
    }
    if (landed == asked) return;
    const Chunk& own = chunk(thread, landed);
    const Place& place = places[landed % kJointChunksPerThread];
    if (!keep(staging.await(own.word, own.device, own.stream))) return;
    std::memcpy(host + place.at, staging.memory(own), place.part);
  }
}

// REQUIRES: copying_ is held
bool Staging::set_up_joint() {
  if (!joint_chunks_.empty()) return true;
  if (joint_impossible_) return false;
  std::vector<Chunk> chunks((session_.copy_threads().helpers() + 1) * kJointChunksPerThread);
  std::uint64_t word = 0;
  joint_impossible_ = !allocate_chunks(kJointChunkBytesMax, chunks, 0, word);
  if (!joint_impossible_) joint_chunks_ = std::move(chunks);
  return !joint_impossible_;
}

bool Staging::jointly(const CopyMode& mode, Direction direction, std::byte* host, std::uint64_t device,
                      std::uint64_t bytes, hipError_t& error) {
  const std::uint64_t threads = session_.copy_threads().helpers() + 1;
  if (threads == 1 || bytes < kJointCopyBytesMin || !set_up_joint()) return false;
  constexpr std::uint64_t kPageBytes = 4096;
  const std::uint64_t fair = bytes / (threads * 2) & ~(kPageBytes - 1);
  Joint copy{.staging = *this,
             .mode = mode,
             .host = host,
             .device = device,
             .bytes = bytes,
             .chunk_bytes = std::clamp<std::uint64_t>(fair, kJointChunkBytesMin, kJointChunkBytesMax)};
  const auto work = direction == Direction::kToDevice ? &Joint::send_piece : &Joint::fetch_piece;
  if (!session_.copy_threads().together(threads, work, &copy)) return false;
  error = copy.error.load(std::memory_order_relaxed);
  return true;
}

}  // namespace tf::proxy
