// SPDX-License-Identifier: Apache-2.0
// Libraries (HIP 7): loading them, their kernels and variables.
#include "hipcore/composed/libraries.h"

#include <cstring>
#include <string>

#include "transport/base/file_reader.h"

namespace tf::composed {
namespace {

// What both functions of a library's variables refuse.
hipError_t check_variable(const void* address, const size_t* bytes, hipLibrary_t library, const char* name) {
  if ((address == nullptr && bytes == nullptr) || name == nullptr || *name == '\0')
    return hipErrorInvalidValue;
  return library == nullptr ? hipErrorInvalidHandle : hipSuccess;
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
    tf::FileReader file(path);
    if (!file) return refuse(hipErrorFileNotFound);
    const std::string bytes = tf::read_rest(file);
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

TF_COMPOSED hipError_t hipLibraryGetGlobal(void** address, size_t* bytes, hipLibrary_t library,
                                           const char* name) {
  if (const hipError_t error = check_variable(address, bytes, library, name)) return refuse(error);
  return guarded([&]() -> hipError_t {
    hipDeviceptr_t found = nullptr;
    size_t found_bytes = 0;
    if (const hipError_t error = libraries().get_global(library, name, found, found_bytes)) return error;
    if (address != nullptr) *address = found;
    if (bytes != nullptr) *bytes = found_bytes;
    return hipSuccess;
  });
}

// The compiler keeps the first value of a managed variable under this other name; no other variable has one.
TF_COMPOSED hipError_t hipLibraryGetManaged(void** address, size_t* bytes, hipLibrary_t library,
                                            const char* name) {
  if (const hipError_t error = check_variable(address, bytes, library, name)) return refuse(error);
  return guarded([&]() -> hipError_t {
    hipDeviceptr_t found = nullptr;
    size_t found_bytes = 0;
    const std::string value = std::string(name) + std::string(tf::codeobject::kManagedSuffix);
    if (const hipError_t error = libraries().get_global(library, value.c_str(), found, found_bytes))
      return error;
    if (const hipError_t error = libraries().get_global(library, name, found, found_bytes)) return error;
    if (address != nullptr) *address = found;
    if (bytes != nullptr) *bytes = found_bytes;
    return hipSuccess;
  });
}
