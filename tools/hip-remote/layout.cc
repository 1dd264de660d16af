// SPDX-License-Identifier: Apache-2.0
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
  for (const char* candidate : {"lib", "lib64", "lib/x86_64-linux-gnu"}) {
    if (fs::exists(prefix / candidate / "libamdhip64.so.5", error)) {
      layout.lib = prefix / candidate;
      return layout;
    }
  }
  layout.lib = prefix / "lib";
  return layout;
}

}  // namespace tf::tools
