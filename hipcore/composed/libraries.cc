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
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "hipcore/codeobject/fat_binary.h"
#include "hipcore/codeobject/metadata.h"
#include "hipcore/composed/composed.h"
#include "transport/base/mutex.h"

namespace tf::composed {
namespace {

constexpr std::uint64_t kImageMax_bytes = std::uint64_t{1} << 32;

struct Library {
  std::vector<std::byte> image;        // a copy: the program may free its own
  std::string path;                    // of its file, if it came from one
  std::map<int, hipModule_t> modules;  // by device
};

struct Kernel {
  hipLibrary_t library = nullptr;
  std::string name;
};

// All libraries, and the kernels that were asked for. The mutex is held during calls of HIP, which call
// nothing here. Thread-safe; throws std::bad_alloc.
class Libraries {
 public:
  static constexpr std::size_t kMax = 1 << 16;

  // Loads the library on the thread's device: what cannot be is refused now.
  hipError_t add(Library library, hipLibrary_t& handle) {
    const MutexLock lock(mutex_);
    if (all_.size() >= kMax) return refuse(hipErrorOutOfMemory);
    const auto made = reinterpret_cast<hipLibrary_t>((last_ + 1) << 4);
    const auto entry = all_.emplace(made, std::move(library)).first;
    hipModule_t module = nullptr;
    const hipError_t error = load(entry->second, module);
    if (error != hipSuccess) {
      all_.erase(entry);
      return error;
    }
    ++last_;
    handle = made;
    return hipSuccess;
  }

  // Kernels end with their library. Of several failures the first is answered.
  hipError_t remove(hipLibrary_t handle) {
    const MutexLock lock(mutex_);
    const auto found = all_.find(handle);
    if (found == all_.end()) return refuse(hipErrorInvalidHandle);
    hipError_t first = hipSuccess;
    for (const auto& [device, module] : found->second.modules) {
      const hipError_t error = hipModuleUnload(module);
      if (first == hipSuccess) first = error;
    }
    std::erase_if(kernels_, [&](const auto& entry) { return entry.second.library == handle; });
    all_.erase(found);
    return first;
  }

  // For the thread's device.
  hipError_t get_kernel(hipLibrary_t handle, const char* name, hipKernel_t& kernel) {
    const MutexLock lock(mutex_);
    const auto found = all_.find(handle);
    if (found == all_.end()) return refuse(hipErrorInvalidHandle);
    hipModule_t module = nullptr;
    if (const hipError_t error = load(found->second, module)) return error;
    hipFunction_t function = nullptr;
    if (const hipError_t error = hipModuleGetFunction(&function, module, name)) return error;
    const auto made = reinterpret_cast<hipKernel_t>(function);
    kernels_.try_emplace(made, Kernel{handle, name});
    kernel = made;
    return hipSuccess;
  }

  // The kernels that the code for the thread's device describes, in its order. hipErrorNotSupported for code
  // that names none in a form that is read here (NVIDIA's).
  hipError_t get_names(hipLibrary_t handle, std::vector<std::string>& names) const {
    const MutexLock lock(mutex_);
    const auto found = all_.find(handle);
    if (found == all_.end()) return refuse(hipErrorInvalidHandle);
    int device = 0;
    if (const hipError_t error = hipGetDevice(&device)) return error;
    hipDeviceProp_t properties{};
    if (const hipError_t error = hipGetDeviceProperties(&properties, device)) return error;
    auto code = codeobject::select_code_object(found->second.image, properties.gcnArchName);
    if (!code) return refuse(hipErrorNoBinaryForGpu);
    auto kernels = codeobject::read_metadata(code->image);
    if (!kernels) return refuse(hipErrorNotSupported);
    for (const codeobject::KernelInfo& kernel : *kernels) names.push_back(kernel.name);
    return hipSuccess;
  }

  // Null: `kernel` is of no library. Lives until its library is unloaded.
  const Kernel* find(hipKernel_t kernel) const {
    const MutexLock lock(mutex_);
    const auto found = kernels_.find(kernel);
    return found == kernels_.end() ? nullptr : &found->second;
  }

 private:
  // The module of the thread's device.
  static hipError_t load(Library& library, hipModule_t& module) {
    int device = 0;
    if (const hipError_t error = hipGetDevice(&device)) return error;
    const auto [entry, is_new] = library.modules.try_emplace(device, nullptr);
    if (is_new) {
      const hipError_t error = library.path.empty() ? hipModuleLoadData(&entry->second, library.image.data())
                                                    : hipModuleLoad(&entry->second, library.path.c_str());
      if (error != hipSuccess) {
        library.modules.erase(entry);
        return error;
      }
    }
    module = entry->second;
    return hipSuccess;
  }

  mutable Mutex mutex_;
  std::map<hipLibrary_t, Library> all_ TF_GUARDED_BY(mutex_);
  std::map<hipKernel_t, Kernel> kernels_ TF_GUARDED_BY(mutex_);
  std::uintptr_t last_ TF_GUARDED_BY(mutex_) = 0;
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
    Library made;
    const auto* const first = static_cast<const std::byte*>(image);
    made.image.assign(first, first + *bytes);
    return libraries().add(std::move(made), *library);
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
    Library made;
    made.path = path;
    made.image.resize(bytes.size());
    std::memcpy(made.image.data(), bytes.data(), bytes.size());
    return libraries().add(std::move(made), *library);
  });
}

TF_COMPOSED hipError_t hipLibraryUnload(hipLibrary_t library) {
  return guarded([&] { return libraries().remove(library); });
}

TF_COMPOSED hipError_t hipLibraryGetKernel(hipKernel_t* kernel, hipLibrary_t library, const char* name) {
  if (kernel == nullptr || name == nullptr || library == nullptr) return refuse(hipErrorInvalidValue);
  return guarded([&] { return libraries().get_kernel(library, name, *kernel); });
}

TF_COMPOSED hipError_t hipLibraryGetKernelCount(unsigned int* count, hipLibrary_t library) {
  if (count == nullptr || library == nullptr) return refuse(hipErrorInvalidValue);
  return guarded([&]() -> hipError_t {
    std::vector<std::string> names;
    if (const hipError_t error = libraries().get_names(library, names)) return error;
    *count = static_cast<unsigned>(names.size());
    return hipSuccess;
  });
}

TF_COMPOSED hipError_t hipLibraryEnumerateKernels(hipKernel_t* kernels, unsigned int count,
                                                  hipLibrary_t library) {
  if (kernels == nullptr || library == nullptr) return refuse(hipErrorInvalidValue);
  return guarded([&]() -> hipError_t {
    std::vector<std::string> names;
    if (const hipError_t error = libraries().get_names(library, names)) return error;
    for (std::size_t i = 0; i < names.size() && i < count; ++i) {
      if (const hipError_t error = libraries().get_kernel(library, names[i].c_str(), kernels[i]))
        return error;
    }
    return hipSuccess;
  });
}

TF_COMPOSED hipError_t hipKernelGetLibrary(hipLibrary_t* library, hipKernel_t kernel) {
  if (library == nullptr || kernel == nullptr) return refuse(hipErrorInvalidValue);
  const Kernel* const found = libraries().find(kernel);
  if (found == nullptr) return refuse(hipErrorInvalidHandle);
  *library = found->library;
  return hipSuccess;
}

// The name lives until the library is unloaded.
TF_COMPOSED hipError_t hipKernelGetName(const char** name, hipKernel_t kernel) {
  if (name == nullptr || kernel == nullptr) return refuse(hipErrorInvalidValue);
  const Kernel* const found = libraries().find(kernel);
  if (found == nullptr) return refuse(hipErrorInvalidHandle);
  *name = found->name.c_str();
  return hipSuccess;
}
