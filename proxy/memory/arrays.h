// SPDX-License-Identifier: Apache-2.0
// Arrays: the session's arrays. What a program asks about them is answered here (hipcore/array/library.h);
// the worker has their memory. To copies they are device memory at addresses that no memory has, counted out
// here (hipcore/array/place.h). Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <vector>

#include "hipcore/array/library.h"
#include "proxy/memory/device_memory.h"
#include "proxy/session/connection.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

class Arrays final : private array::Side {
 public:
  Arrays(Connection& connection, DeviceMemory& memory) : connection_(connection), memory_(memory) {}
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;

  array::Library& library() { return library_; }
  const array::Library& library() const { return library_; }

 private:
  hipError_t create(const array::Shape& shape, unsigned levels, bool mipmapped,
                    std::vector<array::Place>& places) override;
  hipError_t destroy(std::uint64_t base) override;

  Connection& connection_;
  DeviceMemory& memory_;
  array::Library library_{*this};
  Mutex mutex_;
  std::uint64_t next_ TF_GUARDED_BY(mutex_) = array::kNamesBegin;
};

}  // namespace tf::proxy
