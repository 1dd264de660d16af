// SPDX-License-Identifier: Apache-2.0
// zlib and zstd, as far as offload bundles need them; see codecs.h.
#include "hipcore/codeobject/codecs.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <string>

namespace tf::codeobject {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

Status no_library(const char* name, const char* why) {
  return {Code::kUnsupported, std::string("compressed offload bundle: ") + name + why};
}

Status damaged(const char* what) {
  return {Code::kProtocol, std::string("compressed offload bundle: ") + what};
}

// A library that stays loaded: it costs nothing, and unloading would race with other threads' calls.
class Library {
 public:
  explicit Library(const char* name) : handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {}
  bool is_open() const { return handle_ != nullptr; }
  template <typename F>
  bool find(const char* name, F& function) const {
    function = reinterpret_cast<F>(dlsym(handle_, name));
    return function != nullptr;
  }

 private:
  void* handle_;
};

struct Zstd {
  std::size_t (*decompress)(void*, std::size_t, const void*, std::size_t) = nullptr;
  std::size_t (*frame_bytes)(const void*, std::size_t) = nullptr;
  unsigned (*is_error)(std::size_t) = nullptr;
};

Result<Zstd> zstd() {
  constexpr const char* kName = "libzstd.so.1";
  const Library library(kName);
  if (!library.is_open()) return no_library(kName, " is not installed");
  Zstd api;
  if (!library.find("ZSTD_decompress", api.decompress) ||
      !library.find("ZSTD_findFrameCompressedSize", api.frame_bytes) ||
      !library.find("ZSTD_isError", api.is_error)) {
    return no_library(kName, " lacks a function");
  }
  return api;
}

// Walks the heads of the frame's blocks.
Result<std::uint64_t> zstd_extent(const std::byte* packed, std::uint64_t) {
  auto api = zstd();
  if (!api) return api.status();
  const std::size_t frame = api->frame_bytes(packed, kMaxImageBytes);
  if (api->is_error(frame) != 0) return damaged("no zstd frame");
  return std::uint64_t{frame};
}

Status zstd_unpack(Bytes packed, std::span<std::byte> unpacked) {
  auto api = zstd();
  if (!api) return api.status();
  const std::size_t frame = api->frame_bytes(packed.data(), packed.size());
  if (api->is_error(frame) != 0) return damaged("no whole zstd frame");
  const std::size_t wrote = api->decompress(unpacked.data(), unpacked.size(), packed.data(), frame);
  if (api->is_error(wrote) != 0 || wrote != unpacked.size())
    return damaged("the zstd frame does not unpack to the size it claims");
  return Status::ok();
}

// zlib's z_stream, as its manual has it since version 1.0. Declared here, so that building needs no headers.
struct ZlibStream {
  const std::byte* next_in;
  unsigned avail_in;
  unsigned long total_in;
  std::byte* next_out;
  unsigned avail_out;
  unsigned long total_out;
  const char* message;
  void *state, *allocate, *release, *opaque;
  int data_type;
  unsigned long adler, reserved;
};
static_assert(sizeof(ZlibStream) == 112);

constexpr int kZlibOk = 0;
constexpr int kZlibStreamEnd = 1;
constexpr int kZlibNoFlush = 0;

struct Zlib {
  int (*init)(ZlibStream*, const char*, int) = nullptr;
  int (*inflate)(ZlibStream*, int) = nullptr;
  int (*end)(ZlibStream*) = nullptr;
};

Result<Zlib> zlib() {
  constexpr const char* kName = "libz.so.1";
  const Library library(kName);
  if (!library.is_open()) return no_library(kName, " is not installed");
  Zlib api;
  if (!library.find("inflateInit_", api.init) || !library.find("inflate", api.inflate) ||
      !library.find("inflateEnd", api.end)) {
    return no_library(kName, " lacks a function");
  }
  return api;
}

// Unpacks the stream at `packed` into `target`, and what does not fit there (all of it, if that is empty)
// into nowhere. Answers how many bytes the stream has. Input is given out page by page: zlib may look beyond
// the end of a stream, but not beyond its input.
Result<std::uint64_t> inflate_stream(Bytes packed, std::span<std::byte> target,
                                     std::uint64_t unpacked_bytes) {
  auto api = zlib();
  if (!api) return api.status();
  ZlibStream stream{};
  if (api->init(&stream, "1", sizeof stream) != kZlibOk)
    return Status{Code::kResourceExhausted, "compressed offload bundle: zlib has no memory"};
  std::array<std::byte, 16384> nowhere;
  int state = kZlibOk;
  while (state == kZlibOk && stream.total_out <= unpacked_bytes) {
    if (stream.avail_in == 0) {
      stream.next_in = packed.data() + stream.total_in;
      const auto in_page = reinterpret_cast<std::uintptr_t>(stream.next_in) % kPageBytes;
      stream.avail_in = static_cast<unsigned>(
          std::min<std::uint64_t>(kPageBytes - in_page, packed.size() - stream.total_in));
    }
    const std::span<std::byte> room =
        stream.total_out < target.size() ? target.subspan(stream.total_out) : std::span<std::byte>(nowhere);
    stream.next_out = room.data();
    stream.avail_out = static_cast<unsigned>(std::min<std::size_t>(room.size(), 1U << 30));
    state = api->inflate(&stream, kZlibNoFlush);
  }
  api->end(&stream);
  if (state != kZlibStreamEnd || stream.total_out != unpacked_bytes)
    return damaged("the zlib stream does not unpack to the size it claims");
  return std::uint64_t{stream.total_in};
}

Result<std::uint64_t> zlib_extent(const std::byte* packed, std::uint64_t unpacked_bytes) {
  return inflate_stream({packed, static_cast<std::size_t>(kMaxImageBytes)}, {}, unpacked_bytes);
}

Status zlib_unpack(Bytes packed, std::span<std::byte> unpacked) {
  return inflate_stream(packed, unpacked, unpacked.size()).status();
}

}  // namespace

Result<Codec> codec_of(std::uint16_t method) {
  // A match repeats at most 258 bytes, and takes at least two bits (RFC 1951, 3.2.5).
  if (method == kMethodZlib) return Codec{1032, zlib_extent, zlib_unpack};
  // A block stands for at most 128 KiB, and takes more than one byte (RFC 8878, 3.1.1.2).
  if (method == kMethodZstd) return Codec{std::uint64_t{1} << 17, zstd_extent, zstd_unpack};
  return Status{Code::kUnsupported,
                "compressed offload bundle: method " + std::to_string(method) + "; zlib and zstd are known"};
}

}  // namespace tf::codeobject
