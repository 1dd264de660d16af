// SPDX-License-Identifier: Apache-2.0
// What compiled programs register before main() is only recorded, without a client; but for managed
// variables.
#include <cstring>
#include <string>
#include <vector>

#include "proxy/base/log.h"
#include "proxy/client/process.h"
#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"
#include "proxy/module/registry.h"

namespace tf::proxy::custom {
namespace {

// Host code, of destructors for example, finds the last value where the first one was. Only a variable that
// is not constant has another value.
void release(Client& client, const ManagedVariable& variable) {
  const auto range = client.host_memory().find(variable.memory);
  if (!range) return;
  if (std::memcmp(variable.initial, variable.memory, variable.bytes) != 0)
    std::memcpy(variable.initial, variable.memory, variable.bytes);
  *variable.pointer = variable.initial;
  static_cast<void>(client.host_allocations().free(*range));
}

}  // namespace

void** __hipRegisterFatBinary(ApiCall&, const void* data) {
  return reinterpret_cast<void**>(Registry::instance().add_binary(data));
}

void __hipUnregisterFatBinary(ApiCall&, void** modules) {
  const std::vector<ManagedVariable> managed = Registry::instance().remove_binary(modules);
  // Its modules stay loaded until the client ends; only the stubs' addresses must not be taken for others.
  Client* const client = current_client();
  if (client == nullptr) return;
  client->modules().forget_registered();
  for (const ManagedVariable& variable : managed) release(*client, variable);
}

void __hipRegisterFunction(ApiCall&, void** modules, const void* host_function, char*,
                           const char* device_name, unsigned int, uint3*, uint3*, dim3*, dim3*, int*) {
  Registry::instance().add_function(modules, host_function, device_name);
}

void __hipRegisterVar(ApiCall&, void** modules, void* variable, char*, char* device_name, int, size_t bytes,
                      int, int) {
  Registry::instance().add_variable(modules, variable, device_name, bytes);
}

// The program may read it from now on, so the memory must be there: unlike everything else that is
// registered, this connects, as it starts the devices in AMD's runtime. A header's variable is registered by
// every source.
void __hipRegisterManagedVar(ApiCall& call, void* modules, void** pointer, void* initial, const char* name,
                             size_t bytes, unsigned int) {
  if (pointer == nullptr || initial == nullptr || name == nullptr || bytes == 0) return;
  Registry& registry = Registry::instance();
  if (!registry.knows(modules) || registry.variable(pointer)) return;
  ManagedVariable variable{pointer, initial, name, bytes, nullptr};
  hipError_t error = hipErrorNoDevice;
  if (call.connected() && call.client().has_devices())
    error = call.client().host_allocations().allocate_variable(call.device(), bytes, variable.memory);
  if (error == hipSuccess) {
    std::memcpy(variable.memory, initial, bytes);
    *pointer = variable.memory;
    return registry.add_managed(modules, variable);
  }
  *pointer = initial;
  log_line(std::string("__managed__ variable ") + name + ": there is no managed memory (error " +
           std::to_string(error) + "); kernels do not have it");
}

void __hipRegisterSurface(ApiCall&, void**, void*, char*, char* device_name, int, int) {
  log_debug(std::string("surface reference ") + (device_name != nullptr ? device_name : "?") +
            " is not supported");
}

// To kernels it is a variable like others.
void __hipRegisterTexture(ApiCall&, void** modules, void* variable, char*, char* device_name, int, int, int) {
  Registry::instance().add_variable(modules, variable, device_name, sizeof(textureReference));
}

}  // namespace tf::proxy::custom
