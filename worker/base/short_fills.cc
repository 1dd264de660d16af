// SPDX-License-Identifier: Apache-2.0
// Fills that end before the first multiple of 8, as copies from a table of repeated bytes.
#include "worker/base/short_fills.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tf::worker {
namespace {

constexpr std::size_t kCutBytes = 8;  // AMD's runtime cuts fills at multiples of it
constexpr std::size_t kByteValues = 256;
constexpr std::size_t kRowNodesMax = 1 << 16;  // of one fill in a graph

protocol::HipTable runtime;  // its own functions

struct LineFill {
  std::byte* target;
  std::uint32_t value;
  std::size_t element_bytes;
  std::size_t count;

  bool is_short() const {
    const std::size_t to_cut = -reinterpret_cast<std::uintptr_t>(target) % kCutBytes;
    return count != 0 && count < kCutBytes && count * element_bytes < to_cut;
  }
  std::uint8_t byte(std::size_t index) const { return static_cast<std::uint8_t>(value >> index * 8); }
};

std::uint8_t* make_table() {
  void* memory = nullptr;
  const std::size_t bytes = kByteValues * kCutBytes;
  if (runtime.hipHostMalloc(&memory, bytes, hipHostMallocPortable) != hipSuccess) return nullptr;
  auto* const table = static_cast<std::uint8_t*>(memory);
  for (std::size_t value = 0; value < kByteValues; ++value)
    std::memset(table + value * kCutBytes, static_cast<int>(value), kCutBytes);
  return table;
}

// kCutBytes times `value`, for copies to any device. Null: there is no memory.
std::uint8_t* repeated(std::uint8_t value) {
  static std::uint8_t* const table = make_table();
  return table == nullptr ? nullptr : table + value * kCutBytes;
}

// One copy for each byte of the element: a column of bytes.
hipError_t copy_short(const LineFill& fill, hipStream_t stream) {
  for (std::size_t i = 0; i < fill.element_bytes; ++i) {
    const void* const source = repeated(fill.byte(i));
    if (source == nullptr) return hipErrorOutOfMemory;
    if (const hipError_t error = runtime.hipMemcpy2DAsync(fill.target + i, fill.element_bytes, source, 1, 1,
                                                          fill.count, hipMemcpyHostToDevice, stream))
      return error;
  }
  return hipSuccess;
}

hipError_t fill_bytes(void* target, int value, std::size_t bytes, hipStream_t stream) {
  const LineFill fill{static_cast<std::byte*>(target), static_cast<std::uint32_t>(value), 1, bytes};
  return fill.is_short() ? copy_short(fill, stream) : runtime.hipMemsetAsync(target, value, bytes, stream);
}

hipError_t fill_shorts(hipDeviceptr_t target, unsigned short value, std::size_t count, hipStream_t stream) {
  const LineFill fill{static_cast<std::byte*>(target), value, sizeof value, count};
  return fill.is_short() ? copy_short(fill, stream) : runtime.hipMemsetD16Async(target, value, count, stream);
}

hipError_t fill_words(hipDeviceptr_t target, int value, std::size_t count, hipStream_t stream) {
  const LineFill fill{static_cast<std::byte*>(target), static_cast<std::uint32_t>(value), sizeof value,
                      count};
  return fill.is_short() ? copy_short(fill, stream) : runtime.hipMemsetD32Async(target, value, count, stream);
}

// The runtime takes rows without gaps for a line.
hipError_t fill_rows(void* target, std::size_t pitch, int value, std::size_t width, std::size_t height,
                     hipStream_t stream) {
  const LineFill fill{static_cast<std::byte*>(target), static_cast<std::uint32_t>(value), 1, width * height};
  return width == pitch && fill.is_short()
             ? copy_short(fill, stream)
             : runtime.hipMemset2DAsync(target, pitch, value, width, height, stream);
}

hipError_t fill_slices(hipPitchedPtr target, int value, hipExtent extent, hipStream_t stream) {
  const LineFill fill{static_cast<std::byte*>(target.ptr), static_cast<std::uint32_t>(value), 1,
                      extent.width * extent.height * extent.depth};
  const bool line = extent.width == target.pitch && extent.height == target.ysize;
  return line && fill.is_short() ? copy_short(fill, stream)
                                 : runtime.hipMemset3DAsync(target, value, extent, stream);
}

// Nodes that follow each other in a graph; the last one stands for all.
class Chain {
 public:
  Chain(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* before, std::size_t count)
      : node_(node), graph_(graph), before_(before), count_(count) {}

  hipError_t add(const hipMemsetParams& line) {
    const LineFill fill{static_cast<std::byte*>(line.dst), line.value, line.elementSize, line.width};
    if (fill.is_short()) return add_copies(fill);
    return step(runtime.hipGraphAddMemsetNode(node_, graph_, before_, count_, &line));
  }

 private:
  hipError_t add_copies(const LineFill& fill) {
    for (std::size_t i = 0; i < fill.element_bytes; ++i) {
      void* const source = repeated(fill.byte(i));
      if (source == nullptr) return hipErrorOutOfMemory;
      hipMemcpy3DParms copy{};
      copy.srcPtr = {source, 1, 1, fill.count};
      copy.dstPtr = {fill.target + i, fill.element_bytes, fill.element_bytes, fill.count};
      copy.extent = {1, fill.count, 1};
      copy.kind = hipMemcpyHostToDevice;
      if (const hipError_t error = step(runtime.hipGraphAddMemcpyNode(node_, graph_, before_, count_, &copy)))
        return error;
    }
    return hipSuccess;
  }
  hipError_t step(hipError_t error) {
    last_ = *node_;
    before_ = &last_;
    count_ = 1;
    return error;
  }

  hipGraphNode_t* node_;
  hipGraph_t graph_;
  const hipGraphNode_t* before_;
  std::size_t count_;
  hipGraphNode_t last_ = nullptr;
};

// A node of several rows sets each element to the number of its bytes (5.2.3): each row gets a node.
hipError_t add_fill(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* before, std::size_t count,
                    const hipMemsetParams* parameters) {
  hipMemsetParams line = *parameters;
  line.height = 1;
  std::size_t rows = parameters->height;
  if (rows > 1 && line.width * line.elementSize == line.pitch) {
    line.width *= rows;
    rows = 1;
  }
  if (rows > kRowNodesMax) return hipErrorNotSupported;
  Chain chain(node, graph, before, count);
  for (std::size_t y = 0; y < rows; ++y) {
    if (const hipError_t error = chain.add(line)) return error;
    line.dst = static_cast<std::byte*>(line.dst) + line.pitch;
  }
  return hipSuccess;
}

}  // namespace

void mend_short_fills(protocol::HipTable& hip) {
  runtime = hip;
  hip.hipMemsetAsync = fill_bytes;
  hip.hipMemsetD16Async = fill_shorts;
  hip.hipMemsetD32Async = fill_words;
  hip.hipMemset2DAsync = fill_rows;
  hip.hipMemset3DAsync = fill_slices;
  hip.hipGraphAddMemsetNode = add_fill;
}

}  // namespace tf::worker
