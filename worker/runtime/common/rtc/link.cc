// SPDX-License-Identifier: Apache-2.0
// hiprtc's linking (HIP 5.3 and later): modules that -fgpu-rdc made become one code object. HIP 5.2's header
// does not declare these functions; the signatures are those of 5.3, enums passed as int. One thread at a
// time uses a link state; any thread may come with a wrong one.
#include <hip/hiprtc.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "worker/runtime/common/rtc/compile.h"
#include "worker/runtime/common/rtc/guarded.h"
#include "worker/runtime/common/rtc/handles.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using tf::runtime::rtc::Compiled;
using tf::runtime::rtc::guarded;
using tf::runtime::rtc::Module;

constexpr int kErrorLinking = 100;  // HIPRTC_ERROR_LINKING, which HIP 5.2's enum does not have
// hiprtcJITInputType: what is NVIDIA's own comes first, and is refused as by AMD's library.
constexpr int kLlvmBitcode = 100;
// hiprtcJIT_option: where the texts go. The others are hints.
constexpr int kInfoLog = 3;
constexpr int kInfoLogBytes = 4;
constexpr int kErrorLog = 5;
constexpr int kErrorLogBytes = 6;
constexpr std::size_t kModulesMax = 4096;  // of one link state, as on the wire
constexpr std::size_t kModuleBytesMax = std::size_t{1} << 30;

// A buffer of the program's.
struct Log {
  char* text = nullptr;
  std::size_t bytes = 0;

  void write(const std::string& from) const {
    if (text == nullptr || bytes == 0) return;
    const std::size_t count = std::min(from.size(), bytes - 1);
    std::memcpy(text, from.data(), count);
    text[count] = '\0';
  }
};

struct LinkState {
  std::vector<Module> modules;
  Compiled linked;
  Log info;
  Log error;

  template <typename Result>
  Result fail(Result result, const std::string& why) const {
    error.write(why);
    return result;
  }
};

auto& states() { return tf::runtime::rtc::handles<LinkState>(); }

// False: the option wants a buffer, and there is none.
bool take_option(LinkState& state, int option, void* value) {
  Log& log = option == kInfoLog || option == kInfoLogBytes ? state.info : state.error;
  if (option == kInfoLogBytes || option == kErrorLogBytes)
    log.bytes = reinterpret_cast<std::uintptr_t>(value);
  if (option != kInfoLog && option != kErrorLog) return true;
  log.text = static_cast<char*>(value);
  return value != nullptr;
}

hiprtcResult check_type(const LinkState& state, int type) {
  if (type < kLlvmBitcode) return HIPRTC_ERROR_INVALID_INPUT;
  if (type == kLlvmBitcode) return HIPRTC_SUCCESS;
  return state.fail(HIPRTC_ERROR_PROGRAM_CREATION_FAILURE,
                    "hiprtc: only plain LLVM bitcode is linked, no bundles and no SPIR-V");
}

hiprtcResult add(LinkState& state, Module module) {
  if (module.code.empty() || state.modules.size() >= kModulesMax)
    return state.fail(HIPRTC_ERROR_PROGRAM_CREATION_FAILURE, "hiprtc: " + module.name + " cannot be read");
  state.modules.push_back(std::move(module));
  return HIPRTC_SUCCESS;
}

int complete(LinkState& state) {
  if (state.modules.empty()) return state.fail(kErrorLinking, "hiprtc: there is nothing to link");
  auto linked = tf::runtime::rtc::link(state.modules);
  if (!linked) return state.fail(kErrorLinking, linked.status().to_string());
  if (!linked->ok) return state.fail(kErrorLinking, linked->log);
  state.info.write(linked->log);
  state.linked = std::move(*linked);
  return HIPRTC_SUCCESS;
}

}  // namespace

EXPORT hiprtcResult hiprtcLinkCreate(unsigned count, int* options, void** values, void** handle) {
  if (handle == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  if (count != 0 && (options == nullptr || values == nullptr)) return HIPRTC_ERROR_INVALID_INPUT;
  return guarded([&] {
    auto state = std::make_unique<LinkState>();
    for (unsigned i = 0; i < count; ++i)
      if (!take_option(*state, options[i], values[i])) return HIPRTC_ERROR_INVALID_OPTION;
    *handle = states().add(std::move(state));  // until hiprtcLinkDestroy
    return HIPRTC_SUCCESS;
  });
}

EXPORT hiprtcResult hiprtcLinkAddData(void* handle, int type, void* image, size_t bytes, const char* name,
                                      unsigned, int*, void**) {
  if (image == nullptr || bytes == 0) return HIPRTC_ERROR_INVALID_INPUT;
  return guarded([&] {
    LinkState* const state = states().find(handle);
    if (state == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
    if (const hiprtcResult wrong = check_type(*state, type); wrong != HIPRTC_SUCCESS) return wrong;
    if (bytes > kModuleBytesMax) return HIPRTC_ERROR_OUT_OF_MEMORY;
    return add(*state,
               {name != nullptr ? name : "a module", std::string(static_cast<const char*>(image), bytes)});
  });
}

EXPORT hiprtcResult hiprtcLinkAddFile(void* handle, int type, const char* path, unsigned, int*, void**) {
  if (path == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  return guarded([&] {
    LinkState* const state = states().find(handle);
    if (state == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
    if (const hiprtcResult wrong = check_type(*state, type); wrong != HIPRTC_SUCCESS) return wrong;
    std::ifstream file(path, std::ios::binary);
    return add(*state, {path, std::string(std::istreambuf_iterator<char>(file), {})});
  });
}

EXPORT int hiprtcLinkComplete(void* handle, void** image, size_t* bytes) {
  if (image == nullptr || bytes == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  int result = HIPRTC_SUCCESS;
  const hiprtcResult tried = guarded([&] {
    LinkState* const state = states().find(handle);
    if (state == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
    result = complete(*state);
    if (result != HIPRTC_SUCCESS) return HIPRTC_SUCCESS;
    *image = state->linked.code.data();  // lives as long as the link state
    *bytes = state->linked.code.size();
    return HIPRTC_SUCCESS;
  });
  return tried != HIPRTC_SUCCESS ? static_cast<int>(tried) : result;
}

EXPORT hiprtcResult hiprtcLinkDestroy(void* handle) {
  return guarded(
      [&] { return states().take(handle) != nullptr ? HIPRTC_SUCCESS : HIPRTC_ERROR_INVALID_INPUT; });
}
