// SPDX-License-Identifier: Apache-2.0
// Finds a program as execvp(3) would, or says why it cannot run.
#include "tools/hip-remote/program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace tf::tools {
namespace {

constexpr std::string_view kDefaultPath = "/bin:/usr/bin";  // execvp(3), where PATH is not set

// The file itself, or why it is none that can be run.
ProgramFile look_at(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    return {"", missing ? kExitNotFound : kExitCannotRun,
            path + ": " + (missing ? "no such program" : std::system_category().message(errno))};
  }
  if (S_ISDIR(info.st_mode)) return {"", kExitCannotRun, path + ": is a directory"};
  if (::access(path.c_str(), X_OK) != 0)
    return {"", kExitCannotRun, path + ": not executable (chmod +x makes it so)"};
  return {path, 0, ""};
}

}  // namespace

ProgramFile find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return look_at(name);
  ProgramFile best{"", kExitNotFound, name + ": no such program in PATH"};
  struct stat info {};
  const bool here = !name.empty() && ::stat(name.c_str(), &info) == 0 && S_ISREG(info.st_mode);
  if (here && ::access(name.c_str(), X_OK) == 0) best.why += "; did you mean ./" + name + "?";
  const char* const variable = std::getenv("PATH");
  std::string_view folders = variable != nullptr ? variable : kDefaultPath;
  while (!name.empty()) {
    const std::size_t colon = folders.find(':');
    const std::string folder(folders.substr(0, colon));
    const ProgramFile found = look_at((folder.empty() ? "." : folder) + "/" + name);
    if (!found.path.empty()) return found;
    if (found.exit_code == kExitCannotRun && best.exit_code == kExitNotFound) best = found;
    if (colon == std::string_view::npos) break;
    folders.remove_prefix(colon + 1);
  }
  return best;
}

}  // namespace tf::tools
