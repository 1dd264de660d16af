// SPDX-License-Identifier: Apache-2.0
// hiprtc's bitcode and linking calls (HIP 5.3 and later), as far as they make sense here. The finished code
// object stands in for bitcode, and linking exactly one returns it. Linking several fails with
// HIPRTC_ERROR_LINKING. One thread at a time uses a link state.
#include <hip/hiprtc.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "worker/runtime/common/rtc/guarded.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using tf::runtime::rtc::guarded;

constexpr int kErrorLinking = 100;  // HIPRTC_ERROR_LINKING, which HIP 5.2's enum does not have

struct LinkState {
  std::vector<std::string> inputs;
};

LinkState* state_of(void* handle) { return static_cast<LinkState*>(handle); }

hiprtcResult add(void* handle, std::string input) {
  if (handle == nullptr || input.empty()) return HIPRTC_ERROR_INVALID_INPUT;
  state_of(handle)->inputs.push_back(std::move(input));
  return HIPRTC_SUCCESS;
}

}  // namespace

// HIP 5.2's header does not declare these; the signatures are those of 5.3, enums passed as int.
EXPORT hiprtcResult hiprtcGetBitcodeSize(hiprtcProgram program, size_t* bytes) {
  return hiprtcGetCodeSize(program, bytes);
}

EXPORT hiprtcResult hiprtcGetBitcode(hiprtcProgram program, char* code) {
  return hiprtcGetCode(program, code);
}

EXPORT hiprtcResult hiprtcLinkCreate(unsigned, int*, void**, void** state) {
  if (state == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  return guarded([state] {
    *state = std::make_unique<LinkState>().release();  // owned by the caller until hiprtcLinkDestroy
    return HIPRTC_SUCCESS;
  });
}

EXPORT hiprtcResult hiprtcLinkAddData(void* state, int, void* image, size_t bytes, const char*, unsigned,
                                      int*, void**) {
  if (image == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  return guarded([&] { return add(state, std::string(static_cast<const char*>(image), bytes)); });
}

EXPORT hiprtcResult hiprtcLinkAddFile(void* state, int, const char* path, unsigned, int*, void**) {
  if (path == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  return guarded([&] {
    std::ifstream file(path, std::ios::binary);
    return add(state, std::string(std::istreambuf_iterator<char>(file), {}));
  });
}

EXPORT int hiprtcLinkComplete(void* state, void** image, size_t* bytes) {
  if (state == nullptr || image == nullptr || bytes == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  std::vector<std::string>& inputs = state_of(state)->inputs;
  if (inputs.size() != 1) return kErrorLinking;
  *image = inputs[0].data();  // lives as long as the link state
  *bytes = inputs[0].size();
  return HIPRTC_SUCCESS;
}

EXPORT hiprtcResult hiprtcLinkDestroy(void* state) {
  if (state == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  const std::unique_ptr<LinkState> owned(state_of(state));
  return HIPRTC_SUCCESS;
}
