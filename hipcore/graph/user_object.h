// SPDX-License-Identifier: Apache-2.0
// User objects: what the program wants to have as long as graphs need it (hipUserObjectCreate). The
// destructor of the program runs once, when the last owner is gone: the program itself, graphs, executable
// graphs and their running launches. Owners are dropped without the Library's lock, since the program's code
// runs then.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <map>
#include <memory>

namespace tf::graph {

class UserObject {
 public:
  UserObject(hipHostFn_t destroy, void* data) : destroy_(destroy), data_(data) {}
  UserObject(const UserObject&) = delete;
  UserObject& operator=(const UserObject&) = delete;
  ~UserObject() { destroy_(data_); }

 private:
  const hipHostFn_t destroy_;
  void* const data_;
};

// The references that one owner has.
struct References {
  std::shared_ptr<UserObject> object;
  std::uint64_t count = 0;
};
using UserObjects = std::map<std::uint64_t, References>;  // by the program's handle

}  // namespace tf::graph
