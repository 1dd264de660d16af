// SPDX-License-Identifier: Apache-2.0
// Fat binaries and bundles; see fat_binary.h.
#include "hipcore/codeobject/fat_binary.h"

#include "hipcore/codeobject/compressed.h"
#include "hipcore/codeobject/elf.h"
#include "hipcore/codeobject/nvidia.h"
#include "hipcore/codeobject/targets.h"

#include <algorithm>
#include <string>

namespace tf::codeobject {
namespace {

constexpr std::string_view kBundleMagic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::size_t kEntryHeadBytes = 24;  // u64 offset, size, id length

struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const void* image;
  const void* unused;
};
static_assert(sizeof(Wrapper) == 24);

constexpr std::string_view kSpirvTarget = "amdgcnspirv";  // of clang's --offload-arch
constexpr const char* kUnknownForm = "code object: neither ELF nor PTX nor an offload bundle";

Status malformed_bundle(const char* what) {
  return {Code::kProtocol, std::string("offload bundle: ") + what};
}

// Length of a bundle that starts at `bytes`, by its table.
Result<std::uint64_t> bundle_extent(const std::byte* bytes) {
  const auto count = load<std::uint64_t>({bytes, kBundleMagic.size() + 8}, kBundleMagic.size());
  if (count > kMaxBundleEntries) return malformed_bundle("more than 4096 entries");
  std::uint64_t at = kBundleMagic.size() + 8, end = at;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Bytes head{bytes + at, kEntryHeadBytes};
    const auto offset = load<std::uint64_t>(head, 0), size = load<std::uint64_t>(head, 8);
    const auto id_bytes = load<std::uint64_t>(head, 16);
    if (id_bytes > kMaxBundleIdBytes) return malformed_bundle("an id of more than 4096 bytes");
    if (offset > kMaxImageBytes || size > kMaxImageBytes - offset)
      return malformed_bundle("larger than 4 GiB");
    at += kEntryHeadBytes + id_bytes;
    end = std::max({end, at, offset + size});
  }
  return end;
}

Status spirv_refused(std::string_view device_target) {
  return {Code::kUnsupported, "the code is SPIR-V, which is not compiled here; build it for " +
                                  std::string(device_target) + " (--offload-arch)"};
}

bool is_spirv(Bytes image) {
  return image.size() >= sizeof kSpirvMagic && load<std::uint32_t>(image, 0) == kSpirvMagic;
}

Status no_code(const std::vector<BundleEntry>& entries, std::string_view device_target) {
  constexpr std::size_t kNamed = 16;
  std::string message = "no code object for " + std::string(device_target) + "; the image has";
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const BundleEntry& entry = entries[i];
    if (is_spirv(entry.image) || target_of_entry(entry.id) == kSpirvTarget)
      return spirv_refused(device_target);
    if (i < kNamed) message.append(" ").append(entry.id);
  }
  if (entries.size() > kNamed) message += " and " + std::to_string(entries.size() - kNamed) + " more";
  return {Code::kUnavailable, message};
}

Result<Bytes> best_entry(Bytes bundle, std::string_view device_target) {
  auto entries = read_bundle(bundle);
  if (!entries) return entries.status();
  const BundleEntry* best = nullptr;
  int best_score = -1;
  const bool nvidia = sm_version(device_target).has_value();
  for (const BundleEntry& entry : *entries) {
    const std::string_view target = target_of_entry(entry.id);
    const int score =
        nvidia ? match_nvidia(target, entry.image, device_target) : match_target(target, device_target);
    if (score <= best_score || entry.image.empty()) continue;
    best = &entry;
    best_score = score;
  }
  if (best == nullptr) return no_code(*entries, device_target);
  return best->image;
}

// Compares byte by byte: if this is not a wrapper it may be a text that ends sooner.
bool begins_with_magic(const void* wrapper) {
  const auto* at = static_cast<const unsigned char*>(wrapper);
  for (unsigned i = 0; i < sizeof kWrapperMagic; ++i)
    if (at[i] != (kWrapperMagic >> 8 * i & 0xff)) return false;
  return true;
}

}  // namespace

Result<const void*> wrapped_image(const void* wrapper) {
  if (wrapper == nullptr) return Status{Code::kInvalidArgument, "fat binary: null"};
  if (!begins_with_magic(wrapper)) return Status{Code::kInvalidArgument, "fat binary: no HIPF wrapper"};
  const auto head = load<Wrapper>({static_cast<const std::byte*>(wrapper), sizeof(Wrapper)}, 0);
  if (head.version != 1 || head.image == nullptr) {
    return Status{Code::kInvalidArgument, "fat binary: no HIPF wrapper of version 1"};
  }
  return head.image;
}

bool is_bundle(Bytes image) {
  return image.size() >= kBundleMagic.size() + 8 &&
         std::memcmp(image.data(), kBundleMagic.data(), kBundleMagic.size()) == 0;
}

bool is_compressed_bundle(Bytes image) {
  return image.size() >= 4 && std::memcmp(image.data(), "CCOB", 4) == 0;
}

Result<std::uint64_t> image_extent(const void* image) {
  if (image == nullptr) return Status{Code::kInvalidArgument, "code object: null"};
  const auto* bytes = static_cast<const std::byte*>(image);
  if (std::memcmp(bytes, "\177ELF", 4) == 0) return Elf::extent(image);
  if (std::memcmp(bytes, "CCOB", 4) == 0) return compressed_extent(image);
  const char* const text = static_cast<const char*>(image);
  if (std::strncmp(text, kBundleMagic.data(), kBundleMagic.size()) == 0) return bundle_extent(bytes);
  if (load<std::uint32_t>({bytes, 4}, 0) == kCudaFatbinMagic) return cuda_fatbin_extent(image);
  if (is_spirv({bytes, 4})) return spirv_refused("the device");
  if (starts_ptx(text, kMaxPtxHeadBytes)) return ptx_extent(text);
  return Status{Code::kInvalidArgument, kUnknownForm};
}

Result<std::vector<BundleEntry>> read_bundle(Bytes image) {
  if (!is_bundle(image)) return malformed_bundle("no magic");
  const auto count = load<std::uint64_t>(image, kBundleMagic.size());
  if (count > kMaxBundleEntries) return malformed_bundle("more than 4096 entries");
  std::vector<BundleEntry> entries;
  std::uint64_t at = kBundleMagic.size() + 8;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto head = slice(image, at, kEntryHeadBytes);
    if (!head) return malformed_bundle("the table is cut off");
    const auto id_bytes = load<std::uint64_t>(*head, 16);
    const auto id = slice(image, at + kEntryHeadBytes, id_bytes);
    const auto body = slice(image, load<std::uint64_t>(*head, 0), load<std::uint64_t>(*head, 8));
    if (!id || id_bytes > kMaxBundleIdBytes) return malformed_bundle("an id lies outside");
    if (!body) return malformed_bundle("an entry lies outside");
    entries.push_back({{reinterpret_cast<const char*>(id->data()), id->size()}, *body});
    at += kEntryHeadBytes + id_bytes;
  }
  return entries;
}

Result<Selected> select_code_object(Bytes image, std::string_view device_target) {
  Selected selected;
  const bool nvidia = is_nvidia_code(image);
  if (nvidia || Elf::has_magic(image)) {
    if (nvidia != sm_version(device_target).has_value()) {
      return Status{Code::kUnavailable, "a bare code object that is not for " + std::string(device_target)};
    }
    selected.image = image;
    return selected;
  }
  if (is_spirv(image)) return spirv_refused(device_target);
  Bytes bundle = image;
  if (is_compressed_bundle(image)) {
    auto unpacked = decompress_bundle(image);
    if (!unpacked) return unpacked.status();
    selected.storage = std::move(*unpacked);
    bundle = selected.storage;  // a moved vector keeps its address
  }
  if (!is_bundle(bundle)) return Status{Code::kInvalidArgument, kUnknownForm};
  auto entry = best_entry(bundle, device_target);
  if (!entry) return entry.status();
  selected.image = *entry;
  return selected;
}

}  // namespace tf::codeobject
