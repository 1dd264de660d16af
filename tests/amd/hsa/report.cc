// SPDX-License-Identifier: Apache-2.0
#include "tests/amd/hsa/report.h"

#include <cinttypes>
#include <cstdio>
#include <mutex>
#include <set>

namespace tf::amd::hsa {

void report(const std::string& text) { std::fprintf(stderr, "hsa stand-in: %s\n", text.c_str()); }

hsa_status_t refuse(const char* function, const std::string& what, hsa_status_t status) {
  static std::mutex mutex;
  static auto* said = new std::set<std::string>;
  const std::string text = std::string(function) + " refuses " + what;
  const std::lock_guard lock(mutex);
  if (said->insert(text).second) report(text);
  return status;
}

std::string hexadecimal(std::uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, number);
  return text;
}

}  // namespace tf::amd::hsa
