// SPDX-License-Identifier: Apache-2.0
// Arrays: the session's arrays. What a program asks about them is answered here (hipcore/array/library.h);
// the worker has their memory. To copies they are device memory at addresses that no memory has, counted out
// here (hipcore/array/place.h). Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "hipcore/array/library.h"
#include "proxy/memory/device_memory.h"
#include "proxy/session/connection.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

// Device memory that counts as used, until its last holder goes.
class Booking {
 public:
  Booking(DeviceMemory& memory, int device, std::uint64_t bytes)
      : memory_(memory), device_(device), bytes_(bytes) {
    memory_.book(device_, bytes_);
  }
  Booking(const Booking&) = delete;
  Booking& operator=(const Booking&) = delete;
  ~Booking() { memory_.unbook(device_, bytes_); }

 private:
  DeviceMemory& memory_;  // outlives it
  int device_;
  std::uint64_t bytes_;
};

class Arrays final : private array::Side {
 public:
  Arrays(Connection& connection, DeviceMemory& memory) : connection_(connection), memory_(memory) {}
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;

  array::Library& library() { return library_; }
  const array::Library& library() const { return library_; }
  // Of the array that an address stands in, whichever level. Held by what keeps its memory. Null: none.
  std::shared_ptr<const Booking> booking_of(std::uint64_t address) const;

 private:
  hipError_t create(const array::Shape& shape, unsigned levels, bool mipmapped,
                    std::vector<array::Place>& places) override;
  hipError_t destroy(std::uint64_t base) override;

  Connection& connection_;
  DeviceMemory& memory_;
  array::Library library_{*this};
  mutable Mutex mutex_;
  std::uint64_t next_ TF_GUARDED_BY(mutex_) = array::kNamesBegin;
  std::map<std::uint64_t, std::shared_ptr<const Booking>> bookings_ TF_GUARDED_BY(mutex_);  // by base
};

}  // namespace tf::proxy
