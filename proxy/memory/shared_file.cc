// SPDX-License-Identifier: Apache-2.0
// Finds the file behind a mapping in /proc/self/maps.
#include "proxy/memory/shared_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

namespace tf::proxy {
namespace {

struct Mapping {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;
  unsigned major = 0;
  unsigned minor = 0;
  std::uint64_t inode = 0;
  std::string path;
  bool shared = false;  // and readable and writable
  bool is_private = false;
};

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
  void operator()(DIR* folder) const { ::closedir(folder); }
};

bool parse(const char* line, Mapping& mapping) {
  char access[5] = {};
  int path_at = 0;
  const int fields = std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
                                 &mapping.first, &mapping.end, access, &mapping.offset, &mapping.major,
                                 &mapping.minor, &mapping.inode, &path_at);
  if (fields != 7) return false;
  mapping.shared = access[0] == 'r' && access[1] == 'w' && access[3] == 's';
  mapping.is_private = access[3] == 'p';
  mapping.path = path_at > 0 ? line + path_at : "";
  while (!mapping.path.empty() && mapping.path.back() == '\n') mapping.path.pop_back();
  return true;
}

// Calls visit() for the mappings that end beyond `address`, by their addresses, until it returns false.
template <typename Visit>
void visit_mappings(std::uint64_t address, Visit visit) {
  const std::unique_ptr<std::FILE, Closer> maps(std::fopen("/proc/self/maps", "re"));
  if (maps == nullptr) return;
  char* line = nullptr;
  std::size_t room = 0;
  bool more = true;
  while (more && ::getline(&line, &room, maps.get()) > 0) {
    Mapping mapping;
    if (parse(line, mapping) && mapping.end > address) more = visit(std::move(mapping));
  }
  std::free(line);
}

std::optional<Mapping> mapping_of(std::uint64_t address, std::uint64_t bytes) {
  std::optional<Mapping> found;
  visit_mappings(address, [&](Mapping&& mapping) {
    if (mapping.first <= address && bytes <= mapping.end - address) found = std::move(mapping);
    return false;
  });
  return found;
}

// Only regular files: opening others may have side effects.
net::OwnedFd open_regular(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
  return net::OwnedFd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY));
}

bool is_file_of(int file, const Mapping& mapping) {
  struct stat facts {};
  return ::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_ino == mapping.inode &&
         ::major(facts.st_dev) == mapping.major && ::minor(facts.st_dev) == mapping.minor;
}

// A file that the program itself has open.
net::OwnedFd find_open(const Mapping& mapping) {
  const std::unique_ptr<DIR, Closer> folder(::opendir("/proc/self/fd"));
  if (folder == nullptr) return {};
  while (const dirent* entry = ::readdir(folder.get())) {
    char* end = nullptr;
    const long number = std::strtol(entry->d_name, &end, 10);
    if (end == entry->d_name || !is_file_of(static_cast<int>(number), mapping)) continue;
    net::OwnedFd copy(::fcntl(static_cast<int>(number), F_DUPFD_CLOEXEC, 3));
    if (copy && is_file_of(copy.get(), mapping) && (::fcntl(copy.get(), F_GETFL) & O_ACCMODE) == O_RDWR)
      return copy;
  }
  return {};
}

// The kernel's own link needs a privilege; the other names must prove to be the same file.
net::OwnedFd open_file(const Mapping& mapping) {
  char link[64];
  std::snprintf(link, sizeof link, "/proc/self/map_files/%" PRIx64 "-%" PRIx64, mapping.first, mapping.end);
  if (net::OwnedFd file = open_regular(link)) return file;
  if (net::OwnedFd file = find_open(mapping)) return file;
  if (mapping.path.empty() || mapping.path.front() != '/') return {};
  net::OwnedFd file = open_regular(mapping.path);
  return file && is_file_of(file.get(), mapping) ? std::move(file) : net::OwnedFd();
}

}  // namespace

std::optional<SharedFile> find_shared_file(std::uint64_t address, std::uint64_t bytes) {
  const auto mapping = mapping_of(address, bytes);
  if (!mapping || !mapping->shared) return std::nullopt;
  net::OwnedFd file = open_file(*mapping);
  if (!file) return std::nullopt;
  return SharedFile{std::move(file), mapping->offset + (address - mapping->first)};
}

bool is_private_memory(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + bytes;
  std::uint64_t known = address;  // private so far
  visit_mappings(address, [&](const Mapping& mapping) {
    if (!mapping.is_private || mapping.first > known) return false;
    known = mapping.end;
    return known < end;
  });
  return known >= end;
}

}  // namespace tf::proxy
