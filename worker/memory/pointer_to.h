// SPDX-License-Identifier: Apache-2.0
// Addresses of requests and of windows as the system and the runtime take them.
#pragma once

#include <cstdint>

namespace tf::worker {

inline void* pointer_to(std::uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace tf::worker
