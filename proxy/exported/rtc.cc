// SPDX-License-Identifier: Apache-2.0
// hiprtc as part of libamdhip64 (as in HIP 5.2): passes calls on to libhiprtc, which is loaded on first use,
// from beside this library or else by the loader's search. Any thread.
#include <dlfcn.h>

#include <string>

#include "hipcore/abi/rules.h"
#include "proxy/base/log.h"
#include "proxy/exported/rtc.h"
#include "proxy/gen/local.h"

namespace tf::proxy::local {
namespace {

void* open_library() {
  Dl_info self{};
  if (::dladdr(reinterpret_cast<const void*>(&open_library), &self) != 0 && self.dli_fname != nullptr) {
    std::string folder(self.dli_fname);
    folder.resize(folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/') + 1);
    void* beside = ::dlopen((folder + abi::kRules.rtc_library).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (beside != nullptr) return beside;
  }
  void* found = ::dlopen(abi::kRules.rtc_library, RTLD_NOW | RTLD_LOCAL);
  if (found == nullptr) log_line(std::string("hiprtc: ") + ::dlerror());
  return found;
}

}  // namespace

const char* hiprtcGetErrorString(hiprtcResult result) {
  auto* function = reinterpret_cast<decltype(&::hiprtcGetErrorString)>(rtc_function("hiprtcGetErrorString"));
  return function != nullptr ? function(result) : "HIPRTC_ERROR_INTERNAL_ERROR";
}

}  // namespace tf::proxy::local

void* tf::proxy::rtc_function(const char* name) {
  static void* const library = local::open_library();  // never closed: programs live in it
  return library == nullptr ? nullptr : ::dlsym(library, name);
}
