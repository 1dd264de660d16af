// SPDX-License-Identifier: Apache-2.0
// Rules for the worker's own files.
#include "worker/sandbox/own_files.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

#include "worker/base/runtime_library.h"

namespace tf::worker {
namespace {

namespace fs = std::filesystem;
using Access = Landlock::Access;

constexpr const char* kStreams[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};

// The folders of a list with colons, where the operator has libraries. All of the system is none.
void open_list(Landlock& rules, const char* variable) {
  const char* const value = std::getenv(variable);
  if (value == nullptr) return;
  std::istringstream list(value);
  for (std::string path; std::getline(list, path, ':');)
    if (path.starts_with('/') && fs::path(path).lexically_normal() != "/") rules.open(path, Access::kRead);
}

// A library by its path, and what lies beside it, if that is a folder for libraries and not somebody's home.
void open_library(Landlock& rules, const fs::path& file) {
  rules.open(file.string(), Access::kRead);
  std::error_code error;
  const fs::path folder = fs::canonical(file, error).parent_path();
  if (folder.filename().string().starts_with("lib")) rules.open(folder.string(), Access::kRead);
}

// Where hipcc-cpu finds HIP's headers, if that is not the system's folder (tools/hipcc_cpu/driver.py).
void open_noted_headers(Landlock& rules, const fs::path& share) {
  std::ifstream note(share / "hipcc_cpu" / "hip_include");
  std::string folder;
  if (std::getline(note, folder) && folder.starts_with('/')) rules.open(folder, Access::kRead);
}

}  // namespace

void open_own_files(Landlock& rules, const SandboxOptions& options, const std::string& runtime) {
  for (const fs::path& folder : own_library_directories()) {
    rules.open(folder.string(), Access::kRead);
    rules.open((folder.parent_path() / "bin" / "hipcc-cpu").string(), Access::kRead);
    const fs::path share = folder.parent_path() / "share" / "hip-remote";
    rules.open(share.string(), Access::kRead);
    open_noted_headers(rules, share);
  }
  rules.open("/proc/self/exe", Access::kRead);
  if (runtime.find('/') != std::string::npos) open_library(rules, runtime);
  for (const char* const variable : {"LD_LIBRARY_PATH", "LD_PRELOAD", "TF_HIPCC_CPU"})
    open_list(rules, variable);
  for (const std::string& path : options.readable) rules.open(path, Access::kRead);
  if (!options.folder.empty()) rules.open(options.folder, Access::kOwn);
}

void open_streams(Landlock& rules) {
  for (const char* const file : kStreams) rules.open(file, Access::kDevice);
}

}  // namespace tf::worker
