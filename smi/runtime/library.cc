// SPDX-License-Identifier: Apache-2.0
// Opens vendors' libraries.
#include "smi/runtime/library.h"

namespace tf::smi {

Result<Library> Library::open(std::initializer_list<const char*> names) {
  std::string why;
  for (const char* const name : names) {
    // Local: ours have functions of the same names.
    if (void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
      // A worker with our client library in its library path must not become its own client.
      if (::dlsym(handle, "hip_remote_smi_version") == nullptr) return Library(handle, name);
      why += (why.empty() ? "" : "; ") + std::string(name) + " is hip-remote's own client library";
      continue;
    }
    const char* const error = ::dlerror();
    why += (why.empty() ? "" : "; ") + std::string(error != nullptr ? error : name);
  }
  return Status(Code::kUnavailable, why);
}

}  // namespace tf::smi
