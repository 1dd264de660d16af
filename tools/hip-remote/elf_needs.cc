// SPDX-License-Identifier: Apache-2.0
// Reads which libraries a program needs, and finds them as the loader would.
#include "tools/hip-remote/elf_needs.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>

#include "tools/hip-remote/loader_cache.h"
#include "transport/net/fd.h"

namespace tf::tools {
namespace {

Status malformed(const std::string& path, const char* what) {
  return {Code::kProtocol, path + ": not a valid ELF file: " + what};
}

// One file, read in pieces; false when a piece does not lie inside of it.
class File {
 public:
  explicit File(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat info {};
    if (fd_ && ::fstat(fd_.get(), &info) == 0 && S_ISREG(info.st_mode))
      size_ = static_cast<std::uint64_t>(info.st_size);
  }
  bool read(std::uint64_t offset, void* target, std::size_t bytes) const {
    if (offset > size_ || bytes > size_ - offset) return false;
    return ::pread(fd_.get(), target, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
  }
  // The text that ends with a zero, of at most kElfNameMax bytes.
  std::optional<std::string> text(std::uint64_t offset) const {
    if (offset >= size_) return std::nullopt;
    std::string buffer(std::min<std::uint64_t>(kElfNameMax, size_ - offset), '\0');
    if (!read(offset, buffer.data(), buffer.size())) return std::nullopt;
    const std::size_t end = buffer.find('\0');
    if (end == std::string::npos) return std::nullopt;
    return buffer.substr(0, end);
  }

 private:
  net::OwnedFd fd_;
  std::uint64_t size_ = 0;
};

std::vector<Elf64_Phdr> program_headers(const File& file, const Elf64_Ehdr& header) {
  std::vector<Elf64_Phdr> headers(std::min<std::size_t>(header.e_phnum, kElfHeadersMax));
  if (header.e_phentsize != sizeof(Elf64_Phdr) ||
      !file.read(header.e_phoff, headers.data(), headers.size() * sizeof(Elf64_Phdr)))
    headers.clear();
  return headers;
}

// Where in the file the loader would find what lies at `address`.
std::optional<std::uint64_t> file_offset(const std::vector<Elf64_Phdr>& headers, std::uint64_t address) {
  for (const Elf64_Phdr& header : headers) {
    if (header.p_type == PT_LOAD && address >= header.p_vaddr && address - header.p_vaddr < header.p_filesz)
      return header.p_offset + (address - header.p_vaddr);
  }
  return std::nullopt;
}

Result<ElfNeeds> read_dynamic(const File& file, const std::string& path,
                              const std::vector<Elf64_Phdr>& headers, const Elf64_Phdr& dynamic) {
  std::vector<Elf64_Dyn> entries(
      std::min<std::uint64_t>(dynamic.p_filesz / sizeof(Elf64_Dyn), kElfEntriesMax));
  if (!file.read(dynamic.p_offset, entries.data(), entries.size() * sizeof(Elf64_Dyn)))
    return malformed(path, "the dynamic section is outside of the file");
  const auto end =
      std::ranges::find_if(entries, [](const Elf64_Dyn& entry) { return entry.d_tag == DT_NULL; });
  entries.erase(end, entries.end());
  const auto table =
      std::ranges::find_if(entries, [](const Elf64_Dyn& entry) { return entry.d_tag == DT_STRTAB; });
  if (table == entries.end()) return malformed(path, "the string table is missing");
  const std::optional<std::uint64_t> names = file_offset(headers, table->d_un.d_ptr);
  if (!names) return malformed(path, "the string table is outside of the file");
  ElfNeeds needs;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_RPATH && entry.d_tag != DT_RUNPATH) continue;
    std::uint64_t at = 0;
    if (__builtin_add_overflow(*names, entry.d_un.d_val, &at))
      return malformed(path, "a name is outside of the string table");
    std::optional<std::string> name = file.text(at);
    if (!name) return malformed(path, "a name is outside of the string table");
    if (entry.d_tag == DT_NEEDED)
      needs.libraries.push_back(std::move(*name));
    else
      (entry.d_tag == DT_RPATH ? needs.rpath : needs.runpath) = std::move(*name);
  }
  return needs;
}

// The folders of a search path; $ORIGIN is the folder of `object`.
std::vector<std::string> folders_of(std::string_view search, const std::string& object) {
  std::vector<std::string> folders;
  while (!search.empty()) {
    const std::size_t colon = search.find(':');
    std::string folder(search.substr(0, colon));
    for (const std::string_view word : {"$ORIGIN", "${ORIGIN}"}) {
      if (const std::size_t at = folder.find(word); at != std::string::npos)
        folder.replace(at, word.size(), std::filesystem::path(object).parent_path().string());
    }
    folders.push_back(folder.empty() ? "." : folder);
    search.remove_prefix(colon == std::string_view::npos ? search.size() : colon + 1);
  }
  return folders;
}

// Finds libraries as the loader does, but for the folders of special processors (glibc-hwcaps).
class Search {
 public:
  explicit Search(const std::string& library_path) : library_path_(folders_of(library_path, "")) {}

  // The file, or nothing. `rpath`: of the object that asks and of those that led to it.
  std::optional<std::string> find(const std::string& name, const ElfNeeds& asking, const std::string& object,
                                  const std::vector<std::string>& rpath) const {
    if (name.find('/') != std::string::npos) return exists(name) ? std::optional(name) : std::nullopt;
    std::vector<std::string> folders;
    if (asking.runpath.empty()) folders = rpath;
    folders.insert(folders.end(), library_path_.begin(), library_path_.end());
    const std::vector<std::string> runpath = folders_of(asking.runpath, object);
    folders.insert(folders.end(), runpath.begin(), runpath.end());
    if (std::optional<std::string> found = in(folders, name)) return found;
    if (std::optional<std::string> cached = cache_.find(name); cached && exists(*cached)) return cached;
    return in(
        {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"},
        name);
  }

 private:
  static bool exists(const std::string& path) { return ::access(path.c_str(), R_OK) == 0; }
  static std::optional<std::string> in(const std::vector<std::string>& folders, const std::string& name) {
    for (const std::string& folder : folders)
      if (exists(folder + "/" + name)) return folder + "/" + name;
    return std::nullopt;
  }

  std::vector<std::string> library_path_;
  LoaderCache cache_;
};

bool is_hip(std::string_view name) {
  return name.starts_with("libamdhip64.so") || name.starts_with("libhiprtc.so");
}

// LD_PRELOAD's entries, separated by blanks or colons, without their folders.
std::set<std::string> files_of(const std::string& preload) {
  std::set<std::string> files;
  for (std::size_t at = 0; at < preload.size();) {
    const std::size_t end = std::min(preload.find_first_of(" :", at), preload.size());
    files.insert(std::filesystem::path(preload.substr(at, end - at)).filename().string());
    at = end + 1;
  }
  return files;
}

struct Object {
  std::string path;
  std::vector<std::string> rpath;  // of those that led to it
};

}  // namespace

Result<ElfNeeds> read_elf_needs(const std::string& path) {
  const File file(path);
  Elf64_Ehdr header{};
  const bool is_elf =
      file.read(0, &header, sizeof header) && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
  if (!is_elf || header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64) return ElfNeeds{};
  const std::vector<Elf64_Phdr> headers = program_headers(file, header);
  for (const Elf64_Phdr& one : headers)
    if (one.p_type == PT_DYNAMIC) return read_dynamic(file, path, headers, one);
  return ElfNeeds{};
}

std::vector<HipLibrary> hip_libraries(const std::string& path, const std::string& library_path,
                                      const std::string& preload) {
  const Search search(library_path);
  std::vector<HipLibrary> needed;
  std::set<std::string> seen = files_of(preload);
  std::deque<Object> objects{{path, {}}};
  for (std::size_t count = 0; !objects.empty() && count < kElfObjectsMax; ++count) {
    const Object object = std::move(objects.front());
    objects.pop_front();
    const Result<ElfNeeds> read = read_elf_needs(object.path);
    if (!read) continue;  // the loader will say so
    const ElfNeeds& needs = read.value();
    std::vector<std::string> rpath = folders_of(needs.runpath.empty() ? needs.rpath : "", object.path);
    rpath.insert(rpath.end(), object.rpath.begin(), object.rpath.end());
    for (const std::string& name : needs.libraries) {
      if (!seen.insert(name).second) continue;
      std::optional<std::string> found = search.find(name, needs, object.path, rpath);
      if (is_hip(name)) needed.push_back({name, object.path, found.has_value()});
      if (found) objects.push_back({std::move(*found), rpath});
    }
  }
  return needed;
}

}  // namespace tf::tools
