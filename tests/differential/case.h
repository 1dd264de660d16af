// SPDX-License-Identifier: Apache-2.0
// One call with what it needs: fixtures are made on demand, once per call, and ended after it.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hipcore/newer/hip_types.h"
#include "tests/differential/table.h"

namespace tf::differential {

// The library of one major, opened by name as the loader finds it.
class Api {
 public:
  // Null if there is no such library.
  explicit Api(int major);
  int major() const { return major_; }
  void* find(const char* symbol) const;

  template <typename... Parameters>
  hipError_t operator()(const char* name, Parameters... parameters) const {
    void* const found = find(name);
    if (found == nullptr) return hipErrorSharedObjectSymbolNotFound;
    return reinterpret_cast<hipError_t (*)(Parameters...)>(found)(parameters...);
  }

  // For what ends a fixture: the call may have ended it already.
  template <typename... Parameters>
  void quietly(const char* name, Parameters... parameters) const {
    static_cast<void>((*this)(name, parameters...));
  }

 private:
  int major_;
  void* library_;
};

class Case {
 public:
  explicit Case(const Api& library) : api(library) {}
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;
  ~Case();

  // What values.txt calls `name`. The same within one call, but for "out" and what is destroyed.
  Value at(std::string_view name);
  template <typename Type>
  Type handle(std::string_view name) {
    return reinterpret_cast<Type>(at(name).number);
  }
  // Zeros that live as long as the case.
  template <typename Struct>
  Struct* keep() {
    constexpr std::size_t kSpareBytes = 256;  // a later major may have made it longer
    return static_cast<Struct*>(block(sizeof(Struct) + kSpareBytes));
  }
  void* block(std::size_t bytes, int content = 0);
  void after(std::function<void()> end) { ends_.push_back(std::move(end)); }
  // What a fixture's own call returned: named in the record, unless it succeeded.
  void check(hipError_t result, const char* what);

  const Api& api;
  std::string troubles;

 private:
  std::map<std::string, Value, std::less<>> made_;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::vector<std::function<void()>> ends_;
};

using Fixture = Value (*)(Case&);
using Fixtures = std::map<std::string_view, Fixture>;

// By file; each adds its own.
void add_handles(Fixtures& fixtures);
void add_graphs(Fixtures& fixtures);
void add_memory(Fixtures& fixtures);
void add_structs(Fixtures& fixtures);
void add_code(Fixtures& fixtures);
void add_contexts(Fixtures& fixtures);
void add_copies(Fixtures& fixtures);
void add_launches(Fixtures& fixtures);
void add_sharing(Fixtures& fixtures);
void add_symbols(Fixtures& fixtures);
void add_textures(Fixtures& fixtures);
void add_virtual_memory(Fixtures& fixtures);

// files.cc, the only source that knows where this build lies.
extern const char* const kKernelFile;
extern const char* const kTextureFile;
// What stands in a file.
const std::vector<char>& bytes_of(const char* path);

template <typename Handle>
Value ended(Case& c, Handle handle, const char* destroy) {
  c.after([&api = c.api, handle, destroy] { api.quietly(destroy, handle); });
  return pointer(handle);
}
template <typename Handle>
Value gone(Case& c, Handle handle, const char* destroy) {
  c.check(c.api(destroy, handle), destroy);
  return pointer(handle);
}

// Whether there is such a value: a number, or a fixture.
bool is_known(std::string_view name);

}  // namespace tf::differential
