// SPDX-License-Identifier: Apache-2.0
// Small text files of keys: read whole, if their owner and mode are right.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "transport/base/status.h"

namespace tf::secure {

// Who else may do what with a file.
enum class Privacy {
  kSecret,  // nobody may read it: mode 0600 or less; where root owns it, which this process is not, its group
            // may: so systemd's LoadCredential= and Kubernetes' secrets come
  kTrusted,  // nobody may write it: what stands there is believed
};

// The whole text of a regular file of at most `bytes_max`. It must belong to this process's user or to root,
// and be as private as `privacy` says. kUnavailable: there is no such file. Other failures say what is wrong,
// and how to change that.
Result<std::string> read_private_file(const std::string& path, Privacy privacy, std::size_t bytes_max);

// Lines, with their numbers from 1: without comments (from '#' at the beginning) and empty ones.
template <typename Take>  // Status take(std::size_t number, std::string_view line)
Status for_each_line(std::string_view text, const Take& take) {
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r'))
      line.remove_suffix(1);
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    if (line.empty() || line.front() == '#') continue;
    if (Status status = take(number, line); !status.is_ok()) return status;
  }
  return Status::ok();
}

// The first word of `line`, which loses it and the blanks behind it.
inline std::string_view take_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(word.size());
  const std::size_t next = line.find_first_not_of(" \t");
  line.remove_prefix(next == std::string_view::npos ? line.size() : next);
  return word;
}

// `text` as people may see it: what is not printable ASCII as '?', and not more than fits a message.
std::string shown(std::string_view text);

}  // namespace tf::secure
