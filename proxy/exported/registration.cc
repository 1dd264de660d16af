// SPDX-License-Identifier: Apache-2.0
// What compiled programs register before main() is only recorded. No client is created here.
#include "proxy/base/log.h"
#include "proxy/client/process.h"
#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"
#include "proxy/module/registry.h"

namespace tf::proxy::custom {

void** __hipRegisterFatBinary(ApiCall&, const void* data) {
  return reinterpret_cast<void**>(Registry::instance().add_binary(data));
}

void __hipUnregisterFatBinary(ApiCall&, void** modules) {
  Registry::instance().remove_binary(modules);
  // Its modules stay loaded until the client ends; only the stubs' addresses must not be taken for others.
  if (Client* client = current_client(); client != nullptr) client->modules().forget_registered();
}

void __hipRegisterFunction(ApiCall&, void** modules, const void* host_function, char*,
                           const char* device_name, unsigned int, uint3*, uint3*, dim3*, dim3*, int*) {
  Registry::instance().add_function(modules, host_function, device_name);
}

void __hipRegisterVar(ApiCall&, void** modules, void* variable, char*, char* device_name, int, size_t bytes,
                      int, int) {
  Registry::instance().add_variable(modules, variable, device_name, bytes);
}

void __hipRegisterManagedVar(ApiCall&, void*, void**, void*, const char* name, size_t, unsigned int) {
  log_line(std::string("__managed__ variable ") + (name != nullptr ? name : "?") +
           ": managed memory is not supported; kernels do not see what the host writes to it");
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
