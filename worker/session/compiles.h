// SPDX-License-Identifier: Apache-2.0
// Compiles: hiprtc programs of a session's client, compiled by the runtime library's hiprtc.
//
// A compilation takes seconds, so it runs on separate threads: up to kCompilesAtOnce, started when there is
// work and gone when there is none. They share only `Shared` with the session, which outlives it. So a
// session ends without waiting for them, and their results are then discarded. Everything else belongs to the
// executor thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <vector>

#include "hipcore/wire/gen/hip_table.h"
#include "transport/endpoint.h"
#include "transport/frame.h"
#include "worker/base/life.h"
#include "worker/base/mover.h"
#include "worker/base/rtc_functions.h"
#include "worker/base/sender.h"
#include "worker/base/share.h"
#include "worker/copy/slot_copies.h"

namespace tf::worker {

class CompilerWalls;

inline constexpr unsigned kCompilesAtOnce = 4;
inline constexpr std::size_t kProgramsMax = 1024;               // sent, or waiting for a thread
inline constexpr std::size_t kProgramsBytesMax = 256ull << 20;  // of all of them
inline constexpr std::size_t kResultsMax = 1024;                // kept until fetched; the oldest is dropped
inline constexpr std::size_t kResultsBytesMax = 512ull << 20;   // of all of them

class Compiles {
 public:
  // All outlive it, but for `hip`, `rtc` and `walls`, of which it keeps copies.
  struct Parts {
    const protocol::HipTable& hip;
    const RtcFunctions& rtc;
    const protocol::WorkerSnapshot& snapshot;
    BulkPlane& bulk;
    SlotCopies& copies;
    Life& life;
    Mover& mover;
    Sender& sender;
    Share& share;
    // Around what compiles; also decides about options. Null: none
    std::shared_ptr<const CompilerWalls> walls = {};
  };
  explicit Compiles(const Parts& parts);
  Compiles(const Compiles&) = delete;
  Compiles& operator=(const Compiles&) = delete;
  ~Compiles();

  // Receives a program that the client sends under `tag`. Discards it if a limit is reached.
  void receive(std::uint64_t tag, std::uint64_t bytes);
  // Begins to compile it for `device`; `request` is answered when that is done. Any result other than
  // hipSuccess: it was not started.
  hipError_t start(const FrameHeader& request, std::uint64_t program, int device);
  // Sends the result under `tag`, or aborts the tag.
  void fetch(std::uint64_t program, std::uint64_t tag);

  // Results are on their way to the client.
  bool sending() const { return !sending_.empty(); }
  // Frees results that have arrived.
  void sweep();

 private:
  struct Shared;
  struct Job;
  struct Program {
    std::uint64_t tag = 0;
    std::vector<std::byte> bytes;
  };
  struct Sending {
    std::vector<std::byte> bytes;
    BulkCompletion completion;
  };

  hipError_t enqueue(Job job);
  std::size_t held_bytes() const;
  static void work(const std::shared_ptr<Shared>& shared);
  static hipError_t run(const Shared& shared, const Job& job, std::vector<std::byte>& result);

  BulkPlane& bulk_;
  SlotCopies& copies_;
  Life& life_;
  Mover& mover_;
  Share& share_;
  std::shared_ptr<Shared> shared_;
  std::deque<Program> programs_;  // sent, compilation not requested yet
  std::list<std::unique_ptr<Sending>> sending_;
};

}  // namespace tf::worker
