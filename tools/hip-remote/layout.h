// SPDX-License-Identifier: Apache-2.0
// Where the parts of an installation (or build tree) are, found from the running executable:
// <prefix>/bin/{hip-remote,hip-worker,hip_bench,...} and
// <prefix>/<libdir>/{libamdhip64.so.N,libhip_cpu.so,native/}; libdir is lib in a build tree; scripts are in
// <prefix>/share/hip-remote.
#pragma once

#include <filesystem>
#include <string>

#include "hipcore/wire/gen/majors.h"

namespace tf::tools {

struct Layout {
  std::filesystem::path bin;
  std::filesystem::path lib;

  std::filesystem::path program(const std::string& name) const { return bin / name; }
  std::filesystem::path script(const std::string& name) const {
    return bin.parent_path() / "share" / "hip-remote" / name;
  }
  std::filesystem::path proxy_library() const { return lib / protocol::kHipMajor.library; }
  std::filesystem::path cpu_runtime() const { return lib / "libhip_cpu.so"; }
  // A directory whose libamdhip64 is one of our runtimes: programs run natively on it.
  std::filesystem::path native_lib() const { return lib / "native"; }
  std::filesystem::path native_cuda_lib() const { return lib / "native-cuda"; }
};

Layout find_layout();

}  // namespace tf::tools
