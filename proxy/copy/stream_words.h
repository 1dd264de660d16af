// SPDX-License-Identifier: Apache-2.0
// StreamWords: waits for streams by polling memory that the worker shares (HostAccess::kShared).
//
// A stream fills a word of the host window when it gets there, so its progress is seen here without a
// message. Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "proxy/copy/plan.h"
#include "proxy/memory/host_window.h"
#include "proxy/session/connection.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

inline constexpr std::size_t kStreamWordsMax = 64;      // threads that poll for a stream
inline constexpr std::uint64_t kStreamWordStride = 64;  // bytes: one cache line each

// The wait ends when the word holds `expected`.
struct StreamWord {
  std::uint64_t address = 0;
  std::uint32_t expected = 0;

  bool done() const;
  // Other threads may look at it meanwhile.
  void become(const StreamWord& other);
};

class StreamWords {
 public:
  StreamWords(Connection& connection, HostWindow& window) : connection_(connection), window_(window) {}

  // Whether there is shared memory for it.
  bool ready();
  // Waits until the stream has done what was posted to it so far, and takes in the worker's reports until
  // then. Nothing: there was no memory for it, and nothing has happened.
  std::optional<hipError_t> wait(const CopyMode& mode);

  // Posts a fill of the word by the stream, with a value that it has not held lately. The word may belong to
  // anyone.
  hipError_t mark(const CopyMode& mode, StreamWord& word);
  // Waits until it is done, or its stream has failed.
  hipError_t await(const StreamWord& word, int device, std::uint64_t stream);

 private:
  bool set_up();

  Connection& connection_;
  HostWindow& window_;
  std::atomic<int> state_{0};  // 0: not tried, 1: ready, -1: impossible; release after the members below
  Mutex mutex_;
  std::vector<StreamWord> free_ TF_GUARDED_BY(mutex_);
};

}  // namespace tf::proxy
