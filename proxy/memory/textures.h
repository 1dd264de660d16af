// SPDX-License-Identifier: Apache-2.0
// Textures: the session's texture and surface objects. What a program asks about them is answered here
// (hipcore/array/textures.h); the worker makes them, and their values are its runtime's. Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include "hipcore/array/textures.h"
#include "proxy/memory/arrays.h"
#include "proxy/session/connection.h"

namespace tf::proxy {

class Textures final : private array::TextureSide {
 public:
  Textures(Connection& connection, DeviceMemory& memory, Arrays& arrays)
      : connection_(connection), memory_(memory), arrays_(arrays) {}
  Textures(const Textures&) = delete;
  Textures& operator=(const Textures&) = delete;

  array::Textures& library() { return library_; }

 private:
  hipError_t create_texture(const array::TextureWish& wish, hipTextureObject_t& texture) override;
  hipError_t destroy_texture(hipTextureObject_t texture) override;
  hipError_t create_surface(hipArray_const_t array, hipSurfaceObject_t& surface) override;
  hipError_t destroy_surface(hipSurfaceObject_t surface) override;
  hipError_t say_resource(const hipResourceDesc& resource, protocol::CreateTextureRequest& request) const;
  // All of a pitched resource lies in one allocation.
  bool holds_rows(const protocol::CreateTextureRequest& request) const;

  Connection& connection_;
  DeviceMemory& memory_;
  Arrays& arrays_;
  array::Textures library_{arrays_.library(), *this};
};

}  // namespace tf::proxy
