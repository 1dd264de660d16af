// SPDX-License-Identifier: Apache-2.0
// Has the worker make arrays, and tells the copies about them.
#include "proxy/memory/arrays.h"

#include <utility>

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
  auto booking = std::make_shared<const Booking>(memory_, device, array::memory_bytes(shape, levels));
  const MutexLock lock(mutex_);
  bookings_[request.base] = std::move(booking);
  return hipSuccess;
}

std::shared_ptr<const Booking> Arrays::booking_of(std::uint64_t address) const {
  const auto memory = memory_.find(address);
  if (!memory) return nullptr;
  const MutexLock lock(mutex_);
  const auto found = bookings_.find(memory->base);
  return found != bookings_.end() ? found->second : nullptr;
}

// No copy reaches it any more: the caller has forgotten the array.
hipError_t Arrays::destroy(std::uint64_t base) {
  const auto memory = memory_.find(base);
  if (!memory || !memory_.remove_mapping(base)) return hipErrorInvalidValue;
  std::shared_ptr<const Booking> booking;  // ends without the lock
  {
    const MutexLock lock(mutex_);
    booking = std::move(bookings_[base]);
    bookings_.erase(base);
  }
  protocol::DestroyArrayRequest request{};
  request.base = base;
  return connection_.post(memory->device, request);
}

}  // namespace tf::proxy
