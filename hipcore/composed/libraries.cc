// SPDX-License-Identifier: Apache-2.0
// Libraries and their kernels (HIP 7): a library is a module for each device that uses it, and a kernel is
// the function of the module of the device that was current when it was asked for. hipKernel_t and
// hipFunction_t are the same handle.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "hipcore/codeobject/fat_binary.h"
#include "hipcore/codeobject/metadata.h"
#include "hipcore/composed/composed.h"
#include "transport/base/mutex.h"

namespace tf::composed {
namespace {

constexpr std::size_t kLibrariesMax = 1 << 16;
constexpr std::uint64_t kImageMax_bytes = std::uint64_t{1} << 32;

struct Library {
  std::vector<std::byte> image;                       // a copy: the program may free its own
  std::string path;                                   // of its file, if it came from one
  std::map<int, hipModule_t> modules;                 // by device
  std::map<hipFunction_t, const std::string*> names;  // of the kernels that were asked for
  std::map<std::string, std::map<int, hipFunction_t>> kernels;
};

// All libraries. Their mutex is held during the calls of HIP below, which call nothing here.
struct Libraries {
  Mutex mutex;
  std::map<hipLibrary_t, std::unique_ptr<Library>> all TF_GUARDED_BY(mutex);
  std::uintptr_t last TF_GUARDED_BY(mutex) = 0;

  Library* find(hipLibrary_t handle) const TF_REQUIRES(mutex) {
    const auto found = all.find(handle);
    return found == all.end() ? nullptr : found->second.get();
  }
};

// Never destroyed: programs call until the process ends.
Libraries& libraries() {
  static Libraries& libraries = *new Libraries;
  return libraries;
}

// Calls body(); what it throws for lack of memory becomes HIP's error.
template <typename Body>
hipError_t guarded(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return refuse(hipErrorOutOfMemory);
  }
}

hipError_t with_library(hipLibrary_t handle, auto&& body) {
  return guarded([&]() -> hipError_t {
    Libraries& known = libraries();
    const MutexLock lock(known.mutex);
    Library* const library = known.find(handle);
    return library != nullptr ? body(*library) : refuse(hipErrorInvalidHandle);
  });
}

// The module of the thread's device.
hipError_t module_of(Library& library, int& device, hipModule_t& module) {
  if (const hipError_t error = hipGetDevice(&device)) return error;
  const auto found = library.modules.find(device);
  if (found != library.modules.end()) {
    module = found->second;
    return hipSuccess;
  }
  const hipError_t error = library.path.empty() ? hipModuleLoadData(&module, library.image.data())
                                                : hipModuleLoad(&module, library.path.c_str());
  if (error != hipSuccess) return error;
  library.modules.emplace(device, module);
  return hipSuccess;
}

hipError_t kernel_of(Library& library, const std::string& name, hipKernel_t& kernel) {
  int device = 0;
  hipModule_t module = nullptr;
  if (const hipError_t error = module_of(library, device, module)) return error;
  const auto entry = library.kernels.try_emplace(name).first;
  const auto known = entry->second.find(device);
  hipFunction_t function = known == entry->second.end() ? nullptr : known->second;
  if (function == nullptr) {
    const hipError_t error = hipModuleGetFunction(&function, module, name.c_str());
    if (error != hipSuccess) {
      if (entry->second.empty()) library.kernels.erase(entry);
      return error;
    }
    entry->second.emplace(device, function);
    library.names[function] = &entry->first;
  }
  kernel = reinterpret_cast<hipKernel_t>(function);
  return hipSuccess;
}

// The kernels that the code for the thread's device describes, in its order. hipErrorNotSupported for code
// that names none in a form that is read here (NVIDIA's).
hipError_t names_of(const Library& library, std::vector<std::string>& names) {
  int device = 0;
  if (const hipError_t error = hipGetDevice(&device)) return error;
  hipDeviceProp_t properties{};
  if (const hipError_t error = hipGetDeviceProperties(&properties, device)) return error;
  auto code = codeobject::select_code_object(library.image, properties.gcnArchName);
  if (!code) return refuse(hipErrorNoBinaryForGpu);
  auto kernels = codeobject::read_metadata(code->image);
  if (!kernels) return refuse(hipErrorNotSupported);
  for (const codeobject::KernelInfo& kernel : *kernels) names.push_back(kernel.name);
  return hipSuccess;
}

// With the library loaded on the thread's device: what cannot be is refused now.
hipError_t add(std::unique_ptr<Library> library, hipLibrary_t& handle) {
  Libraries& known = libraries();
  const MutexLock lock(known.mutex);
  if (known.all.size() >= kLibrariesMax) return refuse(hipErrorOutOfMemory);
  int device = 0;
  hipModule_t module = nullptr;
  if (const hipError_t error = module_of(*library, device, module)) return error;
  handle = reinterpret_cast<hipLibrary_t>(++known.last << 4);
  known.all.emplace(handle, std::move(library));
  return hipSuccess;
}

// AMD's runtime takes no options for its compiler, and has nothing to make of those of a library.
bool are_possible(unsigned options, const void* library_options, unsigned library_option_count) {
  return options == 0 && (library_option_count == 0 || library_options != nullptr);
}

// The image itself, if `code` is the wrapper that compilers make.
const void* unwrapped(const void* code) {
  auto inside = codeobject::wrapped_image(code);
  return inside ? *inside : code;
}

}  // namespace
}  // namespace tf::composed

using tf::MutexLock;
using namespace tf::composed;

TF_COMPOSED hipError_t hipLibraryLoadData(hipLibrary_t* library, const void* code, hipJitOption*, void**,
                                          unsigned int option_count, hipLibraryOption* library_options,
                                          void**, unsigned int library_option_count) {
  if (library == nullptr || code == nullptr ||
      !are_possible(option_count, library_options, library_option_count))
    return refuse(hipErrorInvalidValue);
  return guarded([&]() -> hipError_t {
    const void* const image = unwrapped(code);
    auto bytes = tf::codeobject::image_extent(image);
    if (!bytes || *bytes > kImageMax_bytes) return refuse(hipErrorInvalidImage);
    auto made = std::make_unique<Library>();
    const auto* const first = static_cast<const std::byte*>(image);
    made->image.assign(first, first + *bytes);
    return add(std::move(made), *library);
  });
}

TF_COMPOSED hipError_t hipLibraryLoadFromFile(hipLibrary_t* library, const char* path, hipJitOption*, void**,
                                              unsigned int option_count, hipLibraryOption* library_options,
                                              void**, unsigned int library_option_count) {
  if (library == nullptr || path == nullptr ||
      !are_possible(option_count, library_options, library_option_count))
    return refuse(hipErrorInvalidValue);
  return guarded([&]() -> hipError_t {
    std::ifstream file(path, std::ios::binary);
    if (!file) return refuse(hipErrorFileNotFound);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (bytes.empty()) return refuse(hipErrorInvalidImage);
    auto made = std::make_unique<Library>();
    made->path = path;
    made->image.resize(bytes.size());
    std::memcpy(made->image.data(), bytes.data(), bytes.size());
    return add(std::move(made), *library);
  });
}

// Its kernels end with it. Of several failures the first is answered.
TF_COMPOSED hipError_t hipLibraryUnload(hipLibrary_t library) {
  return guarded([&]() -> hipError_t {
    Libraries& known = libraries();
    const MutexLock lock(known.mutex);
    Library* const found = known.find(library);
    if (found == nullptr) return refuse(hipErrorInvalidHandle);
    hipError_t first = hipSuccess;
    for (const auto& [device, module] : found->modules) {
      const hipError_t error = hipModuleUnload(module);
      if (first == hipSuccess) first = error;
    }
    known.all.erase(library);
    return first;
  });
}

TF_COMPOSED hipError_t hipLibraryGetKernel(hipKernel_t* kernel, hipLibrary_t library, const char* name) {
  if (kernel == nullptr || name == nullptr || library == nullptr) return refuse(hipErrorInvalidValue);
  return with_library(library, [&](Library& found) { return kernel_of(found, name, *kernel); });
}

TF_COMPOSED hipError_t hipLibraryGetKernelCount(unsigned int* count, hipLibrary_t library) {
  if (count == nullptr || library == nullptr) return refuse(hipErrorInvalidValue);
  return with_library(library, [&](Library& found) -> hipError_t {
    std::vector<std::string> names;
    if (const hipError_t error = names_of(found, names)) return error;
    *count = static_cast<unsigned>(names.size());
    return hipSuccess;
  });
}

TF_COMPOSED hipError_t hipLibraryEnumerateKernels(hipKernel_t* kernels, unsigned int count,
                                                  hipLibrary_t library) {
  if (kernels == nullptr || library == nullptr) return refuse(hipErrorInvalidValue);
  return with_library(library, [&](Library& found) -> hipError_t {
    std::vector<std::string> names;
    if (const hipError_t error = names_of(found, names)) return error;
    for (std::size_t i = 0; i < names.size() && i < count; ++i) {
      if (const hipError_t error = kernel_of(found, names[i], kernels[i])) return error;
    }
    return hipSuccess;
  });
}

TF_COMPOSED hipError_t hipKernelGetLibrary(hipLibrary_t* library, hipKernel_t kernel) {
  if (library == nullptr || kernel == nullptr) return refuse(hipErrorInvalidValue);
  Libraries& known = libraries();
  const MutexLock lock(known.mutex);
  for (const auto& [handle, candidate] : known.all) {
    if (!candidate->names.contains(reinterpret_cast<hipFunction_t>(kernel))) continue;
    *library = handle;
    return hipSuccess;
  }
  return refuse(hipErrorInvalidHandle);
}

// The name lives until the library is unloaded.
TF_COMPOSED hipError_t hipKernelGetName(const char** name, hipKernel_t kernel) {
  if (name == nullptr || kernel == nullptr) return refuse(hipErrorInvalidValue);
  Libraries& known = libraries();
  const MutexLock lock(known.mutex);
  for (const auto& [handle, candidate] : known.all) {
    const auto found = candidate->names.find(reinterpret_cast<hipFunction_t>(kernel));
    if (found == candidate->names.end()) continue;
    *name = found->second->c_str();
    return hipSuccess;
  }
  return refuse(hipErrorInvalidHandle);
}
