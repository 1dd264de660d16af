// SPDX-License-Identifier: Apache-2.0
// CCOB versions 1 to 3; see compressed.h. The layouts are those of clang's CompressedOffloadBundle
// (clang/Driver/OffloadBundler.h). Any thread.
#include "hipcore/codeobject/compressed.h"

#include "hipcore/codeobject/codecs.h"
#include "hipcore/codeobject/fat_binary.h"

#include <string>

namespace tf::codeobject {
namespace {

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
    return Status{Code::kUnsupported,
                  "compressed offload bundle: version " + std::to_string(version) + "; 1 to 3 are known"};
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

}  // namespace

Result<std::uint64_t> compressed_extent(const void* image) {
  const auto* bytes = static_cast<const std::byte*>(image);
  auto head = read_head({bytes, 32});
  if (!head) return head.status();
  if (head->total_bytes != 0) {
    if (head->total_bytes > kMaxImageBytes) return Status{Code::kProtocol, "CCOB: larger than 4 GiB"};
    return head->total_bytes;
  }
  auto codec = codec_of(head->method);
  if (!codec) return codec.status();
  auto stream = codec->extent(bytes + head->head_bytes, head->unpacked_bytes);
  if (!stream) return stream.status();
  return head->head_bytes + *stream;
}

Result<std::vector<std::byte>> decompress_bundle(Bytes image) {
  auto head = read_head(image);
  if (!head) return head.status();
  auto codec = codec_of(head->method);
  if (!codec) return codec.status();
  // rocPRIM's tests have code for 13 processors in 3.1 GiB.
  if (head->unpacked_bytes > kMaxImageBytes)
    return Status{Code::kResourceExhausted, "CCOB: more than 4 GiB unpacked"};
  if (head->total_bytes > image.size()) return Status{Code::kProtocol, "CCOB: cut off"};
  const std::size_t end = head->total_bytes != 0 ? static_cast<std::size_t>(head->total_bytes) : image.size();
  const Bytes packed = image.subspan(head->head_bytes, end - head->head_bytes);
  // A claim beyond what the method can reach is a lie: refuse before reserving.
  if (head->unpacked_bytes / codec->max_ratio > packed.size())
    return Status{Code::kProtocol, "CCOB: sizes disagree"};
  std::vector<std::byte> unpacked(static_cast<std::size_t>(head->unpacked_bytes));
  TF_RETURN_IF_ERROR(codec->unpack(packed, unpacked));
  return unpacked;
}

}  // namespace tf::codeobject
