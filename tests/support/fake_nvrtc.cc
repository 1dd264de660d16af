// SPDX-License-Identifier: Apache-2.0
// An NVRTC that remembers what it was asked, for HIP_CUDA_NVRTC. It knows sm_80 and sm_90, its code is the
// options that it was given, and a source with the word "broken" does not compile. One thread at a time.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

struct Program {
  std::string source;
  std::vector<std::string> headers;
  std::string options;
  std::vector<std::string> names;
};

std::string last_source;

int size_of(const std::string& text, std::size_t* bytes) {
  *bytes = text.size() + 1;
  return 0;
}

int copy_of(const std::string& text, char* to) {
  std::memcpy(to, text.c_str(), text.size() + 1);
  return 0;
}

bool is_broken(const Program* program) { return program->source.find("broken") != std::string::npos; }

std::string log_of(const Program* program) { return is_broken(program) ? "1 error" : ""; }

}  // namespace

EXPORT const char* fake_nvrtc_source() { return last_source.c_str(); }

EXPORT int nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 0;
  return 0;
}
EXPORT const char* nvrtcGetErrorString(int) { return "an error of the fake NVRTC"; }
EXPORT int nvrtcGetNumSupportedArchs(int* count) {
  *count = 2;
  return 0;
}
EXPORT int nvrtcGetSupportedArchs(int* architectures) {
  architectures[0] = 80;
  architectures[1] = 90;
  return 0;
}
EXPORT int nvrtcCreateProgram(Program** program, const char* source, const char*, int count,
                              const char* const*, const char* const* names) {
  *program = new Program;  // until nvrtcDestroyProgram
  (*program)->source = last_source = source;
  (*program)->headers.assign(names, names + count);
  return 0;
}
EXPORT int nvrtcDestroyProgram(Program** program) {
  delete *program;
  *program = nullptr;
  return 0;
}
EXPORT int nvrtcCompileProgram(Program* program, int count, const char* const* options) {
  for (int i = 0; i < count; ++i) program->options.append(options[i]).append(" ");
  return is_broken(program) ? 6 : 0;
}
EXPORT int nvrtcAddNameExpression(Program* program, const char* expression) {
  program->names.emplace_back(expression);
  return 0;
}
EXPORT int nvrtcGetLoweredName(Program* program, const char* expression, const char** name) {
  const auto found = std::find(program->names.begin(), program->names.end(), expression);
  if (found == program->names.end()) return 10;
  *name = "_Zlowered";
  return 0;
}
EXPORT int nvrtcGetProgramLogSize(Program* program, std::size_t* bytes) {
  return size_of(log_of(program), bytes);
}
EXPORT int nvrtcGetProgramLog(Program* program, char* log) { return copy_of(log_of(program), log); }
EXPORT int nvrtcGetPTXSize(Program* program, std::size_t* bytes) {
  return size_of("PTX " + program->options, bytes);
}
EXPORT int nvrtcGetPTX(Program* program, char* ptx) { return copy_of("PTX " + program->options, ptx); }
EXPORT int nvrtcGetCUBINSize(Program* program, std::size_t* bytes) {
  return size_of("CUBIN " + program->options, bytes);
}
EXPORT int nvrtcGetCUBIN(Program* program, char* cubin) {
  return copy_of("CUBIN " + program->options, cubin);
}
