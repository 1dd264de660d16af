// SPDX-License-Identifier: Apache-2.0
// CCOB versions 1 to 3; see compressed.h. zstd is loaded when the first compressed image appears, so that
// applications without any carry no dependency. Any thread.
#include "hipcore/codeobject/compressed.h"

#include "hipcore/codeobject/fat_binary.h"

#include <dlfcn.h>

#include <algorithm>
#include <string>

namespace tf::codeobject {
namespace {

constexpr std::uint16_t kMethodZstd = 1;
constexpr std::uint64_t kMaxUnpackedBytes = std::uint64_t{2} << 30;

struct Head {
  std::uint16_t method = 0;
  std::uint64_t total_bytes = 0;  // 0: version 1 does not say
  std::uint64_t unpacked_bytes = 0;
  std::size_t head_bytes = 0;
};

// magic u32 | version u16 | method u16 | [total] | unpacked | hash u64; sizes are u32 up to version 2, then
// u64.
Result<Head> read_head(Bytes image) {
  if (image.size() < 8 || !is_compressed_bundle(image)) return Status{Code::kProtocol, "CCOB: cut off"};
  const auto version = load<std::uint16_t>(image, 4);
  Head head;
  head.method = load<std::uint16_t>(image, 6);
  head.head_bytes = version == 1 ? 20 : version == 2 ? 24 : 32;
  if (version < 1 || version > 3) {
    return Status{Code::kUnsupported, "CCOB: version " + std::to_string(version) + "; 1 to 3 are known"};
  }
  if (image.size() < head.head_bytes) return Status{Code::kProtocol, "CCOB: cut off in its head"};
  if (version == 1) head.unpacked_bytes = load<std::uint32_t>(image, 8);
  if (version == 2) {
    head.total_bytes = load<std::uint32_t>(image, 8);
    head.unpacked_bytes = load<std::uint32_t>(image, 12);
  }
  if (version == 3) {
    head.total_bytes = load<std::uint64_t>(image, 8);
    head.unpacked_bytes = load<std::uint64_t>(image, 16);
  }
  if (version > 1 && head.total_bytes < head.head_bytes)
    return Status{Code::kProtocol, "CCOB: sizes disagree"};
  return head;
}

struct Zstd {
  std::size_t (*decompress)(void*, std::size_t, const void*, std::size_t) = nullptr;
  std::size_t (*frame_bytes)(const void*, std::size_t) = nullptr;
  unsigned (*is_error)(std::size_t) = nullptr;
};

template <typename F>
void resolve(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
}

// The library stays loaded: it costs nothing and unloading would race with other threads' calls.
Result<Zstd> zstd() {
  void* library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Status{Code::kUnavailable, "CCOB: libzstd.so.1 is not installed"};
  Zstd api;
  resolve(library, "ZSTD_decompress", api.decompress);
  resolve(library, "ZSTD_findFrameCompressedSize", api.frame_bytes);
  resolve(library, "ZSTD_isError", api.is_error);
  if (!api.decompress || !api.frame_bytes || !api.is_error) {
    return Status{Code::kUnavailable, "CCOB: libzstd.so.1 lacks a function"};
  }
  return api;
}

}  // namespace

Result<std::uint64_t> compressed_extent(const void* image) {
  const auto* bytes = static_cast<const std::byte*>(image);
  auto head = read_head({bytes, 32});
  if (!head) return head.status();
  if (head->total_bytes != 0) {
    if (head->total_bytes > kMaxImageBytes) return Status{Code::kProtocol, "CCOB: larger than 4 GiB"};
    return head->total_bytes;
  }
  auto api = zstd();
  if (!api) return api.status();
  const std::size_t frame = api->frame_bytes(bytes + head->head_bytes, kMaxImageBytes);
  if (api->is_error(frame) != 0) return Status{Code::kProtocol, "CCOB: no zstd frame"};
  return head->head_bytes + frame;
}

Result<std::vector<std::byte>> decompress_bundle(Bytes image) {
  auto head = read_head(image);
  if (!head) return head.status();
  if (head->method != kMethodZstd)
    return Status{Code::kUnsupported, "CCOB: compressed by a method other than zstd"};
  if (head->unpacked_bytes > kMaxUnpackedBytes)
    return Status{Code::kResourceExhausted, "CCOB: more than 2 GiB unpacked"};
  if (head->total_bytes > image.size()) return Status{Code::kProtocol, "CCOB: cut off"};
  const std::size_t end = head->total_bytes != 0 ? static_cast<std::size_t>(head->total_bytes) : image.size();
  const Bytes packed = image.subspan(head->head_bytes, end - head->head_bytes);
  // A claim beyond what zstd can reach (about 2^17 for one byte of a run) is a lie: refuse before reserving.
  if (head->unpacked_bytes / (std::uint64_t{1} << 17) > packed.size()) {
    return Status{Code::kProtocol, "CCOB: sizes disagree"};
  }
  auto api = zstd();
  if (!api) return api.status();
  const std::size_t frame = api->frame_bytes(packed.data(), packed.size());
  if (api->is_error(frame) != 0) return Status{Code::kProtocol, "CCOB: no whole zstd frame"};
  std::vector<std::byte> unpacked(static_cast<std::size_t>(head->unpacked_bytes));
  const std::size_t wrote = api->decompress(unpacked.data(), unpacked.size(), packed.data(), frame);
  if (api->is_error(wrote) != 0 || wrote != unpacked.size()) {
    return Status{Code::kProtocol, "CCOB: the zstd frame does not unpack to the size it claims"};
  }
  return unpacked;
}

}  // namespace tf::codeobject
