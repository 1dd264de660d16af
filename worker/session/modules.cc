// SPDX-License-Identifier: Apache-2.0
// Loads code objects, and launches their kernels.
#include "worker/session/modules.h"

#include <elf.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <tuple>
#include <utility>

#include "hipcore/codeobject/elf.h"
#include "hipcore/codeobject/fat_binary.h"
#include "hipcore/codeobject/managed.h"
#include "hipcore/codeobject/nvidia.h"
#include "hipcore/launch/module_shape.h"
#include "worker/session/launch_shape.h"

namespace tf::worker {

using protocol::HandleKind;

namespace {

// Kernels that the program launches by host stub may have more rows than HIP 6 takes of a module's function.
// What 32 bits do not count, no form takes.
bool needs_launch_by_threads(const protocol::LaunchRequest& request) {
  if (std::max(request.grid[1], request.grid[2]) <= hipdata::kModuleRowsMax) return false;
  for (int axis = 0; axis < 3; ++axis)
    if (std::uint64_t{request.grid[axis]} * request.block[axis] > UINT32_MAX) return false;
  return true;
}

}  // namespace

// Whoever can make two images with one hash fools only itself: each session has code objects of its own. A
// cache that sessions share would need a cryptographic hash.
CodeHash hash_of(const CodeBytes& code) {
  const XXH128_hash_t hash = XXH3_128bits(code.data.get(), code.size);
  return {hash.low64, hash.high64};
}

bool is_self_contained(std::span<const std::byte> image) {
  if (codeobject::Elf::has_magic(image)) return codeobject::Elf::extent(image).is_ok();
  if (codeobject::is_cuda_fatbin(image)) return codeobject::cuda_fatbin_extent(image).is_ok();
  constexpr std::size_t kMagicBytes = 4;
  if (image.size() < kMagicBytes || std::memcmp(image.data(), ELFMAG, SELFMAG) == 0) return false;
  std::uint32_t magic = 0;
  std::memcpy(&magic, image.data(), sizeof magic);
  // Text, and what is unknown to us, ends with the zeros that lie behind the image (receive_code()).
  return magic != codeobject::kWrapperMagic && magic != codeobject::kCudaWrapperMagic &&
         magic != codeobject::kCudaFatbinMagic && !codeobject::is_bundle(image) &&
         !codeobject::is_compressed_bundle(image);
}

bool Modules::cached(const CodeHash& hash, std::uint64_t bytes) const {
  auto found = cache_.find(hash);
  return found != cache_.end() && found->second->size == bytes;
}

bool Modules::keep(const CodeHash& hash, CodeBytes code) {
  if (cache_.contains(hash)) return true;
  if (cache_.size() >= kModulesCachedMax || code.size > kModuleCacheBytesMax - cached_bytes_) return false;
  cached_bytes_ += code.size;
  cache_.emplace(hash, std::make_shared<const CodeBytes>(std::move(code)));
  return true;
}

hipError_t Modules::load(ObjectTable& objects, std::uint64_t handle, const CodeHash& hash, int device) {
  auto code = cache_.find(hash);
  if (code == cache_.end()) return hipErrorInvalidImage;
  hipModule_t module = nullptr;
  const hipError_t error = hip_.hipModuleLoadData(&module, code->second->data.get());
  if (error != hipSuccess) return error;
  if (!objects.bind(HandleKind::kModule, handle, {module, device})) {
    own_calls_.pass_on(hip_.hipModuleUnload(module));
    return hipErrorInvalidHandle;
  }
  loaded_[handle] = {code->second, {}, {}};
  return hipSuccess;
}

hipError_t Modules::unload(ObjectTable& objects, AddressMap& addresses, std::uint64_t handle) {
  Object module;
  if (!objects.unbind(HandleKind::kModule, handle, module)) return hipErrorInvalidHandle;
  auto loaded = loaded_.extract(handle);
  if (!loaded.empty()) {
    Object function;
    for (const std::uint64_t raw : loaded.mapped().functions)
      objects.unbind(HandleKind::kFunction, raw, function);
    for (const std::uint64_t address : loaded.mapped().globals) addresses.remove(address);
  }
  return hip_.hipModuleUnload(static_cast<hipModule_t>(module.object));
}

hipError_t Modules::get_function(ObjectTable& objects, std::uint64_t module, std::uint64_t function,
                                 const std::string& name) {
  const Object* object = objects.find(HandleKind::kModule, module);
  if (object == nullptr) return hipErrorInvalidHandle;
  const int device = object->device;
  hipFunction_t found = nullptr;
  const hipError_t error =
      hip_.hipModuleGetFunction(&found, static_cast<hipModule_t>(object->object), name.c_str());
  if (error != hipSuccess) return error;
  if (!objects.bind(HandleKind::kFunction, function, {found, device})) return hipErrorInvalidHandle;
  loaded_[module].functions.push_back(function);
  return hipSuccess;
}

hipError_t Modules::count_functions(const ObjectTable& objects, std::uint64_t module,
                                    std::uint32_t& count) const {
  const Object* object = objects.find(HandleKind::kModule, module);
  if (object == nullptr) return hipErrorInvalidHandle;
  if (optional_.function_count == nullptr) return hipErrorNotSupported;
  return optional_.function_count(&count, static_cast<hipModule_t>(object->object));
}

hipError_t Modules::describe(const ObjectTable& objects, std::uint64_t function, std::uint32_t first_argument,
                             protocol::DescribeFunctionReply& reply) const {
  const Object* object = objects.find(HandleKind::kFunction, function);
  if (object == nullptr) return hipErrorInvalidHandle;
  if (optional_.kernel_parameter == nullptr) return hipErrorNotSupported;
  const auto found = static_cast<hipFunction_t>(object->object);
  const auto attribute = [&](hipFunction_attribute which, std::uint32_t& value) {
    int told = 0;
    const hipError_t error = hip_.hipFuncGetAttribute(&told, which, found);
    value = static_cast<std::uint32_t>(std::max(told, 0));
    return error;
  };
  hipError_t error = attribute(HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, reply.static_shared_bytes);
  if (error == hipSuccess) error = attribute(HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, reply.private_bytes);
  if (error == hipSuccess)
    error = attribute(HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, reply.max_threads_per_block);
  if (error == hipSuccess) error = attribute(HIP_FUNC_ATTRIBUTE_NUM_REGS, reply.registers);
  if (error != hipSuccess) return error;
  for (std::uint32_t i = 0; i < std::size(reply.sizes); ++i) {
    std::size_t offset = 0;
    std::size_t bytes = 0;
    error = optional_.kernel_parameter(found, std::size_t{first_argument} + i, &offset, &bytes);
    if (error == hipErrorInvalidValue) return hipSuccess;  // there are no more
    if (error != hipSuccess) return error;
    reply.offsets[i] = static_cast<std::uint32_t>(offset);
    reply.sizes[i] = static_cast<std::uint32_t>(bytes);
    ++reply.arguments;
  }
  return hipSuccess;
}

hipError_t Modules::launch(const protocol::LaunchRequest& request, hipFunction_t function, hipStream_t stream,
                           std::span<const std::byte> arguments) const {
  ExtraArguments extra(arguments);
  const auto& [grid, block] = std::tie(request.grid, request.block);
  if ((request.flags & kLaunchCooperative) != 0 && optional_.launch_cooperative != nullptr) [[unlikely]]
    return optional_.launch_cooperative(function, dim3(grid[0], grid[1], grid[2]),
                                        dim3(block[0], block[1], block[2]), request.shared_bytes, stream,
                                        extra.get());
  if (needs_launch_by_threads(request) && optional_.launch_by_threads != nullptr) [[unlikely]]
    return optional_.launch_by_threads(function, grid[0] * block[0], grid[1] * block[1], grid[2] * block[2],
                                       block[0], block[1], block[2], request.shared_bytes, stream, nullptr,
                                       extra.get(), nullptr, nullptr, 0);
  return hip_.hipModuleLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                    request.shared_bytes, stream, nullptr, extra.get());
}

hipError_t Modules::launch_by_threads(const protocol::LaunchRequest& request, hipFunction_t function,
                                      hipStream_t stream, const LaunchEvents& events,
                                      std::span<const std::byte> arguments) const {
  if (optional_.launch_by_threads == nullptr) return hipErrorInvalidConfiguration;
  ExtraArguments extra(arguments);
  const auto& [threads, block] = std::tie(request.grid, request.block);
  return optional_.launch_by_threads(function, threads[0], threads[1], threads[2], block[0], block[1],
                                     block[2], request.shared_bytes, stream, nullptr, extra.get(),
                                     events.start, events.stop, 0);
}

hipError_t Modules::get_global(const ObjectTable& objects, AddressMap& addresses, std::uint64_t module,
                               const std::string& name, std::uint64_t& address, std::uint64_t& bytes) {
  const Object* object = objects.find(HandleKind::kModule, module);
  if (object == nullptr) return hipErrorInvalidHandle;
  hipDeviceptr_t found = nullptr;
  std::size_t size = 0;
  const hipError_t error =
      hip_.hipModuleGetGlobal(&found, &size, static_cast<hipModule_t>(object->object), name.c_str());
  if (error != hipSuccess) return error;
  address = reinterpret_cast<std::uint64_t>(found);
  bytes = size;
  // Known already when it is asked for again; the client may copy to and from it either way.
  if (addresses.add(address, bytes, object->device)) loaded_[module].globals.push_back(address);
  return hipSuccess;
}

hipError_t Modules::bind_managed(const ObjectTable& objects, std::uint64_t module, const std::string& name,
                                 std::uint64_t address) {
  const Object* object = objects.find(HandleKind::kModule, module);
  const auto loaded = loaded_.find(module);
  if (object == nullptr || loaded == loaded_.end()) return hipErrorInvalidHandle;
  const auto handle = static_cast<hipModule_t>(object->object);
  auto* const memory = reinterpret_cast<void*>(address);
  const hipError_t error = optional_.bind_managed != nullptr
                               ? optional_.bind_managed(handle, name.c_str(), memory)
                               : set_pointer(handle, *loaded->second.code, name, memory);
  return error == hipErrorNotFound ? hipSuccess : error;
}

// AMD's runtime says of a managed variable where its value lies (memory that it has allocated itself), not
// where the pointer lies that kernels read. That is as far from the first value as in the image: the loader
// keeps the distances within a code object.
hipError_t Modules::set_pointer(hipModule_t module, const CodeBytes& code, const std::string& name,
                                void* memory) {
  for (const codeobject::ManagedVariable& variable :
       codeobject::managed_variables(codeobject::Bytes(code.data.get(), code.size))) {
    if (variable.name != name) continue;
    hipDeviceptr_t initial = nullptr;
    std::size_t bytes = 0;
    const hipError_t error = hip_.hipModuleGetGlobal(&initial, &bytes, module, variable.initial.c_str());
    if (error != hipSuccess) return error;
    auto* const pointer = static_cast<std::byte*>(initial) +
                          static_cast<std::ptrdiff_t>(variable.pointer_value - variable.initial_value);
    return hip_.hipMemcpy(pointer, &memory, sizeof memory, hipMemcpyHostToDevice);
  }
  return hipErrorNotFound;
}

}  // namespace tf::worker
