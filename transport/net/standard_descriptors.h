// SPDX-License-Identifier: Apache-2.0
// Keeps descriptors 0 to 2 free of what libraries open that know nothing of transport/net/fd.h.
#pragma once

#include <array>

namespace tf::net {

// Takes those of 0, 1 and 2 that are closed, for as long as it lives: what is opened meanwhile gets a number
// above them. Reading and writing them fails as if they were closed; exec closes them. For short stretches:
// another thread of the program may open a file just then, and counts on the lowest number. Any thread.
class StandardDescriptorsTaken {
 public:
  StandardDescriptorsTaken();
  StandardDescriptorsTaken(const StandardDescriptorsTaken&) = delete;
  StandardDescriptorsTaken& operator=(const StandardDescriptorsTaken&) = delete;
  ~StandardDescriptorsTaken();

 private:
  std::array<int, 3> taken_{-1, -1, -1};
};

// For programs of ours, first of all in main(): what is closed of 0, 1 and 2 is the null device from here on,
// for this process and those it starts.
void open_standard_descriptors();

}  // namespace tf::net
