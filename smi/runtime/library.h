// SPDX-License-Identifier: Apache-2.0
// A vendor's management library, opened with dlopen. Never unloaded: such libraries keep threads.
#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <string>

#include "transport/base/status.h"

namespace tf::smi {

class Library {
 public:
  // The first of `names` that can be opened. The Status says why each could not.
  static Result<Library> open(std::initializer_list<const char*> names);

  // Null: it has none of this name.
  template <typename Function>
  void find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(::dlsym(handle_, name));
  }
  const std::string& name() const { return name_; }

 private:
  Library(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  void* handle_;
  std::string name_;
};

}  // namespace tf::smi
