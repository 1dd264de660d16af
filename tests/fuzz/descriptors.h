// SPDX-License-Identifier: Apache-2.0
// Descriptors: that an entry leaves no more of them open than it found.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iterator>

namespace tf::fuzz {

inline std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// Traps if at its end more descriptors are open than at its begin. Make it before whatever has some.
class NoneLeft {
 public:
  NoneLeft() : before_(open_descriptors()) {}
  NoneLeft(const NoneLeft&) = delete;
  NoneLeft& operator=(const NoneLeft&) = delete;
  ~NoneLeft() {
    if (open_descriptors() > before_) __builtin_trap();
  }

 private:
  const std::size_t before_;
};

}  // namespace tf::fuzz
