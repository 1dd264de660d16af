// SPDX-License-Identifier: Apache-2.0
// The hiprtc C interface on compile.h. A program is used by one thread at a time, as the interface demands.
#include "worker/runtime/common/rtc/compile.h"

#include <hip/hiprtc.h>

#include <cstring>
#include <memory>

#include "worker/runtime/common/rtc/guarded.h"
#include "worker/runtime/common/rtc/handles.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

struct _hiprtcProgram {
  tf::runtime::rtc::Source source;
  tf::runtime::rtc::Compiled result;
  bool tried = false;
  bool relocatable = false;  // asked for a module
};

namespace {

using tf::runtime::rtc::guarded;

auto& rtc_programs() { return tf::runtime::rtc::handles<_hiprtcProgram>(); }

// Null: there is no such program.
_hiprtcProgram* find(hiprtcProgram program) { return rtc_programs().find(program); }

// The same for one that is compiled.
_hiprtcProgram* find_compiled(hiprtcProgram program) {
  _hiprtcProgram* const found = find(program);
  return found != nullptr && found->result.ok ? found : nullptr;
}

hiprtcResult copy_out(const std::string& from, char* to, bool with_end) {
  if (to == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  std::memcpy(to, from.c_str(), from.size() + (with_end ? 1 : 0));
  return HIPRTC_SUCCESS;
}

}  // namespace

EXPORT const char* hiprtcGetErrorString(hiprtcResult result) {
  switch (static_cast<int>(result)) {
    case HIPRTC_SUCCESS: return "HIPRTC_SUCCESS";
    case HIPRTC_ERROR_OUT_OF_MEMORY: return "HIPRTC_ERROR_OUT_OF_MEMORY";
    case HIPRTC_ERROR_PROGRAM_CREATION_FAILURE: return "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE";
    case HIPRTC_ERROR_INVALID_INPUT: return "HIPRTC_ERROR_INVALID_INPUT";
    case HIPRTC_ERROR_INVALID_PROGRAM: return "HIPRTC_ERROR_INVALID_PROGRAM";
    case HIPRTC_ERROR_INVALID_OPTION: return "HIPRTC_ERROR_INVALID_OPTION";
    case HIPRTC_ERROR_COMPILATION: return "HIPRTC_ERROR_COMPILATION";
    case HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE: return "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE";
    case HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION:
      return "HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION";
    case HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION:
      return "HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION";
    case HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID: return "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID";
    case HIPRTC_ERROR_INTERNAL_ERROR: return "HIPRTC_ERROR_INTERNAL_ERROR";
    case 100: return "HIPRTC_ERROR_LINKING";
    default: return "HIPRTC: unknown result";
  }
}

EXPORT hiprtcResult hiprtcVersion(int* major, int* minor) {
  if (major == nullptr || minor == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  *major = 9;  // what AMD's library of HIP 5 answers: the compiler interface, not HIP's own number
  *minor = 0;
  return HIPRTC_SUCCESS;
}

EXPORT hiprtcResult hiprtcCreateProgram(hiprtcProgram* program, const char* text, const char* name,
                                        int header_count, const char** headers, const char** include_names) {
  if (program == nullptr || text == nullptr || header_count < 0) return HIPRTC_ERROR_INVALID_INPUT;
  if (header_count > 0 && (headers == nullptr || include_names == nullptr)) return HIPRTC_ERROR_INVALID_INPUT;
  return guarded([&] {
    auto made = std::make_unique<_hiprtcProgram>();
    made->source.text = text;
    made->source.name = name != nullptr && *name != '\0' ? name : "CompileSourceXXXXXX";
    for (int i = 0; i < header_count; ++i) {
      if (headers[i] == nullptr || include_names[i] == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
      made->source.headers[include_names[i]] = headers[i];
    }
    *program = rtc_programs().add(std::move(made));  // until hiprtcDestroyProgram
    return HIPRTC_SUCCESS;
  });
}

EXPORT hiprtcResult hiprtcDestroyProgram(hiprtcProgram* program) {
  if (program == nullptr || *program == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  if (rtc_programs().take(*program) == nullptr) return HIPRTC_ERROR_INVALID_PROGRAM;
  *program = nullptr;
  return HIPRTC_SUCCESS;
}

EXPORT hiprtcResult hiprtcAddNameExpression(hiprtcProgram program, const char* expression) {
  _hiprtcProgram* const found = find(program);
  if (found == nullptr) return HIPRTC_ERROR_INVALID_PROGRAM;
  if (expression == nullptr || *expression == '\0') return HIPRTC_ERROR_INVALID_INPUT;
  if (found->tried) return HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
  return guarded([&] {
    found->source.name_expressions.emplace_back(expression);
    return HIPRTC_SUCCESS;
  });
}

EXPORT hiprtcResult hiprtcCompileProgram(hiprtcProgram program, int option_count, const char** options) {
  _hiprtcProgram* const found = find(program);
  if (found == nullptr) return HIPRTC_ERROR_INVALID_PROGRAM;
  if (option_count < 0 || (option_count > 0 && options == nullptr)) return HIPRTC_ERROR_INVALID_INPUT;
  return guarded([&] {
    std::vector<std::string> words;
    for (int i = 0; i < option_count; ++i) {
      if (options[i] == nullptr) return HIPRTC_ERROR_INVALID_OPTION;
      words.emplace_back(options[i]);
    }
    found->tried = true;
    found->relocatable = tf::runtime::rtc::is_relocatable(words);
    auto compiled = tf::runtime::rtc::compile(found->source, words);
    if (!compiled) {
      found->result = {};
      found->result.log = compiled.status().to_string();
      return HIPRTC_ERROR_INTERNAL_ERROR;
    }
    found->result = std::move(*compiled);
    return found->result.ok ? HIPRTC_SUCCESS : found->result.result;
  });
}

EXPORT hiprtcResult hiprtcGetLoweredName(hiprtcProgram program, const char* expression,
                                         const char** lowered) {
  _hiprtcProgram* const found = find(program);
  if (found == nullptr) return HIPRTC_ERROR_INVALID_PROGRAM;
  if (expression == nullptr || lowered == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  if (!found->result.ok) return HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
  return guarded([&] {
    const auto name = found->result.lowered_names.find(expression);
    if (name == found->result.lowered_names.end()) return HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
    *lowered = name->second.c_str();  // lives as long as the program
    return HIPRTC_SUCCESS;
  });
}

EXPORT hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram program, size_t* bytes) {
  _hiprtcProgram* const found = find(program);
  if (found == nullptr) return HIPRTC_ERROR_INVALID_PROGRAM;
  if (bytes == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  *bytes = found->result.log.size() + (found->result.log.empty() ? 0 : 1);
  return HIPRTC_SUCCESS;
}

EXPORT hiprtcResult hiprtcGetProgramLog(hiprtcProgram program, char* log) {
  _hiprtcProgram* const found = find(program);
  if (found == nullptr) return HIPRTC_ERROR_INVALID_PROGRAM;
  return copy_out(found->result.log, log, !found->result.log.empty());
}

// A module is no code object, and a code object no bitcode. Asked for the other one, AMD's library says
// that there is no code, and that the program gives no bitcode.
EXPORT hiprtcResult hiprtcGetCodeSize(hiprtcProgram program, size_t* bytes) {
  _hiprtcProgram* const found = find(program);
  if (found == nullptr) return HIPRTC_ERROR_INVALID_PROGRAM;
  if (bytes == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  if (!found->result.ok) return HIPRTC_ERROR_INVALID_PROGRAM;
  *bytes = found->relocatable ? 0 : found->result.code.size();
  return HIPRTC_SUCCESS;
}

EXPORT hiprtcResult hiprtcGetCode(hiprtcProgram program, char* code) {
  const _hiprtcProgram* const found = find_compiled(program);
  if (found == nullptr) return HIPRTC_ERROR_INVALID_PROGRAM;
  return copy_out(found->relocatable ? std::string() : found->result.code, code, false);
}

// HIP 5.2's header does not declare these.
EXPORT hiprtcResult hiprtcGetBitcodeSize(hiprtcProgram program, size_t* bytes) {
  if (bytes == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  const _hiprtcProgram* const found = find_compiled(program);
  if (found == nullptr || !found->relocatable) return HIPRTC_ERROR_INVALID_PROGRAM;
  *bytes = found->result.code.size();
  return HIPRTC_SUCCESS;
}

EXPORT hiprtcResult hiprtcGetBitcode(hiprtcProgram program, char* code) {
  if (code == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  const _hiprtcProgram* const found = find_compiled(program);
  if (found == nullptr || !found->relocatable) return HIPRTC_ERROR_INVALID_PROGRAM;
  return copy_out(found->result.code, code, false);
}
