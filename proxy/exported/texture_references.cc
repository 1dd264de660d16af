// SPDX-License-Identifier: Apache-2.0
// Texture references: what they are bound to is the library's business.
#include "hipcore/array/references.h"

#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"
#include "proxy/gen/local.h"

namespace tf::proxy::custom {
namespace {

template <typename Body>
hipError_t with_references(ApiCall& call, Body&& body) {
  if (!call.connected()) return call.finish();
  return call.finish(body(call.client().texture_references().library()));
}

}  // namespace

hipError_t hipBindTexture(ApiCall& call, size_t* offset, const textureReference* reference,
                          const void* memory, const hipChannelFormatDesc* elements, size_t bytes) {
  return with_references(
      call, [&](array::References& all) { return all.bind(offset, reference, memory, elements, bytes); });
}

hipError_t hipBindTexture2D(ApiCall& call, size_t* offset, const textureReference* reference,
                            const void* memory, const hipChannelFormatDesc* elements, size_t width,
                            size_t height, size_t pitch) {
  return with_references(call, [&](array::References& all) {
    return all.bind_2d(offset, reference, memory, elements, width, height, pitch);
  });
}

hipError_t hipBindTextureToArray(ApiCall& call, const textureReference* reference, hipArray_const_t array,
                                 const hipChannelFormatDesc* elements) {
  return with_references(call,
                         [&](array::References& all) { return all.bind_array(reference, array, elements); });
}

hipError_t hipBindTextureToMipmappedArray(ApiCall& call, const textureReference* reference,
                                          hipMipmappedArray_const_t mipmapped,
                                          const hipChannelFormatDesc* elements) {
  return with_references(
      call, [&](array::References& all) { return all.bind_mipmapped(reference, mipmapped, elements); });
}

hipError_t hipUnbindTexture(ApiCall& call, const textureReference* reference) {
  return with_references(call, [&](array::References& all) { return all.unbind(reference); });
}

hipError_t hipTexRefSetAddress(ApiCall& call, size_t* offset, textureReference* reference,
                               hipDeviceptr_t memory, size_t bytes) {
  return with_references(
      call, [&](array::References& all) { return all.set_address(offset, reference, memory, bytes); });
}

hipError_t hipTexRefSetAddress2D(ApiCall& call, textureReference* reference,
                                 const HIP_ARRAY_DESCRIPTOR* description, hipDeviceptr_t memory,
                                 size_t pitch) {
  return with_references(call, [&](array::References& all) {
    return all.set_address_2d(reference, description, memory, pitch);
  });
}

hipError_t hipTexRefSetArray(ApiCall& call, textureReference* reference, hipArray_const_t array,
                             unsigned int flags) {
  return with_references(call,
                         [&](array::References& all) { return all.set_array(reference, array, flags); });
}

hipError_t hipTexRefSetMipmappedArray(ApiCall& call, textureReference* reference,
                                      struct hipMipmappedArray* mipmapped, unsigned int flags) {
  return with_references(
      call, [&](array::References& all) { return all.set_mipmapped(reference, mipmapped, flags); });
}

hipError_t hipTexRefGetAddress(ApiCall& call, hipDeviceptr_t* memory, const textureReference* reference) {
  return with_references(call, [&](array::References& all) { return all.get_address(memory, reference); });
}

hipError_t hipModuleGetTexRef(ApiCall& call, textureReference** reference, hipModule_t module,
                              const char* name) {
  if (reference == nullptr || name == nullptr) return call.finish(hipErrorInvalidValue);
  return with_references(call, [&](array::References& all) {
    DeviceVariable variable;
    const hipError_t error = call.client().modules().variable(to_raw(module), name, variable);
    if (error != hipSuccess) return error;
    return variable.bytes == sizeof(textureReference)
               ? all.of_module(reference, to_raw(module), variable.address)
               : hipErrorNotFound;
  });
}

}  // namespace tf::proxy::custom

namespace tf::proxy::local {

hipError_t hipTexRefSetAddressMode(textureReference* reference, int axis, enum hipTextureAddressMode mode) {
  return note_error(array::reference::set_address_mode(reference, axis, mode));
}

hipError_t hipTexRefGetAddressMode(enum hipTextureAddressMode* mode, const textureReference* reference,
                                   int axis) {
  return note_error(array::reference::get_address_mode(mode, reference, axis));
}

hipError_t hipTexRefSetFilterMode(textureReference* reference, enum hipTextureFilterMode mode) {
  return note_error(array::reference::set<&textureReference::filterMode>(reference, mode));
}

hipError_t hipTexRefGetFilterMode(enum hipTextureFilterMode* mode, const textureReference* reference) {
  return note_error(array::reference::get<&textureReference::filterMode>(mode, reference));
}

hipError_t hipTexRefSetFlags(textureReference* reference, unsigned int flags) {
  return note_error(array::reference::set_flags(reference, flags));
}

hipError_t hipTexRefGetFlags(unsigned int* flags, const textureReference* reference) {
  return note_error(array::reference::get_flags(flags, reference));
}

hipError_t hipTexRefSetFormat(textureReference* reference, hipArray_Format format, int channels) {
  return note_error(array::reference::set_format(reference, format, channels));
}

hipError_t hipTexRefGetFormat(hipArray_Format* format, int* channels, const textureReference* reference) {
  return note_error(array::reference::get_format(format, channels, reference));
}

hipError_t hipTexRefSetMaxAnisotropy(textureReference* reference, unsigned int anisotropy) {
  return note_error(array::reference::set<&textureReference::maxAnisotropy>(reference, anisotropy));
}

hipError_t hipTexRefGetMaxAnisotropy(int* anisotropy, const textureReference* reference) {
  return note_error(array::reference::get<&textureReference::maxAnisotropy>(anisotropy, reference));
}

hipError_t hipTexRefSetMipmapFilterMode(textureReference* reference, enum hipTextureFilterMode mode) {
  return note_error(array::reference::set<&textureReference::mipmapFilterMode>(reference, mode));
}

hipError_t hipTexRefGetMipmapFilterMode(enum hipTextureFilterMode* mode, const textureReference* reference) {
  return note_error(array::reference::get<&textureReference::mipmapFilterMode>(mode, reference));
}

hipError_t hipTexRefSetMipmapLevelBias(textureReference* reference, float bias) {
  return note_error(array::reference::set<&textureReference::mipmapLevelBias>(reference, bias));
}

hipError_t hipTexRefGetMipmapLevelBias(float* bias, const textureReference* reference) {
  return note_error(array::reference::get<&textureReference::mipmapLevelBias>(bias, reference));
}

hipError_t hipTexRefSetMipmapLevelClamp(textureReference* reference, float low, float high) {
  return note_error(array::reference::set_level_clamp(reference, low, high));
}

hipError_t hipTexRefGetMipmapLevelClamp(float* low, float* high, const textureReference* reference) {
  return note_error(array::reference::get_level_clamp(low, high, reference));
}

hipError_t hipTexRefSetBorderColor(textureReference* reference, float* color) {
  return note_error(array::reference::set_border(reference, color));
}

hipError_t hipGetTextureAlignmentOffset(size_t* offset, const textureReference* reference) {
  return note_error(array::reference::get_offset(offset, reference));
}

hipError_t hipGetTextureReference(const textureReference** reference, const void* symbol) {
  return note_error(array::reference::of_symbol(reference, symbol));
}

}  // namespace tf::proxy::local
