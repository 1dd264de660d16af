// SPDX-License-Identifier: Apache-2.0
// Arrays: the session's arrays, by the addresses that its client has given them (hipcore/array/place.h).
// Belongs to the executor thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "hipcore/array/shape.h"
#include "hipcore/wire/gen/hip_table.h"
#include "hipcore/wire/gen/messages.h"
#include "worker/base/current_device.h"
#include "worker/base/own_calls.h"
#include "worker/memory/quota.h"

namespace tf::worker {

inline constexpr std::size_t kSessionArraysMax = 1 << 20;  // levels of mipmapped ones included

// One level of an array.
struct SessionArray {
  hipArray_t array = nullptr;
  array::Place place;
  std::uint64_t owner = 0;  // where the first level stands
};

class Arrays {
 public:
  Arrays(const protocol::HipTable& hip, OwnCalls& own_calls, MemoryQuota& quota)
      : hip_(hip), own_calls_(own_calls), quota_(quota) {}
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;

  // hipErrorInvalidValue: no such shape, or the addresses are not the client's to give. REQUIRES: `device` is
  // current.
  hipError_t create(const protocol::CreateArrayRequest& request, int device);
  // The device of the array that begins there; -1: there is none.
  int device_of(std::uint64_t base) const;
  // REQUIRES: nothing uses the array any more.
  hipError_t destroy(std::uint64_t base);
  // REQUIRES: the devices are idle.
  void release(CurrentDevice& device);

  // The array that an address stands in; null: none. Valid until the next create() or destroy().
  const SessionArray* find(std::uint64_t address) const;
  // The share of the array whose first level stands at `base`. The runtime frees the memory when neither the
  // array nor a texture or surface of it is left: each of them holds it. Null: there is none.
  std::shared_ptr<const QuotaShare> share_of(std::uint64_t base) const;
  // The mipmapped array whose first level stands at `base`; null: there is none.
  hipMipmappedArray_t mipmapped(std::uint64_t base) const;

 private:
  struct Owner {
    hipArray_t array = nullptr;
    hipMipmappedArray_t mipmapped = nullptr;
    std::vector<SessionArray> levels;
    int device = 0;
    std::shared_ptr<const QuotaShare> share;
  };

  hipError_t make(const protocol::CreateArrayRequest& request, Owner& owner);
  hipError_t drop(const Owner& owner);
  // Whether the device has arrays with such edges. The quota does not ask the runtime, which would have said
  // so.
  bool has_edges(const array::Shape& shape, int device);

  const protocol::HipTable& hip_;
  OwnCalls& own_calls_;
  MemoryQuota& quota_;
  std::map<std::uint64_t, Owner> owners_;
  std::map<std::uint64_t, SessionArray> levels_;
};

}  // namespace tf::worker
