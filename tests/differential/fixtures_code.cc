// SPDX-License-Identifier: Apache-2.0
// Code objects, libraries and their kernels, programs that hiprtc compiles, and links.
#include <hip/hiprtc.h>

#include <mutex>

#include "tests/differential/case.h"

namespace tf::differential {
namespace {

constexpr const char* kSource = "extern \"C\" __global__ void twice(int* v) { v[threadIdx.x] *= 2; }\n";

hipLibrary_t new_library(Case& c) {
  hipLibrary_t library = nullptr;
  c.check(c.api("hipLibraryLoadFromFile", &library, kKernelFile, static_cast<hipJitOption*>(nullptr),
                static_cast<void**>(nullptr), 0U, static_cast<hipLibraryOption*>(nullptr),
                static_cast<void**>(nullptr), 0U),
          "hipLibraryLoadFromFile");
  return library;
}
hipKernel_t kernel_of(Case& c, hipLibrary_t library) {
  hipKernel_t kernel = nullptr;
  c.check(c.api("hipLibraryGetKernel", &kernel, library, "fill"), "hipLibraryGetKernel");
  return kernel;
}
Value kernel_destroyed(Case& c) {
  const hipLibrary_t library = new_library(c);
  const hipKernel_t kernel = kernel_of(c, library);
  c.check(c.api("hipLibraryUnload", library), "hipLibraryUnload");
  return pointer(kernel);
}

hipLinkState_t new_link(Case& c, const char* create) {
  hipLinkState_t state = nullptr;
  c.check(c.api(create, 0U, static_cast<hipJitOption*>(nullptr), static_cast<void**>(nullptr), &state),
          create);
  return state;
}

hiprtcProgram new_program(Case& c) {
  hiprtcProgram program = nullptr;
  c.check(c.api("hiprtcCreateProgram", &program, kSource, "source.hip", 0, static_cast<const char**>(nullptr),
                static_cast<const char**>(nullptr)),
          "hiprtcCreateProgram");
  return program;
}
void end_program(const Api& api, hiprtcProgram program) { api.quietly("hiprtcDestroyProgram", &program); }
Value rtc_program(Case& c) {
  const hiprtcProgram program = new_program(c);
  c.after([&api = c.api, program] { end_program(api, program); });
  return pointer(program);
}
Value rtc_destroyed(Case& c) {
  const hiprtcProgram program = new_program(c);
  hiprtcProgram gone = program;
  c.check(c.api("hiprtcDestroyProgram", &gone), "hiprtcDestroyProgram");
  return pointer(program);
}
// One for the whole process: compiling takes a while.
Value rtc_compiled(Case& c) {
  static std::once_flag once;
  static hiprtcProgram program;
  std::call_once(once, [&] {
    program = new_program(c);
    c.check(c.api("hiprtcAddNameExpression", program, "twice"), "hiprtcAddNameExpression");
    c.check(c.api("hiprtcCompileProgram", program, 0, static_cast<const char**>(nullptr)),
            "hiprtcCompileProgram");
  });
  return pointer(program);
}
Value list_of_rtc(Case& c) {
  hiprtcProgram* const list = c.keep<hiprtcProgram>();
  *list = new_program(c);
  c.after([&api = c.api, program = *list] { end_program(api, program); });
  return pointer(list);
}

}  // namespace

void add_code(Fixtures& all) {
  all["image"] = [](Case&) { return pointer(bytes_of(kKernelFile).data()); };
  all["library"] = [](Case& c) { return ended(c, new_library(c), "hipLibraryUnload"); };
  all["library_destroyed"] = [](Case& c) { return gone(c, new_library(c), "hipLibraryUnload"); };
  all["kernel"] = [](Case& c) { return pointer(kernel_of(c, c.handle<hipLibrary_t>("library"))); };
  all["kernel_destroyed"] = kernel_destroyed;
  all["link"] = [](Case& c) { return ended(c, new_link(c, "hipLinkCreate"), "hipLinkDestroy"); };
  all["link_destroyed"] = [](Case& c) { return gone(c, new_link(c, "hipLinkCreate"), "hipLinkDestroy"); };
  all["rtc_link"] = [](Case& c) { return ended(c, new_link(c, "hiprtcLinkCreate"), "hiprtcLinkDestroy"); };
  all["rtc_link_destroyed"] = [](Case& c) {
    return gone(c, new_link(c, "hiprtcLinkCreate"), "hiprtcLinkDestroy");
  };
  all["rtc_program"] = rtc_program;
  all["rtc_destroyed"] = rtc_destroyed;
  all["rtc_compiled"] = rtc_compiled;
  all["list_of_rtc"] = list_of_rtc;
  all["text_source"] = [](Case&) { return pointer(kSource); };
  all["text_twice"] = [](Case&) { return pointer("twice"); };
}

}  // namespace tf::differential
