// SPDX-License-Identifier: Apache-2.0
// Memory files: memory that other processes can map. Their size is sealed, so they cannot shrink while
// another process has them mapped. Free functions; any thread.
#pragma once

#include <cstddef>

namespace tf::cpu {

inline constexpr char kMemoryFileName[] = "hip-cpu";  // shown in /proc as /memfd:hip-cpu

// A descriptor for `bytes` zeroed bytes; -1 on failure.
int make_memory_file(std::size_t bytes);
// The size of a memory file that another process made; 0 if it is not a memory file.
std::size_t memory_file_bytes(int descriptor);

}  // namespace tf::cpu
