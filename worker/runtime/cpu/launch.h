// SPDX-License-Identifier: Apache-2.0
// A launch between its call and its stream.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>

#include "worker/runtime/cpu/kernel_api.h"

namespace tf::cpu {

struct alignas(16) ArgumentLine {
  std::byte bytes[16];
};

// The argument block on its way to the kernel: small ones inside the command, larger ones in a block.
class Arguments {
 public:
  // Null when there is no memory.
  std::byte* make(std::size_t bytes) {
    if (bytes <= sizeof small_) return small_.data()->bytes;
    large_.reset(new (std::nothrow) ArgumentLine[(bytes + 15) / 16]());
    return large_ ? large_.get()->bytes : nullptr;
  }
  const void* data() const { return large_ ? static_cast<const void*>(large_.get()) : small_.data(); }

 private:
  std::array<ArgumentLine, 3> small_{};
  std::unique_ptr<ArgumentLine[]> large_;
};

struct PreparedLaunch {
  Grid grid;
  Arguments arguments;
};

}  // namespace tf::cpu
