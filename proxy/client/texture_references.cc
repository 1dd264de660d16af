// SPDX-License-Identifier: Apache-2.0
// The kernels' variables of texture references.
#include "proxy/client/texture_references.h"

#include "proxy/base/thread_state.h"

namespace tf::proxy {

hipError_t TextureReferences::find_variable(const textureReference* reference, std::uint64_t& address) {
  DeviceVariable variable;
  const hipError_t error = modules_.registered_variable(thread_state().device, reference, variable);
  if (error != hipSuccess) return error;
  address = variable.address;
  return variable.bytes == sizeof(textureReference) ? hipSuccess : hipErrorInvalidSymbol;
}

hipError_t TextureReferences::write_variable(std::uint64_t address, const textureReference& reference) {
  const CopyMode mode{.device = thread_state().device, .wait = true};
  return copy(copies_, mode, reinterpret_cast<void*>(address), &reference, sizeof reference,
              hipMemcpyHostToDevice);
}

std::size_t TextureReferences::bytes_from(const void* address) {
  if (const auto found = copies_.device_memory().find(to_raw(address)))
    return found->base + found->bytes - to_raw(address);
  const auto found = copies_.host_memory().find(address);
  // What is dormant wakes when the texture is made.
  const bool usable = found && copies_.host_memory().could_reach(to_raw(address), 1);
  return usable ? found->base + found->bytes - to_raw(address) : 0;
}

}  // namespace tf::proxy
