// SPDX-License-Identifier: Apache-2.0
// hiprtc as part of libamdhip64 (HIP 5.2 has it there): handed on to libhiprtc, loaded at the first use
// from beside this library, else from where the loader finds it. Any thread.
#include <dlfcn.h>

#include <string>

#include "hipcore/wire/gen/majors.h"
#include "proxy/base/log.h"
#include "proxy/gen/local.h"

namespace tf::proxy::local {
namespace {

constexpr const char* kLibrary = protocol::kHipMajor.rtc_library;

void* open_library() {
  Dl_info self{};
  if (::dladdr(reinterpret_cast<const void*>(&open_library), &self) != 0 && self.dli_fname != nullptr) {
    std::string folder(self.dli_fname);
    folder.resize(folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/') + 1);
    void* beside = ::dlopen((folder + kLibrary).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (beside != nullptr) return beside;
  }
  void* found = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (found == nullptr) log_line(std::string("hiprtc: ") + ::dlerror());
  return found;
}

// The library's function of that name; null when there is no library or it has none.
template <typename Function>
Function* entry(const char* name) {
  static void* const library = open_library();  // stays open: programs live in it
  if (library == nullptr) return nullptr;
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

template <typename Function, typename... Arguments>
hiprtcResult forward(const char* name, Arguments... arguments) {
  Function* function = entry<Function>(name);
  return function != nullptr ? function(arguments...) : HIPRTC_ERROR_INTERNAL_ERROR;
}

}  // namespace

const char* hiprtcGetErrorString(hiprtcResult result) {
  auto* function = entry<decltype(::hiprtcGetErrorString)>("hiprtcGetErrorString");
  return function != nullptr ? function(result) : "HIPRTC_ERROR_INTERNAL_ERROR";
}

hiprtcResult hiprtcVersion(int* major, int* minor) {
  return forward<decltype(::hiprtcVersion)>("hiprtcVersion", major, minor);
}

hiprtcResult hiprtcCreateProgram(hiprtcProgram* program, const char* source, const char* name, int count,
                                 const char** headers, const char** include_names) {
  return forward<decltype(::hiprtcCreateProgram)>("hiprtcCreateProgram", program, source, name, count,
                                                  headers, include_names);
}

hiprtcResult hiprtcDestroyProgram(hiprtcProgram* program) {
  return forward<decltype(::hiprtcDestroyProgram)>("hiprtcDestroyProgram", program);
}

hiprtcResult hiprtcAddNameExpression(hiprtcProgram program, const char* name) {
  return forward<decltype(::hiprtcAddNameExpression)>("hiprtcAddNameExpression", program, name);
}

hiprtcResult hiprtcCompileProgram(hiprtcProgram program, int count, const char** options) {
  return forward<decltype(::hiprtcCompileProgram)>("hiprtcCompileProgram", program, count, options);
}

hiprtcResult hiprtcGetLoweredName(hiprtcProgram program, const char* name, const char** lowered_name) {
  return forward<decltype(::hiprtcGetLoweredName)>("hiprtcGetLoweredName", program, name, lowered_name);
}

hiprtcResult hiprtcGetProgramLog(hiprtcProgram program, char* log) {
  return forward<decltype(::hiprtcGetProgramLog)>("hiprtcGetProgramLog", program, log);
}

hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram program, size_t* bytes) {
  return forward<decltype(::hiprtcGetProgramLogSize)>("hiprtcGetProgramLogSize", program, bytes);
}

hiprtcResult hiprtcGetCode(hiprtcProgram program, char* code) {
  return forward<decltype(::hiprtcGetCode)>("hiprtcGetCode", program, code);
}

hiprtcResult hiprtcGetCodeSize(hiprtcProgram program, size_t* bytes) {
  return forward<decltype(::hiprtcGetCodeSize)>("hiprtcGetCodeSize", program, bytes);
}

}  // namespace tf::proxy::local
