// SPDX-License-Identifier: Apache-2.0
// Textures: the session's texture and surface objects. Their values are the runtime's own, since kernels get
// them among their arguments. Belongs to the executor thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "hipcore/wire/gen/hip_table.h"
#include "hipcore/wire/gen/messages.h"
#include "worker/base/address_map.h"
#include "worker/base/current_device.h"
#include "worker/base/optional_functions.h"
#include "worker/base/own_calls.h"
#include "worker/memory/arrays.h"

namespace tf::worker {

inline constexpr std::size_t kSessionTexturesMax = 1 << 20;  // surfaces counted on their own

class Textures {
 public:
  Textures(const protocol::HipTable& hip, const SurfaceFunctions& surfaces, OwnCalls& own_calls,
           const AddressMap& addresses, const Arrays& arrays)
      : hip_(hip), functions_(surfaces), own_calls_(own_calls), addresses_(addresses), arrays_(arrays) {}
  Textures(const Textures&) = delete;
  Textures& operator=(const Textures&) = delete;

  // hipErrorInvalidValue: the memory or array is not the session's. REQUIRES for all: the device is current.
  hipError_t create(const protocol::CreateTextureRequest& request, int device, std::uint64_t& texture);
  hipError_t destroy(std::uint64_t texture);
  hipError_t create_surface(std::uint64_t address, int device, std::uint64_t& surface);
  hipError_t destroy_surface(std::uint64_t surface);
  // Where it was created; -1: there is none.
  int device_of(std::uint64_t texture) const;
  int device_of_surface(std::uint64_t surface) const;
  // REQUIRES: the devices are idle.
  void release(CurrentDevice& device);

 private:
  struct Use {
    int device = 0;
    std::shared_ptr<const QuotaShare> share;  // of an array's memory
  };

  hipError_t read_resource(const protocol::CreateTextureRequest& request, hipResourceDesc& resource,
                           Use& use) const;

  const protocol::HipTable& hip_;
  const SurfaceFunctions& functions_;
  OwnCalls& own_calls_;
  const AddressMap& addresses_;
  const Arrays& arrays_;
  std::map<hipTextureObject_t, Use> textures_;
  std::map<hipSurfaceObject_t, Use> surfaces_;
};

}  // namespace tf::worker
