// SPDX-License-Identifier: Apache-2.0
// The ways in which clang compresses offload bundles: zlib and zstd. Their libraries are loaded when the
// first image needs them, so that applications without one carry no dependency. Hostile input; any thread.
#pragma once

#include "hipcore/codeobject/bytes.h"
#include "transport/base/status.h"

#include <cstdint>
#include <span>

namespace tf::codeobject {

// The numbers are those of llvm::compression::Format.
inline constexpr std::uint16_t kMethodZlib = 0;
inline constexpr std::uint16_t kMethodZstd = 1;

struct Codec {
  std::uint64_t max_ratio;  // no byte of a stream stands for more bytes than this
  // Bytes of the stream at `packed`, which stands for `unpacked_bytes`. The caller guarantees that it is
  // whole: reads nothing on pages behind its end.
  Result<std::uint64_t> (*extent)(const std::byte* packed, std::uint64_t unpacked_bytes);
  // Fills `unpacked` from the stream that `packed` begins with. kProtocol: it is damaged, cut off, or stands
  // for fewer or more bytes.
  Status (*unpack)(Bytes packed, std::span<std::byte> unpacked);
};

// kUnsupported: an unknown method; extent() and unpack() also if the library is not installed.
Result<Codec> codec_of(std::uint16_t method);

}  // namespace tf::codeobject
