// SPDX-License-Identifier: Apache-2.0
// References: HIP's functions on texture references, which are variables of a program and of its kernels.
// Binding one makes a texture object, and writes the reference with that object's value to the kernels'
// variable, as AMD's runtime does.
//
// Our runtimes and the client share it. Functions have the arguments and results of the API's. Any thread; a
// reference belongs to the thread that binds it.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "hipcore/array/textures.h"
#include "transport/base/mutex.h"

namespace tf::array {

inline constexpr std::size_t kReferencesMax = 1 << 16;  // of modules that a program has loaded itself
// Linear memory begins on this boundary for textures; hipBindTexture tells the rest as an offset.
inline constexpr std::size_t kTextureAlignmentBytes = 256;

class ReferenceSide {
 public:
  // The kernels' variable of a reference that the program was compiled with, on the calling thread's device.
  // hipErrorInvalidSymbol: it is none.
  virtual hipError_t find_variable(const textureReference* reference, std::uint64_t& address) = 0;
  // Writes it there; done on return.
  virtual hipError_t write_variable(std::uint64_t address, const textureReference& reference) = 0;
  // The bytes from an address to the end of its allocation; 0: it is no device memory.
  virtual std::size_t bytes_from(const void* address) = 0;

 protected:
  ~ReferenceSide() = default;
};

class References {
 public:
  // All outlive it.
  References(const Library& arrays, Textures& textures, ReferenceSide& side)
      : arrays_(arrays), textures_(textures), side_(side) {}
  References(const References&) = delete;
  References& operator=(const References&) = delete;

  hipError_t bind(std::size_t* offset, const textureReference* reference, const void* memory,
                  const hipChannelFormatDesc* elements, std::size_t bytes);
  hipError_t bind_2d(std::size_t* offset, const textureReference* reference, const void* memory,
                     const hipChannelFormatDesc* elements, std::size_t width, std::size_t height,
                     std::size_t pitch);
  hipError_t bind_array(const textureReference* reference, hipArray_const_t array,
                        const hipChannelFormatDesc* elements);
  hipError_t bind_mipmapped(const textureReference* reference, hipMipmappedArray_const_t mipmapped,
                            const hipChannelFormatDesc* elements);
  hipError_t unbind(const textureReference* reference);

  // The reference of a module's variable; one for each address. `module`: its handle.
  hipError_t of_module(textureReference** reference, std::uint64_t module, std::uint64_t variable);
  // The module is being unloaded: its references end, with the texture objects that they are bound to.
  void forget_module(std::uint64_t module);
  hipError_t set_address(std::size_t* offset, textureReference* reference, hipDeviceptr_t memory,
                         std::size_t bytes);
  hipError_t set_address_2d(textureReference* reference, const HIP_ARRAY_DESCRIPTOR* description,
                            hipDeviceptr_t memory, std::size_t pitch);
  hipError_t set_array(textureReference* reference, hipArray_const_t array, unsigned flags);
  hipError_t set_mipmapped(textureReference* reference, hipMipmappedArray_const_t mipmapped, unsigned flags);
  hipError_t get_address(hipDeviceptr_t* memory, const textureReference* reference) const;

 private:
  hipError_t find_variable(const textureReference* reference, std::uint64_t& address);
  // The old texture object goes, a new one comes.
  hipError_t rebind(const textureReference* reference, const hipResourceDesc& resource,
                    const hipResourceViewDesc* view);

  const Library& arrays_;
  Textures& textures_;
  ReferenceSide& side_;
  Mutex mutex_;
  // By module and variable.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::unique_ptr<textureReference>> of_modules_
      TF_GUARDED_BY(mutex_);
  std::unordered_map<const textureReference*, std::uint64_t> variables_ TF_GUARDED_BY(mutex_);  // of these
};

// What a reference says of itself. They read and write nothing but the reference.
namespace reference {
// One member of it.
template <auto Member, typename Value>
hipError_t set(textureReference* reference, Value value) {
  if (reference == nullptr) return hipErrorInvalidValue;
  reference->*Member = value;
  return hipSuccess;
}
template <auto Member, typename Value>
hipError_t get(Value* value, const textureReference* reference) {
  if (value == nullptr || reference == nullptr) return hipErrorInvalidValue;
  *value = static_cast<Value>(reference->*Member);
  return hipSuccess;
}
hipError_t set_address_mode(textureReference* reference, int axis, hipTextureAddressMode mode);
hipError_t get_address_mode(hipTextureAddressMode* mode, const textureReference* reference, int axis);
hipError_t set_flags(textureReference* reference, unsigned flags);
hipError_t get_flags(unsigned* flags, const textureReference* reference);
hipError_t set_format(textureReference* reference, hipArray_Format format, int channels);
hipError_t get_format(hipArray_Format* format, int* channels, const textureReference* reference);
hipError_t set_level_clamp(textureReference* reference, float low, float high);
hipError_t get_level_clamp(float* low, float* high, const textureReference* reference);
// The struct has no room for a color: hipErrorNotSupported.
hipError_t set_border(textureReference* reference, const float* color);
hipError_t get_offset(std::size_t* offset, const textureReference* reference);
hipError_t of_symbol(const textureReference** reference, const void* symbol);
}  // namespace reference

}  // namespace tf::array
