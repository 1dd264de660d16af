// SPDX-License-Identifier: Apache-2.0
// One call with what it needs.
#include "tests/differential/case.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>

#include "hipcore/errors/error_text.h"

namespace tf::differential {
namespace {

constexpr std::size_t kOutBytes = 4096;         // more than any struct that a call fills
constexpr std::size_t kOutLongBytes = 1 << 20;  // more than a code object

const Fixtures& fixtures() {
  static const Fixtures all = [] {
    Fixtures made;
    add_handles(made);
    add_graphs(made);
    add_memory(made);
    add_structs(made);
    add_code(made);
    add_contexts(made);
    add_copies(made);
    add_launches(made);
    add_sharing(made);
    add_symbols(made);
    add_textures(made);
    add_virtual_memory(made);
    return made;
  }();
  return all;
}

}  // namespace

Api::Api(int major)
    : major_(major),
      library_(::dlopen(("libamdhip64.so." + std::to_string(major)).c_str(), RTLD_NOW | RTLD_LOCAL)) {}

void* Api::find(const char* symbol) const {
  return library_ == nullptr ? nullptr : ::dlsym(library_, symbol);
}

const std::vector<char>& bytes_of(const char* path) {
  static std::mutex mutex;
  static std::map<std::string, std::vector<char>> files;
  const std::lock_guard lock(mutex);
  std::vector<char>& bytes = files[path];
  if (bytes.empty()) {
    std::ifstream file(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return bytes;
}

bool is_known(std::string_view name) {
  return name.starts_with('#') || name == "null" || name == "out" || name == "out_long" ||
         fixtures().contains(name);
}

Case::~Case() {
  for (auto end = ends_.rbegin(); end != ends_.rend(); ++end) (*end)();
}

Value Case::at(std::string_view name) {
  if (name == "null") return number(0);
  if (name == "out") return pointer(block(kOutBytes, 0xee));
  if (name == "out_long") return pointer(block(kOutLongBytes, 0xee));
  if (name.starts_with('#')) {
    const std::string digits(name.substr(1));
    return number(digits.starts_with('-')
                      ? static_cast<std::uintptr_t>(std::strtoll(digits.c_str(), nullptr, 0))
                      : std::strtoull(digits.c_str(), nullptr, 0));
  }
  if (const auto found = made_.find(name); found != made_.end()) return found->second;
  const auto fixture = fixtures().find(name);
  if (fixture == fixtures().end()) std::abort();  // is_known() was asked
  const Value value = fixture->second(*this);
  made_.emplace(name, value);
  return value;
}

void* Case::block(std::size_t bytes, int content) {
  blocks_.push_back(std::make_unique<std::byte[]>(bytes));
  std::memset(blocks_.back().get(), content, bytes);
  return blocks_.back().get();
}

void Case::check(hipError_t result, const char* what) {
  if (result != hipSuccess) troubles += std::string(" ") + what + ":" + hipdata::error_text(result).name;
}

}  // namespace tf::differential
