// SPDX-License-Identifier: Apache-2.0
// Finds our libraries and programs beside hip-remote.
#include "tools/hip-remote/layout.h"

#include <system_error>

namespace tf::tools {

Layout find_layout() {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  Layout layout;
  layout.bin = self.parent_path();
  fs::path prefix = layout.bin.parent_path();
  // A build tree, or an installation (worker/base/runtime_library.cc looks in the same places). The links
  // without a version mark the folder: they come with the client, and a libamdhip64 might be AMD's.
  const std::string mark = "plain-" + std::to_string(protocol::kHipMajor.number);
  for (const char* candidate : {"lib", TF_INSTALL_LIBDIR}) {
    if (fs::exists(prefix / candidate / mark, error)) {
      layout.lib = prefix / candidate;
      return layout;
    }
  }
  layout.lib = prefix / "lib";
  return layout;
}

}  // namespace tf::tools
