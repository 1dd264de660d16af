// SPDX-License-Identifier: Apache-2.0
// The runtime's objects that an unfinished wait uses, which must not be destroyed yet.
#pragma once

#include <algorithm>
#include <array>

namespace tf::worker {

// Null: none. A wait for an event also uses the event from which its time is taken.
using AwaitedObjects = std::array<const void*, 2>;

inline bool is_among(const AwaitedObjects& objects, const void* object) {
  return std::find(objects.begin(), objects.end(), object) != objects.end();
}

}  // namespace tf::worker
