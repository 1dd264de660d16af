// SPDX-License-Identifier: Apache-2.0
// The file of the workers that a client has met, as ssh's known_hosts: who a worker is does not change
// unnoticed. A line for each:
//
//   HOST:PORT ed25519 BASE64
//
// HOST as the user writes it. Several lines of one address: any of these keys. Empty lines, and lines that
// begin with '#', say nothing; anything else is an error with its line's number.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "transport/base/status.h"
#include "transport/secure/key.h"

namespace tf::secure {

inline constexpr std::size_t kKnownWorkersMax = 4096;
inline constexpr std::size_t kKnownBytesMax = 1 << 20;  // of the file
inline constexpr std::size_t kWorkerNameBytesMax = 300;

class KnownWorkers {
 public:
  enum class Answer { kSame, kNew, kChanged };

  // Messages begin with "line N: ".
  static Result<KnownWorkers> parse(std::string_view text);
  // A file that does not exist knows nobody. Messages begin with the path.
  static Result<KnownWorkers> read(const std::string& path);
  // Adds a line; makes the file, with the mode 0600, and its folder if they are missing.
  static Status append(const std::string& path, std::string_view worker, const PublicKey& key);

  Answer ask(std::string_view worker, const PublicKey& key) const;
  struct Entry {
    std::string worker;
    PublicKey key;
    std::size_t line = 0;
  };
  // The first line of this worker; null: there is none.
  const Entry* find(std::string_view worker) const;
  std::size_t size() const { return entries_.size(); }

 private:
  std::vector<Entry> entries_;
};

}  // namespace tf::secure
