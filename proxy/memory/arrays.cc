// SPDX-License-Identifier: Apache-2.0
// Has the worker make arrays, and tells the copies about them.
#include "proxy/memory/arrays.h"

#include "proxy/base/thread_state.h"

namespace tf::proxy {

hipError_t Arrays::create(const array::Shape& shape, unsigned levels, bool mipmapped,
                          std::vector<array::Place>& places) {
  {
    const MutexLock lock(mutex_);
    places = array::lay_out(shape, levels, next_, array::Layout::kGaps);
    const std::uint64_t bytes = array::extent(places);
    if (bytes > array::kNamesEnd - next_) return hipErrorOutOfMemory;
    next_ += bytes;
  }
  protocol::CreateArrayRequest request{};
  request.base = places.front().base;
  request.width = shape.width;
  request.height = shape.height;
  request.depth = shape.depth;
  request.format = static_cast<std::uint32_t>(shape.format);
  request.channels = shape.channels;
  request.flags = shape.flags;
  request.levels = levels;
  request.mipmapped = mipmapped ? 1 : 0;
  const int device = thread_state().device;
  hipError_t error = connection_.call(device, request);
  if (error == hipErrorOutOfMemory && memory_.give_back_unused(device))
    error = connection_.call(device, request);
  if (error != hipSuccess) return error;
  memory_.add_mapping(device, request.base, array::extent(places));
  memory_.book(device, array::extent(places));
  return hipSuccess;
}

// No copy reaches it any more: the caller has forgotten the array.
hipError_t Arrays::destroy(std::uint64_t base) {
  const auto memory = memory_.find(base);
  if (!memory || !memory_.remove_mapping(base)) return hipErrorInvalidValue;
  memory_.unbook(memory->device, memory->bytes);
  protocol::DestroyArrayRequest request{};
  request.base = base;
  return connection_.post(memory->device, request);
}

}  // namespace tf::proxy
