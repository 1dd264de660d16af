// SPDX-License-Identifier: Apache-2.0
// The places where compilers have their files.
#include "worker/sandbox/compiler_walls.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "worker/sandbox/own_files.h"

namespace tf::worker {
namespace {

namespace fs = std::filesystem;
using Access = Landlock::Access;

constexpr const char* kUsualPath = "/usr/local/bin:/usr/bin:/bin";  // where there is no PATH
// Beside a folder of programs.
constexpr const char* kBeside[] = {"lib", "lib32", "lib64", "libx32", "libexec", "include"};
constexpr const char* kOfTheLoader[] = {"/etc/ld.so.cache", "/etc/ld.so.preload", "/nix/store", "/gnu/store"};
// Folders that begin like this: NVIDIA's and AMD's toolkits.
constexpr std::pair<const char*, std::string_view> kToolkits[] = {{"/usr/local", "cuda"}, {"/opt", "rocm"}};

// A folder of programs, with the libraries and headers beside it. A folder that is none is not taken for one:
// its neighbours may be anything.
void open_programs(Landlock& rules, const fs::path& folder) {
  if (!folder.is_absolute() || folder.lexically_normal() == "/") return;
  rules.open(folder.string(), Access::kRead);
  const fs::path name = folder.filename();
  if (name != "bin" && name != "sbin") return;
  for (const char* const beside : kBeside)
    rules.open((folder.parent_path() / beside).string(), Access::kRead);
}

void open_path(Landlock& rules) {
  const char* const path = std::getenv("PATH");
  std::istringstream list(path != nullptr && *path != '\0' ? path : kUsualPath);
  for (std::string folder; std::getline(list, folder, ':');) open_programs(rules, folder);
  if (const char* const clang = std::getenv("HIPCC_CPU_CLANG"); clang != nullptr)
    open_programs(rules, fs::path(clang).parent_path());
}

void open_toolkits(Landlock& rules) {
  for (const auto& [folder, start] : kToolkits) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
      if (entry->path().filename().string().starts_with(start))
        rules.open(entry->path().string(), Access::kRead);
  }
}

}  // namespace

Result<std::shared_ptr<const CompilerWalls>> CompilerWalls::make(const SandboxOptions& options,
                                                                 const std::string& runtime) {
  Result<Landlock> rules = Landlock::make();
  if (!rules) return rules.status();
  open_path(*rules);
  open_toolkits(*rules);
  for (const char* const path : kOfTheLoader) rules->open(path, Access::kRead);
  open_own_files(*rules, options, runtime);
  open_streams(*rules);
  return std::make_shared<const CompilerWalls>(std::move(*rules));
}

}  // namespace tf::worker
