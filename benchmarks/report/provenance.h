// SPDX-License-Identifier: Apache-2.0
// Where figures come from: the machine, the day, the commit.
#pragma once

#include <cstdint>
#include <string>

namespace tf::bench {

// "Intel(R) Xeon(R) Processor, 2 processors, 7.8 GiB of memory; 2026-11-23; hip-remote commit dca92a3"
std::string provenance();
// Bytes that programs can still allocate without swapping (MemAvailable); 0: unknown.
std::uint64_t available_memory();

}  // namespace tf::bench
