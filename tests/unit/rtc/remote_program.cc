// SPDX-License-Identifier: Apache-2.0
// Compiles with hiprtc what only the fake runtime compiles (tests/unit/worker/fake_hiprtc.cc): by libhiprtc's
// own functions and by those of libamdhip64. Exits with the number of the first check that fails.
#include <dlfcn.h>
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include <cstdio>
#include <cstring>
#include <string>

namespace {

int failed(int check) {
  std::fprintf(stderr, "check %d failed\n", check);
  return check;
}

// `library`: whose functions are called.
template <typename Function>
Function* in(void* library, const char* name, Function*) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}
#define IN(library, name) in(library, #name, &name)

int compile(void* library, const char* text, hiprtcResult expected, const std::string& expected_log) {
  hiprtcProgram program = nullptr;
  const char* header = "text";
  const char* header_name = "h.h";
  if (IN(library, hiprtcCreateProgram)(&program, text, "a.hip", 1, &header, &header_name) != HIPRTC_SUCCESS)
    return failed(1);
  if (IN(library, hiprtcAddNameExpression)(program, "f<int>") != HIPRTC_SUCCESS) return failed(2);
  const char* options[] = {"-O2", "-DX"};
  if (IN(library, hiprtcCompileProgram)(program, 2, options) != expected) return failed(3);
  size_t bytes = 0;
  if (IN(library, hiprtcGetProgramLogSize)(program, &bytes) != HIPRTC_SUCCESS || bytes == 0) return failed(4);
  std::string log(bytes, 'x');
  if (IN(library, hiprtcGetProgramLog)(program, log.data()) != HIPRTC_SUCCESS) return failed(5);
  if (log != expected_log + '\0') return std::fprintf(stderr, "%s\n", log.c_str()), failed(6);
  const char* lowered = nullptr;
  const hiprtcResult named = IN(library, hiprtcGetLoweredName)(program, "f<int>", &lowered);
  if (expected != HIPRTC_SUCCESS) {
    if (named != HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION) return failed(7);
    return IN(library, hiprtcDestroyProgram)(&program) == HIPRTC_SUCCESS ? 0 : failed(12);
  }
  if (named != HIPRTC_SUCCESS || std::strcmp(lowered, "_Zf<int>") != 0) return failed(8);
  if (IN(library, hiprtcGetCodeSize)(program, &bytes) != HIPRTC_SUCCESS) return failed(9);
  std::string code(bytes, 'x');
  if (IN(library, hiprtcGetCode)(program, code.data()) != HIPRTC_SUCCESS) return failed(10);
  if (code != "txeth.hecruos") return failed(11);
  return IN(library, hiprtcDestroyProgram)(&program) == HIPRTC_SUCCESS ? 0 : failed(12);
}

}  // namespace

int main() {
  for (const char* name : {"libhiprtc.so.5", "libamdhip64.so.5"}) {
    void* library = ::dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr) return failed(20);
    int result = compile(library, "source", HIPRTC_SUCCESS, "device 0: a.hip -O2 -DX");
    if (result == 0) result = compile(library, "#error", HIPRTC_ERROR_COMPILATION, "device 0: a.hip -O2 -DX");
    if (result != 0) return result;
  }
  return 0;
}
