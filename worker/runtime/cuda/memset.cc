// SPDX-License-Identifier: Apache-2.0
// Fills, by the driver's.
#include "worker/runtime/cuda/api.h"
#include "worker/runtime/cuda/backend.h"
#include "worker/runtime/cuda/copy.h"

namespace tf::cuda {
namespace {

// `count` elements by one of the driver's pairs of functions.
template <typename Value>
hipError_t fill_line(driver::Result (*now)(void*, Value, std::size_t),
                     driver::Result (*later)(void*, Value, std::size_t, hipStream_t),
                     const runtime::Fill& wish, hipStream_t stream, Wait wait) {
  const auto value = static_cast<Value>(wish.value);
  const std::size_t count = wish.width / sizeof value;
  return wait == Wait::kYes ? settle(now(wish.target, value, count))
                            : check(later(wish.target, value, count, stream));
}

// One word: the stream's own write is faster than a kernel's, and the driver's fills are kernels.
bool write_word(void* target, std::uint32_t value, hipStream_t stream) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(target) % sizeof value == 0;
  return aligned && cu().StreamWriteValue32(stream, target, value, 0) == driver::Result::SUCCESS;
}

hipError_t fill_words(const runtime::Fill& wish, hipStream_t stream, Wait wait) {
  const bool is_word = wish.width == sizeof wish.value && wait == Wait::kNo;
  if (is_word && write_word(wish.target, wish.value, stream)) return hipSuccess;
  return fill_line(cu().MemsetD32, cu().MemsetD32Async, wish, stream, wait);
}

hipError_t fill_slices(const runtime::Fill& wish, hipStream_t stream, Wait wait) {
  const auto byte = static_cast<unsigned char>(wish.value);
  driver::Result result = driver::Result::SUCCESS;
  for (std::size_t slice = 0; slice < wish.depth && result == driver::Result::SUCCESS; ++slice) {
    void* const start = wish.target + slice * wish.slice;
    result = wait == Wait::kYes
                 ? cu().MemsetD2D8(start, wish.pitch, byte, wish.width, wish.height)
                 : cu().MemsetD2D8Async(start, wish.pitch, byte, wish.width, wish.height, stream);
  }
  return wait == Wait::kYes ? settle(result) : check(result);
}

}  // namespace

hipError_t Backend::fill(const runtime::Fill& wish, Stream stream, Wait wait) {
  if (wish.height != 1 || wish.depth != 1) return fill_slices(wish, stream, wait);
  switch (wish.element_bytes) {
    case 2: return fill_line(cu().MemsetD16, cu().MemsetD16Async, wish, stream, wait);
    case 4: return fill_words(wish, stream, wait);
    default: return fill_line(cu().MemsetD8, cu().MemsetD8Async, wish, stream, wait);
  }
}

}  // namespace tf::cuda
