// SPDX-License-Identifier: Apache-2.0
// KernelLayout: what the client knows about a kernel from its code object's metadata, and how it packs the
// kernel's arguments. Immutable after loading; any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hipcore/wire/device_snapshot.h"

namespace tf::proxy {

// Limit on the explicit arguments of one kernel: fits a message with room to spare.
inline constexpr std::uint32_t kArgumentBytesMax = 48 * 1024;

struct KernelArgument {
  std::uint32_t offset_bytes = 0;
  std::uint32_t size_bytes = 0;
};

struct KernelLayout {
  std::string name;
  std::vector<KernelArgument> arguments;  // explicit ones, in source order
  std::uint32_t argument_bytes = 0;       // end of the last explicit argument
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t private_bytes = 0;
  std::uint32_t max_threads_per_block = 1024;
  std::uint32_t registers = 0;
  bool can_print = false;
};

// A check on untrusted metadata: arguments do not overlap, and end within kArgumentBytesMax.
bool is_sane(const KernelLayout& layout);

// The bytes of one launch's arguments.
class PackedArguments {
 public:
  // From one pointer per argument. hipErrorInvalidValue if pointers are missing.
  hipError_t pack(const KernelLayout& layout, void* const* arguments);
  // From HIP_LAUNCH_PARAM_BUFFER_POINTER/_SIZE/_END: bytes laid out by the caller.
  hipError_t pack_extra(const KernelLayout& layout, void* const* extra);
  std::span<const std::byte> bytes() const {
    return {size_ <= small_.size() ? small_.data() : large_.data(), size_};
  }

 private:
  std::byte* resize(std::size_t bytes);

  std::size_t size_ = 0;
  alignas(16) std::array<std::byte, 512> small_;
  std::vector<std::byte> large_;
};

// One launch, in blocks and threads.
struct LaunchShape {
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  std::uint64_t shared_bytes = 0;
};

// The checks that AMD's runtime makes at the call.
hipError_t check_shape(const protocol::DeviceProperties& device, const KernelLayout& layout,
                       const LaunchShape& shape);

}  // namespace tf::proxy
