// SPDX-License-Identifier: Apache-2.0
// Loads the CUDA driver and fills the table of its functions.
#include "worker/runtime/cuda/driver.h"

#include <dlfcn.h>

#include <cstdlib>

namespace tf::cuda::driver {
namespace {

// cuGetProcAddress has changed its parameters with CUDA 12; each form has its own symbol.
using GetProcAddress = Result (*)(const char*, void**, int, std::uint64_t, int*);
using GetProcAddressV1 = Result (*)(const char*, void**, int, std::uint64_t);

struct Finder {
  GetProcAddress find = nullptr;
  GetProcAddressV1 find_v1 = nullptr;

  void* operator()(const char* name, int version) const {
    void* found = nullptr;
    int status = 0;
    const Result result = find ? find(name, &found, version, kProcLegacyStream, &status)
                               : find_v1(name, &found, version, kProcLegacyStream);
    return result == Result::SUCCESS ? found : nullptr;
  }
};

template <typename... Parameters>
Result missing(Parameters...) {
  return Result::NOT_SUPPORTED;
}

template <typename... Parameters>
void fill(Result (*&entry)(Parameters...), void* found) {
  entry = found ? reinterpret_cast<Result (*)(Parameters...)>(found) : &missing<Parameters...>;
}

void fill_all(Driver& table, const Finder* finder) {
#define TF_CUDA_FUNCTION(name, version, parameters) \
  fill(table.name, finder ? (*finder)("cu" #name, version) : nullptr);
#include "worker/runtime/cuda/driver_functions.inc"
#undef TF_CUDA_FUNCTION
}

const char* library_name() {
  const char* const wish = std::getenv("HIP_CUDA_DRIVER");
  return wish && *wish ? wish : "libcuda.so.1";
}

}  // namespace

std::string load(Driver& table) {
  fill_all(table, nullptr);
  void* const library = ::dlopen(library_name(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* const why = ::dlerror();
    return std::string("no CUDA driver: ") + (why ? why : library_name());
  }
  Finder finder;
  finder.find = reinterpret_cast<GetProcAddress>(::dlsym(library, "cuGetProcAddress_v2"));
  finder.find_v1 = reinterpret_cast<GetProcAddressV1>(::dlsym(library, "cuGetProcAddress"));
  if (!finder.find && !finder.find_v1)
    return std::string(library_name()) + ": a CUDA driver before 11.3 (cuGetProcAddress is missing)";
  fill_all(table, &finder);
  return {};
}

}  // namespace tf::cuda::driver
