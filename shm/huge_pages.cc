// SPDX-License-Identifier: Apache-2.0
// Populates shared mappings with huge pages, and reads the kernel's setting.
#include "shm/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>
#include <string>

#include "transport/base/file_reader.h"

namespace tf::shm {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kSettingBytesMax = 4096;

}  // namespace

void populate(void* memory, std::size_t bytes) {
  static_cast<void>(::madvise(memory, bytes, MADV_HUGEPAGE));  // refused: small pages
  if (::madvise(memory, bytes, MADV_POPULATE_WRITE) == 0) return;
  // Kernels before 5.14. Read only: another process may be writing there.
  for (std::size_t at = 0; at < bytes; at += kPageBytes)
    static_cast<void>(*(static_cast<const volatile std::uint8_t*>(memory) + at));
}

std::string describe_huge_pages(const char* setting) {
  const std::string text = read_file(setting, kSettingBytesMax);
  if (text.empty()) return "no (this kernel has none)";
  const std::size_t first = text.find('[');
  const std::size_t end = text.find(']');
  if (first == std::string::npos || end == std::string::npos || end < first)
    return "no (this kernel has none)";
  const std::string chosen = text.substr(first + 1, end - first - 1);
  if (chosen == "never" || chosen == "deny")
    return "no (" + std::string(setting) + " is " + chosen + "; advise gives them)";
  return "yes (" + chosen + ")";
}

}  // namespace tf::shm
