// SPDX-License-Identifier: Apache-2.0
// The dynamic loader's list of the system's libraries, /etc/ld.so.cache (in glibc's format since 2.2, marked
// "glibc-ld.so.cache1.1"; see elf/dl-cache.h of glibc).
#pragma once

#include <map>
#include <optional>
#include <string>

namespace tf::tools {

inline constexpr std::size_t kCacheBytesMax = 16u << 20;

class LoaderCache {
 public:
  // Reads the file; empty if there is none, or it has another format.
  explicit LoaderCache(const std::string& path = "/etc/ld.so.cache");
  // The file of a library for x86-64 ("libc.so.6").
  std::optional<std::string> find(const std::string& name) const;

 private:
  std::map<std::string, std::string, std::less<>> files_;
};

}  // namespace tf::tools
