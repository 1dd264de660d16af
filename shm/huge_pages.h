// SPDX-License-Identifier: Apache-2.0
// Huge pages in shared memory. Used where the system provides them; nothing depends on them.
#pragma once

#include <cstddef>
#include <string>

namespace tf::shm {

inline constexpr const char* kHugePageSetting = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";

// Allocates all pages of a fresh shared mapping, as huge pages if the system provides them. Any thread.
void populate(void* memory, std::size_t bytes);

// Whether shared memory gets huge pages here, for people: "yes", or "no" and why.
std::string describe_huge_pages(const char* setting = kHugePageSetting);

}  // namespace tf::shm
