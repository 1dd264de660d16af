// SPDX-License-Identifier: Apache-2.0
// Textures: the session's texture and surface objects. What a program asks about them is answered here
// (hipcore/array/textures.h); the worker makes them, and their values are its runtime's. Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "hipcore/array/textures.h"
#include "proxy/memory/arrays.h"
#include "proxy/memory/host_memory.h"
#include "proxy/session/connection.h"

namespace tf::proxy {

class Textures final : private array::TextureSide {
 public:
  Textures(Connection& connection, const DeviceMemory& memory, const HostMemory& host, HostWaker& waker,
           Arrays& arrays)
      : connection_(connection), memory_(memory), host_(host), waker_(waker), arrays_(arrays) {}
  Textures(const Textures&) = delete;
  Textures& operator=(const Textures&) = delete;

  array::Textures& library() { return library_; }

 private:
  // Runtimes may number textures and surfaces alike.
  enum class Sort : std::uint8_t { kTexture, kSurface };
  using Object = std::pair<Sort, std::uint64_t>;

  hipError_t create_texture(const array::TextureWish& wish, hipTextureObject_t& texture) override;
  hipError_t destroy_texture(hipTextureObject_t texture) override;
  hipError_t create_surface(hipArray_const_t array, hipSurfaceObject_t& surface) override;
  hipError_t destroy_surface(hipSurfaceObject_t surface) override;
  hipError_t say_resource(const hipResourceDesc& resource, protocol::CreateTextureRequest& request) const;
  // Kernels reach all of it, or will once it is no longer dormant, in one allocation.
  bool reaches(std::uint64_t address, std::uint64_t bytes) const {
    return memory_.contains(address, bytes) || host_.could_reach(address, bytes);
  }
  // Objects of arrays keep their memory. `address`: what the object was made of.
  void keep(Object object, std::uint64_t address);
  void drop(Object object);
  // As reaches(), for a pitched resource.
  bool holds_rows(const protocol::CreateTextureRequest& request) const;

  Connection& connection_;
  const DeviceMemory& memory_;
  const HostMemory& host_;
  HostWaker& waker_;
  Arrays& arrays_;
  Mutex mutex_;
  // What textures and surfaces of arrays keep, by the object.
  std::map<Object, std::shared_ptr<const Booking>> kept_ TF_GUARDED_BY(mutex_);
  array::Textures library_{arrays_.library(), *this};
};

}  // namespace tf::proxy
