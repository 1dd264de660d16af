// SPDX-License-Identifier: Apache-2.0
// The environment of AMD's management programs.
#include "tools/hip-remote/management.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <system_error>

namespace tf::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrograms[] = {"rocm-smi", "rocm_smi.py", "amd-smi", "amdsmi_cli.py"};

bool is_one(const fs::path& program) {
  return std::ranges::any_of(kPrograms, [&](const char* name) { return program.filename() == name; });
}

bool add(const fs::path& library, const char* variable, char separator, EnvironmentChanges& environment) {
  std::error_code error;
  if (!fs::exists(library, error)) return false;
  const auto changed = environment.find(variable);
  const char* const inherited = std::getenv(variable);
  std::string rest = inherited != nullptr ? inherited : "";
  if (changed != environment.end()) rest = changed->second.value_or("");
  environment[variable] = library.string() + (rest.empty() ? "" : separator + rest);
  return true;
}

}  // namespace

bool is_management_program(const fs::path& program) {
  std::error_code error;
  return is_one(program) || is_one(fs::canonical(program, error));
}

bool prepare_management(const fs::path& libraries, EnvironmentChanges& environment) {
  return add(libraries / "libhip_remote_redirect.so", "LD_AUDIT", ':', environment) &&
         add(libraries / "libhip_remote_driver.so", "LD_PRELOAD", ' ', environment);
}

// RCCL 7.2 reads the driver's files in /sys of this host, unless this variable tells it to ask the library.
void ask_library_about_devices(const fs::path& libraries, EnvironmentChanges& environment) {
  constexpr const char* kVariable = "RCCL_USE_ROCM_SMI_LIB";
  std::error_code error;
  const bool ours = fs::exists(libraries / "librocm_smi64.so.7", error);
  if (ours && std::getenv(kVariable) == nullptr) environment[kVariable] = "1";
}

}  // namespace tf::tools
