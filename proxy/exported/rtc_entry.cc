// SPDX-License-Identifier: Apache-2.0
// The functions that libhiprtc finds in this library (hipcore/wire/remote_rtc.h). A lost session still says
// which device the program would have been for, so that the program learns of the loss and not of a missing
// compiler.
#include <hip/hiprtc.h>

#include <cstring>
#include <exception>
#include <string>

#include "hipcore/wire/remote_rtc.h"
#include "proxy/base/thread_state.h"
#include "proxy/client/process.h"
#include "proxy/module/remote_compile.h"
#include "proxy/stats/counting.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using tf::proxy::Client;

// Null: there is none, or it lacks the thread's device.
Client* any_client() {
  Client* client = tf::proxy::acquire_client();
  if (client == nullptr)
    client = tf::proxy::internal::connected_client.load(std::memory_order_acquire);  // with acquire_client()
  return client != nullptr && tf::proxy::thread_state().device < client->device_count() ? client : nullptr;
}

}  // namespace

EXPORT int hip_remote_rtc_target(char* architecture, size_t bytes) {
  try {
    const Client* client = any_client();
    if (client == nullptr) return 0;
    const auto device = static_cast<std::size_t>(tf::proxy::thread_state().device);
    const std::string& name = client->snapshot().devices[device].properties.gcn_arch_name;
    if (name.size() >= bytes) return 0;
    std::memcpy(architecture, name.c_str(), name.size() + 1);
    return 1;
  } catch (const std::exception&) {
    return 0;
  }
}

EXPORT int hip_remote_rtc_compile(const void* program, size_t bytes, hip_remote_rtc_take take,
                                  void* context) {
  try {
    const tf::proxy::stats::CallScope scope(tf::proxy::Function::kHiprtcCompileProgram);
    Client* client = any_client();
    if (client == nullptr) return 0;
    const std::span text(static_cast<const std::byte*>(program), bytes);
    const std::vector<std::byte> result =
        tf::proxy::compile_remotely(client->connection(), tf::proxy::thread_state().device, text);
    if (result.empty()) return 0;
    take(context, result.data(), result.size());
    return 1;
  } catch (const std::exception&) {
    return 0;
  }
}
