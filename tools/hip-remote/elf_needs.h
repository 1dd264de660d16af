// SPDX-License-Identifier: Apache-2.0
// The shared libraries that a program needs, as far as its files show: DT_NEEDED of the program, and of what
// the dynamic loader would find for it (ld.so(8)). Libraries opened later by dlopen(), as from Python, cannot
// be known.
//
// Files are never trusted: every offset is checked, every count has a limit.
#pragma once

#include <string>
#include <vector>

#include "transport/base/status.h"

namespace tf::tools {

inline constexpr std::size_t kElfHeadersMax = 256;   // program headers that are looked at
inline constexpr std::size_t kElfEntriesMax = 4096;  // of the dynamic section
inline constexpr std::size_t kElfNameMax = 4096;     // bytes of a name or search path
inline constexpr std::size_t kElfObjectsMax = 512;   // files that one program may lead to

struct ElfNeeds {
  std::vector<std::string> libraries;  // DT_NEEDED
  std::string rpath;                   // DT_RPATH and DT_RUNPATH as they stand there
  std::string runpath;
};

// The needs of one file. Empty if it is not a dynamically linked ELF file for x86-64, such as a script.
// kProtocol if the file contradicts itself.
Result<ElfNeeds> read_elf_needs(const std::string& path);

struct HipLibrary {
  std::string name;       // "libamdhip64.so.6"
  std::string needed_by;  // the file that names it
  bool found = false;     // by the loader
};

// The HIP libraries (libamdhip64, libhiprtc) in `path`'s tree, in tree order, and whether the loader would
// find them with `library_path` (LD_LIBRARY_PATH of the program). Those named by `preload` (LD_PRELOAD) are
// left out.
std::vector<HipLibrary> hip_libraries(const std::string& path, const std::string& library_path,
                                      const std::string& preload);

}  // namespace tf::tools
