// SPDX-License-Identifier: Apache-2.0
// Every form of copy that HIP has between host memory and the device, in one table, with memory of every kind
// to use it on. Rows of docs/copy-semantics.md.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tests/api/hip_test.h"

namespace tf::api_test {

// How the bytes of a copy lie at both ends: `width` bytes from every `pitch`, `rows` of them in each slice.
struct Layout {
  std::size_t width = 0;
  std::size_t rows = 1;
  std::size_t slices = 1;
  std::size_t host_pitch = 0;
  std::size_t device_pitch = 0;

  std::size_t host_bytes() const { return host_pitch * rows * slices; }
  std::size_t device_bytes() const { return device_pitch * rows * slices; }
  bool is_copied(std::size_t at) const { return at % host_pitch < width; }
};

enum class Geometry { kLine, kRows, kBox };
enum class Direction { kToDevice, kFromDevice };

// About `bytes` to copy. Rows have gaps behind them, at both ends; of an array only at the host's, and they
// are whole elements of kElementBytes.
Layout layout_of(Geometry geometry, std::size_t bytes, bool array = false);
inline constexpr std::size_t kElementBytes = 16;

struct Copy {
  Direction direction = Direction::kToDevice;
  std::byte* device = nullptr;
  std::byte* host = nullptr;
  Layout layout;
  hipStream_t stream = nullptr;
  hipArray_t array = nullptr;  // the device's end, then `device` is some memory of the same size

  bool up() const { return direction == Direction::kToDevice; }
  void* target() const { return up() ? device : host; }
  const void* source() const { return up() ? host : device; }
  std::size_t target_pitch() const { return up() ? layout.device_pitch : layout.host_pitch; }
  std::size_t source_pitch() const { return up() ? layout.host_pitch : layout.device_pitch; }
  hipMemcpyKind kind() const { return up() ? hipMemcpyHostToDevice : hipMemcpyDeviceToHost; }
};

struct CopyForm {
  const char* name;
  Geometry geometry;
  enum class Stream { kNull, kPerThread, kGiven } stream;
  bool waits;                                       // the synchronous forms
  enum class End { kMemory, kSymbol, kArray } end;  // the device's; the symbol is block_symbol()
  hipError_t (*make)(const Copy& copy);
};
std::span<const CopyForm> copy_forms();

enum class Memory { kPageable, kPinned, kRegistered, kManaged };
inline constexpr Memory kMemories[] = {Memory::kPageable, Memory::kPinned, Memory::kRegistered,
                                       Memory::kManaged};
const char* name_of(Memory memory);

// Host memory of one kind.
class HostBlock {
 public:
  HostBlock(Memory memory, std::size_t bytes);
  ~HostBlock();
  HostBlock(const HostBlock&) = delete;
  HostBlock& operator=(const HostBlock&) = delete;

  std::byte* get() const { return bytes_; }

 private:
  Memory memory_;
  std::byte* bytes_ = nullptr;
};

}  // namespace tf::api_test
