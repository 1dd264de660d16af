// SPDX-License-Identifier: Apache-2.0
// Finds a library's own functions by name.
#include "hipcore/abi/entry_points.h"

#include <dlfcn.h>

#include <array>
#include <string_view>

namespace tf::abi {
namespace {

constexpr int kNewerForm = 600;
constexpr std::array<std::string_view, 2> kWithNewerForm = {"hipGetDeviceProperties", "hipChooseDevice"};

// Not RTLD_DEFAULT, which finds the first library with such a function.
void* library_of(const void* inside) {
  Dl_info info{};
  if (::dladdr(inside, &info) == 0 || info.dli_fname == nullptr) return nullptr;
  return ::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_LOCAL);
}

}  // namespace

void* find_entry(const void* inside, const EntryQuery& query) {
  std::string name(query.symbol);
  for (const std::string_view newer : kWithNewerForm)
    if (name == newer && query.version >= kNewerForm) name += "R0600";
  void* const library = library_of(inside);
  if (library == nullptr) return nullptr;
  const bool per_thread =
      query.flags == kPerThreadStreamEntry || (query.flags == kDefaultEntry && query.per_thread_default);
  void* found = per_thread ? ::dlsym(library, (name + "_spt").c_str()) : nullptr;
  if (found == nullptr) found = ::dlsym(library, name.c_str());
  ::dlclose(library);  // takes back what dlopen() counted
  return found;
}

}  // namespace tf::abi
