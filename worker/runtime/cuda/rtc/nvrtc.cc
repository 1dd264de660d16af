// SPDX-License-Identifier: Apache-2.0
// Loads NVRTC and fills the table of its functions.
#include "worker/runtime/cuda/rtc/nvrtc.h"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

namespace tf::cuda::nvrtc {
namespace {

std::vector<std::string> candidates() {
  const char* const wish = std::getenv("HIP_CUDA_NVRTC");
  if (wish && *wish) return {wish};
  std::vector<std::string> files;
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"}) {
    files.emplace_back(name);
    files.push_back(std::string("/usr/local/cuda/lib64/") + name);
  }
  return files;
}

template <typename Function>
bool find(void* library, const char* name, Function*& entry) {
  entry = reinterpret_cast<Function*>(::dlsym(library, name));
  return entry != nullptr;
}

Nvrtc load() {
  Nvrtc table;
  void* library = nullptr;
  for (const std::string& file : candidates()) {
    library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library) break;
    const char* const why = ::dlerror();
    if (table.reason.empty()) table.reason = std::string("NVRTC: ") + (why ? why : file.c_str());
  }
  if (!library) return table;
  table.reason.clear();
#define TF_NVRTC_FUNCTION(name, answer, parameters)                      \
  if (!find(library, "nvrtc" #name, table.name) && table.reason.empty()) \
    table.reason = "NVRTC: nvrtc" #name " is missing";
  TF_NVRTC_FUNCTIONS(TF_NVRTC_FUNCTION)
#undef TF_NVRTC_FUNCTION
  return table;
}

}  // namespace

const Nvrtc& nvrtc() {
  static const Nvrtc* const table = new Nvrtc(load());  // for ever: programs compile from destructors too
  return *table;
}

}  // namespace tf::cuda::nvrtc
