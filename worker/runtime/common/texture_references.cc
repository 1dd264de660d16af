// SPDX-License-Identifier: Apache-2.0
// Texture references: variables of programs and modules, bound to texture objects.
#include "worker/runtime/common/texture_references.h"

#include "worker/runtime/common/api.h"
#include "worker/runtime/common/arrays.h"
#include "worker/runtime/common/programs.h"
#include "worker/runtime/common/textures.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace tf::runtime {
namespace {

class References final : private array::ReferenceSide {
 public:
  array::References& library() { return library_; }

 private:
  hipError_t find_variable(const textureReference* reference, std::uint64_t& address) override {
    void* variable = nullptr;
    std::size_t bytes = 0;
    if (const hipError_t status = runtime::find_variable(reference, variable, bytes)) return status;
    address = graph::address_of(variable);
    return bytes == sizeof(textureReference) ? hipSuccess : hipErrorInvalidSymbol;
  }
  hipError_t write_variable(std::uint64_t address, const textureReference& reference) override {
    Backend::Stream stream{};
    if (const hipError_t status = Backend::find_stream(nullptr, stream)) return status;
    return Backend::copy(reinterpret_cast<void*>(address), &reference, sizeof reference,
                         hipMemcpyHostToDevice, stream, Wait::kYes);
  }
  std::size_t bytes_from(const void* address) override {
    void* base = nullptr;
    std::size_t bytes = 0;
    if (Backend::address_range(const_cast<void*>(address), base, bytes) != hipSuccess) return 0;
    return graph::address_of(base) + bytes - graph::address_of(address);
  }

  array::References library_{arrays(), textures(), *this};
};

}  // namespace

array::References& references() {
  static References* const all = new References;
  return all->library();
}

}  // namespace tf::runtime

using namespace tf;           // NOLINT: the functions are C functions, outside every namespace
using namespace tf::runtime;  // NOLINT

extern "C" {

hipError_t hipBindTexture(size_t* offset, const textureReference* reference, const void* memory,
                          const hipChannelFormatDesc* elements, size_t bytes) {
  return api([&] { return references().bind(offset, reference, memory, elements, bytes); });
}

hipError_t hipBindTexture2D(size_t* offset, const textureReference* reference, const void* memory,
                            const hipChannelFormatDesc* elements, size_t width, size_t height, size_t pitch) {
  return api([&] { return references().bind_2d(offset, reference, memory, elements, width, height, pitch); });
}

hipError_t hipBindTextureToArray(const textureReference* reference, hipArray_const_t array,
                                 const hipChannelFormatDesc* elements) {
  return api([&] { return references().bind_array(reference, array, elements); });
}

hipError_t hipBindTextureToMipmappedArray(const textureReference* reference,
                                          hipMipmappedArray_const_t mipmapped,
                                          const hipChannelFormatDesc* elements) {
  return api([&] { return references().bind_mipmapped(reference, mipmapped, elements); });
}

hipError_t hipUnbindTexture(const textureReference* reference) {
  return api([&] { return references().unbind(reference); });
}

hipError_t hipTexRefSetAddress(size_t* offset, textureReference* reference, hipDeviceptr_t memory,
                               size_t bytes) {
  return api([&] { return references().set_address(offset, reference, memory, bytes); });
}

hipError_t hipTexRefSetAddress2D(textureReference* reference, const HIP_ARRAY_DESCRIPTOR* description,
                                 hipDeviceptr_t memory, size_t pitch) {
  return api([&] { return references().set_address_2d(reference, description, memory, pitch); });
}

hipError_t hipTexRefSetArray(textureReference* reference, hipArray_const_t array, unsigned int flags) {
  return api([&] { return references().set_array(reference, array, flags); });
}

hipError_t hipTexRefSetMipmappedArray(textureReference* reference, struct hipMipmappedArray* mipmapped,
                                      unsigned int flags) {
  return api([&] { return references().set_mipmapped(reference, mipmapped, flags); });
}

hipError_t hipTexRefGetAddress(hipDeviceptr_t* memory, const textureReference* reference) {
  return api([&] { return references().get_address(memory, reference); });
}

hipError_t hipModuleGetTexRef(textureReference** reference, hipModule_t module, const char* name) {
  return api([&] {
    void* variable = nullptr;
    std::size_t bytes = 0;
    if (!reference || !name || !*name) return hipErrorInvalidValue;
    if (const hipError_t status = Backend::module_variable(module, name, variable, bytes)) return status;
    if (bytes != sizeof(textureReference)) return hipErrorNotFound;
    return references().of_module(reference, graph::address_of(module), graph::address_of(variable));
  });
}

hipError_t hipTexRefSetAddressMode(textureReference* reference, int axis, enum hipTextureAddressMode mode) {
  return host_api([&] { return array::reference::set_address_mode(reference, axis, mode); });
}

hipError_t hipTexRefGetAddressMode(enum hipTextureAddressMode* mode, const textureReference* reference,
                                   int axis) {
  return host_api([&] { return array::reference::get_address_mode(mode, reference, axis); });
}

hipError_t hipTexRefSetFilterMode(textureReference* reference, enum hipTextureFilterMode mode) {
  return host_api([&] { return array::reference::set<&textureReference::filterMode>(reference, mode); });
}

hipError_t hipTexRefGetFilterMode(enum hipTextureFilterMode* mode, const textureReference* reference) {
  return host_api([&] { return array::reference::get<&textureReference::filterMode>(mode, reference); });
}

hipError_t hipTexRefSetFlags(textureReference* reference, unsigned int flags) {
  return host_api([&] { return array::reference::set_flags(reference, flags); });
}

hipError_t hipTexRefGetFlags(unsigned int* flags, const textureReference* reference) {
  return host_api([&] { return array::reference::get_flags(flags, reference); });
}

hipError_t hipTexRefSetFormat(textureReference* reference, hipArray_Format format, int channels) {
  return host_api([&] { return array::reference::set_format(reference, format, channels); });
}

hipError_t hipTexRefGetFormat(hipArray_Format* format, int* channels, const textureReference* reference) {
  return host_api([&] { return array::reference::get_format(format, channels, reference); });
}

hipError_t hipTexRefSetMaxAnisotropy(textureReference* reference, unsigned int anisotropy) {
  return host_api(
      [&] { return array::reference::set<&textureReference::maxAnisotropy>(reference, anisotropy); });
}

hipError_t hipTexRefGetMaxAnisotropy(int* anisotropy, const textureReference* reference) {
  return host_api(
      [&] { return array::reference::get<&textureReference::maxAnisotropy>(anisotropy, reference); });
}

hipError_t hipTexRefSetMipmapFilterMode(textureReference* reference, enum hipTextureFilterMode mode) {
  return host_api(
      [&] { return array::reference::set<&textureReference::mipmapFilterMode>(reference, mode); });
}

hipError_t hipTexRefGetMipmapFilterMode(enum hipTextureFilterMode* mode, const textureReference* reference) {
  return host_api(
      [&] { return array::reference::get<&textureReference::mipmapFilterMode>(mode, reference); });
}

hipError_t hipTexRefSetMipmapLevelBias(textureReference* reference, float bias) {
  return host_api([&] { return array::reference::set<&textureReference::mipmapLevelBias>(reference, bias); });
}

hipError_t hipTexRefGetMipmapLevelBias(float* bias, const textureReference* reference) {
  return host_api([&] { return array::reference::get<&textureReference::mipmapLevelBias>(bias, reference); });
}

hipError_t hipTexRefSetMipmapLevelClamp(textureReference* reference, float low, float high) {
  return host_api([&] { return array::reference::set_level_clamp(reference, low, high); });
}

hipError_t hipTexRefGetMipmapLevelClamp(float* low, float* high, const textureReference* reference) {
  return host_api([&] { return array::reference::get_level_clamp(low, high, reference); });
}

hipError_t hipTexRefSetBorderColor(textureReference* reference, float* color) {
  return host_api([&] { return array::reference::set_border(reference, color); });
}

hipError_t hipGetTextureAlignmentOffset(size_t* offset, const textureReference* reference) {
  return host_api([&] { return array::reference::get_offset(offset, reference); });
}

hipError_t hipGetTextureReference(const textureReference** reference, const void* symbol) {
  return host_api([&] { return array::reference::of_symbol(reference, symbol); });
}

}  // extern "C"
