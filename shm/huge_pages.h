// SPDX-License-Identifier: Apache-2.0
// Huge pages in shared memory: asked for where the system gives them, never needed.
#pragma once

#include <cstddef>
#include <string>

namespace tf::shm {

inline constexpr const char* kHugePageSetting = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";

// All pages of a shared mapping that has none yet, huge ones if the system gives them. Any thread.
void populate(void* memory, std::size_t bytes);

// Whether shared memory gets huge pages here, for people: "yes", or "no" and why.
std::string describe_huge_pages(const char* setting = kHugePageSetting);

}  // namespace tf::shm
