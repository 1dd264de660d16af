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
  // A build tree, or an installation (worker/base/runtime_library.cc looks in the same places). Our own CPU
  // runtime marks the directory: a libamdhip64 might be AMD's.
  for (const char* candidate : {"lib", TF_INSTALL_LIBDIR}) {
    if (fs::exists(prefix / candidate / "libhip_cpu.so", error)) {
      layout.lib = prefix / candidate;
      return layout;
    }
  }
  layout.lib = prefix / "lib";
  return layout;
}

}  // namespace tf::tools
