// SPDX-License-Identifier: Apache-2.0
// Arrays: the driver's arrays, by the addresses that name positions in them (hipcore/array/place.h). An array
// stays as long as a texture or surface reads it, as in AMD's runtime. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "hipcore/array/shape.h"
#include "transport/base/mutex.h"
#include "worker/runtime/cuda/driver_types.h"

namespace tf::cuda {

// One level of an array.
struct NamedArray {
  driver::Array array = nullptr;
  array::Place place;
  std::uint64_t owner = 0;  // where the array's first level begins
};

class Arrays {
 public:
  Arrays() = default;
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;

  // In the current context.
  hipError_t create(const array::Shape& shape, unsigned levels, bool mipmapped,
                    std::vector<array::Place>& places);
  // The driver's array ends when nobody holds it any more; its name ends now.
  hipError_t destroy(std::uint64_t base);
  // A texture or surface reads the level that begins at `level` from now on: its array is held. Nothing:
  // there is no such level. What it returns is for drop().
  std::optional<std::uint64_t> hold(std::uint64_t level);
  // One that hold() counted does no longer.
  hipError_t drop(std::uint64_t owner);
  // Nothing: the address names no array.
  std::optional<NamedArray> find(std::uint64_t address) const;
  // Of a mipmapped array whose first level stands at `base`. Null: there is none.
  driver::MipmappedArray mipmapped(std::uint64_t base) const;

 private:
  struct Owner {
    driver::Array array = nullptr;
    driver::MipmappedArray mipmapped = nullptr;  // then its levels are not ours to destroy
    std::vector<std::uint64_t> levels;
    std::size_t users = 1;  // the array itself, and what reads it
    bool destroyed = false;
  };
  // One user less: the owner, if it was the last.
  std::optional<Owner> release(std::map<std::uint64_t, Owner>::iterator owner) TF_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::uint64_t next_ TF_GUARDED_BY(mutex_) = array::kNamesBegin;
  std::map<std::uint64_t, NamedArray> levels_ TF_GUARDED_BY(mutex_);
  std::map<std::uint64_t, Owner> owners_ TF_GUARDED_BY(mutex_);
};

// Never destroyed.
Arrays& named_arrays();

}  // namespace tf::cuda
