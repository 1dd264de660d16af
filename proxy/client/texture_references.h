// SPDX-License-Identifier: Apache-2.0
// TextureReferences: the client's side of texture references (hipcore/array/references.h): where the kernels'
// variables are, and writing to them. Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include "hipcore/array/references.h"
#include "proxy/copy/engine.h"
#include "proxy/memory/arrays.h"
#include "proxy/memory/textures.h"
#include "proxy/module/module_cache.h"

namespace tf::proxy {

class TextureReferences final : private array::ReferenceSide {
 public:
  TextureReferences(CopyEngine& copies, ModuleCache& modules, Arrays& arrays, Textures& textures)
      : copies_(copies), modules_(modules), library_(arrays.library(), textures.library(), *this) {}
  TextureReferences(const TextureReferences&) = delete;
  TextureReferences& operator=(const TextureReferences&) = delete;

  array::References& library() { return library_; }

 private:
  hipError_t find_variable(const textureReference* reference, std::uint64_t& address) override;
  hipError_t write_variable(std::uint64_t address, const textureReference& reference) override;
  std::size_t bytes_from(const void* address) override;

  CopyEngine& copies_;
  ModuleCache& modules_;
  array::References library_;
};

}  // namespace tf::proxy
