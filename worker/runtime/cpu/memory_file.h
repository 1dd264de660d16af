// SPDX-License-Identifier: Apache-2.0
// Memory files: memory that other processes can map. Their size is sealed, so that whoever maps one need not
// fear that it shrinks under his hands. Free functions; any thread.
#pragma once

#include <cstddef>

namespace tf::cpu {

inline constexpr char kMemoryFileName[] = "hip-cpu";  // as /proc shows it: /memfd:hip-cpu

// A descriptor of `bytes` zeroed bytes, -1 when there is none.
int make_memory_file(std::size_t bytes);
// The size of a memory file that somebody else made; 0 when it is none.
std::size_t memory_file_bytes(int descriptor);

}  // namespace tf::cpu
