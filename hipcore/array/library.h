// SPDX-License-Identifier: Apache-2.0
// Library: HIP's functions on arrays and mipmapped arrays, except for copies: the structs that a program
// holds, their checks and their lifetime.
//
// Our runtimes and the client share it, so that all answer alike. Each gives it a Side, which has the memory.
// Functions have the arguments and results of the API's. Any thread; the Side is never called under the lock.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "hipcore/array/place.h"
#include "hipcore/array/shape.h"
#include "transport/base/mutex.h"

namespace tf::array {

inline constexpr std::size_t kArraysMax = 1 << 20;  // with the levels that a program has asked for

// Of an array's memory, as programs are told: that of AMD's images.
inline constexpr std::size_t kAlignment_bytes = 256;

class Side {
 public:
  // On the calling thread's device. Says where the levels stand, each of them after the one before.
  virtual hipError_t create(const Shape& shape, unsigned levels, bool mipmapped,
                            std::vector<Place>& places) = 0;
  // Whose first level stands at `base`. Earlier work of the device may still use it.
  virtual hipError_t destroy(std::uint64_t base) = 0;

 protected:
  ~Side() = default;
};

// What a copy of a mipmapped array's description needs.
struct Mipmaps {
  Shape shape;
  std::vector<Place> places;
};

class Library final : public Finder {
 public:
  explicit Library(Side& side) : side_(side) {}
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  hipError_t create(hipArray_t* array, const Shape& shape);
  // hipMallocArray and hipMalloc3DArray.
  hipError_t create(hipArray_t* array, const hipChannelFormatDesc* elements, const hipExtent& extent,
                    unsigned flags);
  hipError_t create(hipArray_t* array, const HIP_ARRAY_DESCRIPTOR* description);
  hipError_t create(hipArray_t* array, const HIP_ARRAY3D_DESCRIPTOR* description);
  hipError_t destroy(hipArray_t array);

  hipError_t get_info(hipChannelFormatDesc* elements, hipExtent* extent, unsigned* flags,
                      hipArray_t array) const;
  hipError_t get_description(HIP_ARRAY_DESCRIPTOR* description, hipArray_t array) const;
  hipError_t get_description(HIP_ARRAY3D_DESCRIPTOR* description, hipArray_t array) const;
  hipError_t get_channels(hipChannelFormatDesc* elements, hipArray_const_t array) const;

  hipError_t create_mipmapped(hipMipmappedArray_t* mipmapped, const Shape& shape, unsigned levels);
  hipError_t create_mipmapped(hipMipmappedArray_t* mipmapped, const hipChannelFormatDesc* elements,
                              const hipExtent& extent, unsigned levels, unsigned flags);
  hipError_t create_mipmapped(hipMipmappedArray_t* mipmapped, const HIP_ARRAY3D_DESCRIPTOR* description,
                              unsigned levels);
  hipError_t destroy_mipmapped(hipMipmappedArray_t mipmapped);
  // An array in the same memory; the same one each time. Destroying it ends the level's array and keeps the
  // memory; destroying the mipmapped array ends both.
  hipError_t get_level(hipArray_t* array, hipMipmappedArray_const_t mipmapped, unsigned level);

  // What all levels together take of a device's memory.
  hipError_t get_requirements(std::size_t* alignment, std::size_t* bytes,
                              hipMipmappedArray_const_t mipmapped) const;

  std::optional<Place> find(hipArray_const_t array) const override;
  std::optional<FoundArray> at(std::uint64_t address) const override;
  // Nothing: there is no such array.
  std::optional<Shape> shape_of(hipArray_const_t array) const;
  std::optional<Mipmaps> find(hipMipmappedArray_const_t mipmapped) const;

 private:
  struct Array {
    hipArray seen{};  // what the program holds, and may read
    Shape shape;
    Place place;
    hipMipmappedArray_const_t parent = nullptr;  // of a level: whose memory it is
  };
  struct Mipmapped {
    hipMipmappedArray seen{};
    Mipmaps mipmaps;
  };

  // Null: there are too many.
  hipArray_t keep(const Shape& shape, const Place& place, hipMipmappedArray_const_t parent)
      TF_REQUIRES(mutex_);
  void forget(hipArray_const_t array) TF_REQUIRES(mutex_);
  // The array that a level already is; null: none.
  hipArray_t known_level(hipMipmappedArray_const_t mipmapped, const Place& place) const TF_REQUIRES(mutex_);
  hipError_t describe(hipArray_const_t array, Shape& shape) const;

  Side& side_;
  mutable Mutex mutex_;
  std::unordered_map<hipArray_const_t, std::unique_ptr<Array>> arrays_ TF_GUARDED_BY(mutex_);
  std::unordered_map<hipMipmappedArray_const_t, std::unique_ptr<Mipmapped>> mipmapped_ TF_GUARDED_BY(mutex_);
  // By base.
  std::map<std::uint64_t, hipArray_t> bases_ TF_GUARDED_BY(mutex_);
};

}  // namespace tf::array
