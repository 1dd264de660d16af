// SPDX-License-Identifier: Apache-2.0
// Loads what makes text of metrics.
#include "worker/supervisor/exposition.h"

#include <dlfcn.h>

#include <filesystem>
#include <vector>

#include "worker/base/runtime_library.h"

namespace tf::worker {

Result<Exposition> Exposition::load() {
  std::vector<std::string> files;
  for (const std::filesystem::path& folder : own_library_directories())
    files.push_back(folder / kMetricsLibrary);
  files.emplace_back(kMetricsLibrary);
  std::string why;
  for (const std::string& file : files) {
    // The reason of one that is there says more than that of one that is not.
    const bool is_there = std::filesystem::exists(file);
    void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    const char* const error = library == nullptr ? ::dlerror() : nullptr;
    if (error != nullptr && (why.empty() || is_there)) why = error;
    if (library == nullptr) continue;
    Exposition loaded;
    loaded.serialize_ = reinterpret_cast<SerializeMetrics*>(::dlsym(library, kSerializeMetrics));
    if (loaded.serialize_ != nullptr) return loaded;
    why = file + " is of another release";
  }
  return Status(Code::kUnavailable, "--metrics needs hip-remote's " + std::string(kMetricsLibrary) +
                                        " and prometheus-cpp (Debian: libprometheus-cpp-core1.0): " + why);
}

std::string Exposition::text(const MetricFamilies& families) const {
  std::string text;
  serialize_(families, text);
  return text;
}

}  // namespace tf::worker
