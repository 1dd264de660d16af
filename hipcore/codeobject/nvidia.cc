// SPDX-License-Identifier: Apache-2.0
// Parses PTX text, cubins and CUDA's fat binaries. All input is hostile.
#include "hipcore/codeobject/nvidia.h"

#include "hipcore/codeobject/elf.h"

#include <elf.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace tf::codeobject {
namespace {

constexpr std::string_view kVersionWord = ".version";
constexpr std::uint64_t kMaxFatbinBytes = std::uint64_t{4} << 30;
constexpr std::size_t kMaxFatbinParts = 4096;

// The header of a fat binary; parts follow it, each with a header of its own.
struct FatbinHead {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t head_bytes;
  std::uint64_t body_bytes;
};
static_assert(sizeof(FatbinHead) == 16);

// As much of a part's header as tells where the next one is.
struct PartHead {
  std::uint16_t kind;
  std::uint16_t unknown;
  std::uint32_t head_bytes;
  std::uint64_t body_bytes;
};
static_assert(sizeof(PartHead) == 16);

Status malformed_fatbin(const char* what) {
  return {Code::kProtocol, std::string("CUDA fat binary: ") + what};
}

Result<std::uint64_t> fatbin_bytes(const FatbinHead& head) {
  if (head.magic != kCudaFatbinMagic) return malformed_fatbin("no magic");
  if (head.head_bytes < sizeof head) return malformed_fatbin("its header is too short");
  if (head.body_bytes > kMaxFatbinBytes) return malformed_fatbin("larger than 4 GiB");
  return head.head_bytes + head.body_bytes;
}

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

bool starts_ptx(const char* text, std::size_t limit) {
  if (text == nullptr) return false;
  limit = std::min(limit, kMaxPtxHeadBytes);
  std::size_t matched = 0;  // of kVersionWord
  enum { kBetween, kSlash, kLine, kBlock, kStar } state = kBetween;
  for (std::size_t at = 0; at < limit && text[at] != '\0'; ++at) {  // reads nothing beyond a zero
    const char c = text[at];
    switch (state) {
      case kBetween:
        if (c == kVersionWord[matched]) {
          if (++matched == kVersionWord.size()) return true;
        } else if (matched != 0 || (c != '/' && !is_blank(c))) {
          return false;
        } else if (c == '/') {
          state = kSlash;
        }
        break;
      case kSlash:
        if (c != '/' && c != '*') return false;
        state = c == '/' ? kLine : kBlock;
        break;
      case kLine: state = c == '\n' ? kBetween : kLine; break;
      case kBlock: state = c == '*' ? kStar : kBlock; break;
      case kStar: state = c == '/' ? kBetween : c == '*' ? kStar : kBlock; break;
    }
  }
  return false;
}

bool is_cubin(Bytes image) {
  return Elf::has_magic(image) && load<Elf64_Ehdr>(image, 0).e_machine == kMachineCuda;
}

bool is_cuda_fatbin(Bytes image) {
  return image.size() >= sizeof(FatbinHead) && load<std::uint32_t>(image, 0) == kCudaFatbinMagic;
}

bool can_print(Bytes image) {
  if (is_cuda_fatbin(image)) return true;
  const std::string_view text(reinterpret_cast<const char*>(image.data()), image.size());
  return text.find("vprintf") != text.npos || text.find("__assertfail") != text.npos;
}

Result<std::uint64_t> ptx_extent(const char* text) {
  const void* const end = std::memchr(text, 0, static_cast<std::size_t>(kMaxPtxBytes));
  if (end == nullptr) return Status{Code::kResourceExhausted, "PTX: larger than 256 MiB"};
  return static_cast<std::uint64_t>(static_cast<const char*>(end) - text) + 1;
}

Bytes ptx_text(Bytes image) {
  return image.first(
      static_cast<std::size_t>(std::find(image.begin(), image.end(), std::byte{}) - image.begin()));
}

Result<std::uint64_t> cuda_fatbin_extent(const void* image) {
  return fatbin_bytes(load<FatbinHead>({static_cast<const std::byte*>(image), sizeof(FatbinHead)}, 0));
}

Result<std::uint64_t> cuda_fatbin_extent(Bytes image) {
  if (image.size() < sizeof(FatbinHead)) return malformed_fatbin("cut off");
  const auto head = load<FatbinHead>(image, 0);
  auto whole = fatbin_bytes(head);
  if (!whole) return whole;
  const auto body = slice(image, head.head_bytes, head.body_bytes);
  if (!body) return malformed_fatbin("cut off");
  std::size_t parts = 0;
  for (std::uint64_t at = 0; at < body->size();) {
    const auto bytes = slice(*body, at, sizeof(PartHead));
    if (!bytes || ++parts > kMaxFatbinParts) return malformed_fatbin("a part's header lies outside");
    const auto part = load<PartHead>(*bytes, 0);
    if (part.head_bytes < sizeof part) return malformed_fatbin("a part's header is too short");
    if (!slice(*body, at + part.head_bytes, part.body_bytes)) return malformed_fatbin("a part lies outside");
    at += part.head_bytes + part.body_bytes;
  }
  return whole;
}

std::optional<SmVersion> sm_version(std::string_view target) {
  target = target.substr(0, target.find(':'));
  for (const std::string_view prefix : {"sm_", "compute_"}) {
    if (!target.starts_with(prefix)) continue;
    SmVersion version;
    const char* const end = target.data() + target.size();
    const auto read = std::from_chars(target.data() + prefix.size(), end, version.number);
    constexpr std::uint32_t kMaxNumber = 9999;
    if (read.ec != std::errc{} || version.number > kMaxNumber || end - read.ptr > 1) return std::nullopt;
    version.only = read.ptr != end;
    if (version.only && *read.ptr != 'a' && *read.ptr != 'f') return std::nullopt;
    return version;
  }
  return std::nullopt;
}

int match_nvidia(std::string_view entry_target, Bytes image, std::string_view device_target) {
  const auto entry = sm_version(entry_target), device = sm_version(device_target);
  if (!entry || !device || entry->number > device->number) return -1;
  if (entry->only && entry->number != device->number) return -1;
  const bool cubin = is_cubin(image);
  if (cubin && entry->major() != device->major()) return -1;
  if (!cubin && !is_nvidia_code(image)) return -1;
  // Prefers the newest; of two equal ones the one that needs no compiling.
  return static_cast<int>(2 * entry->number) + (cubin ? 1 : 0);
}

}  // namespace tf::codeobject
