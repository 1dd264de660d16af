// SPDX-License-Identifier: Apache-2.0
// Reads ld.so.cache.
#include "tools/hip-remote/loader_cache.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string_view>

namespace tf::tools {
namespace {

constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
constexpr std::size_t kHeaderBytes = 48;  // magic, number of entries, bytes of strings, what is not used here
constexpr std::size_t kEntryBytes = 24;   // flags, name, file (offsets), version, capabilities
constexpr std::int32_t kX86_64 = 0x0303;  // FLAG_X8664_LIB64 | FLAG_ELF_LIBC6

template <typename Number>
Number at(std::string_view data, std::size_t offset) {
  Number number{};
  std::memcpy(&number, data.data() + offset, sizeof number);
  return number;
}

// The text at `offset` that ends with a zero; empty when there is none.
std::string_view text(std::string_view data, std::size_t offset) {
  if (offset >= data.size()) return {};
  const std::size_t end = data.find('\0', offset);
  return end == std::string_view::npos ? std::string_view() : data.substr(offset, end - offset);
}

}  // namespace

LoaderCache::LoaderCache(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : 0;
  std::string bytes(
      std::min<std::size_t>(static_cast<std::size_t>(std::max<std::streamoff>(size, 0)), kCacheBytesMax),
      '\0');
  file.seekg(0);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  std::string_view data(bytes);
  const std::size_t start = data.find(kMagic);  // an older form may come first
  if (start == std::string_view::npos) return;
  data.remove_prefix(start);  // offsets count from here
  if (data.size() < kHeaderBytes) return;
  const std::size_t count = at<std::uint32_t>(data, kMagic.size());
  if (count > (data.size() - kHeaderBytes) / kEntryBytes) return;
  for (std::size_t index = 0; index < count; ++index) {
    const std::size_t entry = kHeaderBytes + index * kEntryBytes;
    if (at<std::int32_t>(data, entry) != kX86_64) continue;
    const std::string_view name = text(data, at<std::uint32_t>(data, entry + 4));
    const std::string_view value = text(data, at<std::uint32_t>(data, entry + 8));
    if (!name.empty() && !value.empty()) files_.emplace(name, value);
  }
}

std::optional<std::string> LoaderCache::find(const std::string& name) const {
  const auto found = files_.find(name);
  return found == files_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace tf::tools
