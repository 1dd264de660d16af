// SPDX-License-Identifier: Apache-2.0
// The fake runtime's hiprtc: the code is source and headers backwards, the log device, name and options, a
// lowered name its expression behind "_Z". A source with "#error" does not compile, the expression "nothing"
// has no name.
// --wait-ms=N takes that long. The bitcode is the code behind "BC". Linking joins "name=bitcode;" of all
// modules; one that is called "bad" does not link, with one that is called "empty" the result is empty.
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#define FAKE_API extern "C" __attribute__((visibility("default")))

struct _hiprtcProgram {
  std::string text;
  std::string name;
  std::string log;
  std::string code;
  std::map<std::string, std::string> names;
};

FAKE_API hiprtcResult hiprtcCreateProgram(hiprtcProgram* program, const char* text, const char* name,
                                          int count, const char** headers, const char** include_names) {
  auto made = std::make_unique<_hiprtcProgram>();
  made->text = text;
  made->name = name;
  for (int i = 0; i < count; ++i) made->text.append(include_names[i]).append(headers[i]);
  *program = made.release();
  return HIPRTC_SUCCESS;
}
FAKE_API hiprtcResult hiprtcDestroyProgram(hiprtcProgram* program) {
  const std::unique_ptr<_hiprtcProgram> owned(*program);
  return HIPRTC_SUCCESS;
}
FAKE_API hiprtcResult hiprtcAddNameExpression(hiprtcProgram program, const char* name) {
  if (std::strcmp(name, "nothing") != 0) program->names[name] = std::string("_Z") + name;
  return HIPRTC_SUCCESS;
}
FAKE_API hiprtcResult hiprtcCompileProgram(hiprtcProgram program, int count, const char** options) {
  int device = 0;
  static_cast<void>(hipGetDevice(&device));
  program->log = "device " + std::to_string(device) + ": " + program->name;
  for (int i = 0; i < count; ++i) {
    const std::string_view option = options[i];
    program->log.append(" ").append(option);
    if (option.starts_with("--wait-ms="))
      std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(options[i] + 10)));
  }
  if (program->text.find("#error") != std::string::npos) return HIPRTC_ERROR_COMPILATION;
  program->code.assign(program->text.rbegin(), program->text.rend());
  return HIPRTC_SUCCESS;
}
FAKE_API hiprtcResult hiprtcGetLoweredName(hiprtcProgram program, const char* name, const char** lowered) {
  const auto found = program->names.find(name);
  if (found == program->names.end()) return HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
  *lowered = found->second.c_str();
  return HIPRTC_SUCCESS;
}
FAKE_API hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram program, size_t* bytes) {
  *bytes = program->log.size() + 1;
  return HIPRTC_SUCCESS;
}
FAKE_API hiprtcResult hiprtcGetProgramLog(hiprtcProgram program, char* log) {
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return HIPRTC_SUCCESS;
}
FAKE_API hiprtcResult hiprtcGetCodeSize(hiprtcProgram program, size_t* bytes) {
  *bytes = program->code.size();
  return HIPRTC_SUCCESS;
}
FAKE_API hiprtcResult hiprtcGetCode(hiprtcProgram program, char* code) {
  std::memcpy(code, program->code.data(), program->code.size());
  return HIPRTC_SUCCESS;
}

FAKE_API hiprtcResult hiprtcGetBitcodeSize(hiprtcProgram program, size_t* bytes) {
  *bytes = program->code.size() + 2;
  return HIPRTC_SUCCESS;
}
FAKE_API hiprtcResult hiprtcGetBitcode(hiprtcProgram program, char* code) {
  std::memcpy(code, "BC", 2);
  return hiprtcGetCode(program, code + 2);
}

namespace {

struct Link {
  char* log = nullptr;
  size_t log_bytes = 0;
  std::string made;
  bool bad = false;
  bool empty = false;
};

}  // namespace

FAKE_API hiprtcResult hiprtcLinkCreate(unsigned count, int* options, void** values, void** state) {
  auto made = std::make_unique<Link>();
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == 5) made->log = static_cast<char*>(values[i]);
    if (options[i] == 6) made->log_bytes = reinterpret_cast<size_t>(values[i]);
  }
  *state = made.release();
  return HIPRTC_SUCCESS;
}
FAKE_API hiprtcResult hiprtcLinkAddData(void* state, int type, void* image, size_t bytes, const char* name,
                                        unsigned, int*, void**) {
  if (type != 100) return HIPRTC_ERROR_INVALID_INPUT;
  auto* const link = static_cast<Link*>(state);
  link->bad = link->bad || std::strcmp(name, "bad") == 0;
  link->empty = link->empty || std::strcmp(name, "empty") == 0;
  link->made.append(name).append("=").append(static_cast<const char*>(image), bytes).append(";");
  return HIPRTC_SUCCESS;
}
FAKE_API int hiprtcLinkComplete(void* state, void** image, size_t* bytes) {
  auto* const link = static_cast<Link*>(state);
  if (link->bad) {
    std::snprintf(link->log, link->log_bytes, "a bad module");
    return 100;  // HIPRTC_ERROR_LINKING
  }
  *image = link->made.data();
  *bytes = link->empty ? 0 : link->made.size();
  return HIPRTC_SUCCESS;
}
FAKE_API hiprtcResult hiprtcLinkDestroy(void* state) {
  const std::unique_ptr<Link> owned(static_cast<Link*>(state));
  return HIPRTC_SUCCESS;
}
