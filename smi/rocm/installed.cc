// SPDX-License-Identifier: Apache-2.0
// Reads names of functions in the system's own library.
#include "smi/rocm/installed.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "transport/base/file_reader.h"

namespace tf::rsmi {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kLibraryBytesMax = 16 << 20;  // Debian's have less than 2 MiB

// As a table of strings has it: between two zero bytes.
template <std::size_t N>
bool has_name(std::string_view library, const char (&name)[N]) {
  for (std::size_t at = library.find(std::string_view(name, N), 1); at != std::string_view::npos;
       at = library.find(std::string_view(name, N), at + 1))
    if (library[at - 1] == '\0') return true;
  return false;
}

}  // namespace

int rocm_of_library(const std::string& file) {
  const std::string library = read_file(file, kLibraryBytesMax);
  if (!has_name(library, "rsmi_init") || has_name(library, "hip_remote_smi_version")) return 0;
  // rocm_smi.h of 5.7.1 lacks it, that of 6.0.0 has it, and with it the longer lists of frequencies.
  return has_name(library, "rsmi_dev_activity_metric_get") ? 6 : 5;
}

int rocm_beside(const std::string& library) {
  return rocm_of_library(library.substr(0, library.rfind('/') + 1) + "librocm_smi64.so.1");
}

int expected_rocm() {
  const char* const told = std::getenv("TF_ROCM_SMI");
  if (told != nullptr && (told == "5"sv || told == "6"sv)) return told[0] - '0';
  if (told != nullptr && *told != '\0')
    std::fprintf(stderr, "hip-remote: TF_ROCM_SMI=%s: expected 5 or 6; going by this system's library\n",
                 told);
  Dl_info c_library{};
  if (::dladdr(reinterpret_cast<const void*>(&::getpid), &c_library) == 0) return 5;
  return rocm_beside(c_library.dli_fname) == 6 ? 6 : 5;
}

}  // namespace tf::rsmi
