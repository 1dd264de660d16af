// SPDX-License-Identifier: Apache-2.0
// Keeps libraries that know nothing of transport/net/fd.h from opening files as descriptors 0 to 2.
#pragma once

#include <array>

namespace tf::net {

// Occupies those of 0, 1 and 2 that are closed, for its lifetime: files opened meanwhile get higher numbers.
// Reading and writing them fails as if they were closed; exec closes them. Keep it short: another thread of
// the program may open a file just then, and expect the lowest number. Any thread.
class StandardDescriptorsTaken {
 public:
  StandardDescriptorsTaken();
  StandardDescriptorsTaken(const StandardDescriptorsTaken&) = delete;
  StandardDescriptorsTaken& operator=(const StandardDescriptorsTaken&) = delete;
  ~StandardDescriptorsTaken();

 private:
  std::array<int, 3> taken_{-1, -1, -1};
};

// For our own programs, first thing in main(): opens /dev/null for those of 0, 1 and 2 that are closed, for
// this process and those it starts.
void open_standard_descriptors();

}  // namespace tf::net
