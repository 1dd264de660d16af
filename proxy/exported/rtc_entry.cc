// SPDX-License-Identifier: Apache-2.0
// What libhiprtc finds in this library (hipcore/wire/remote_rtc.h). A session that is lost still says for
// which device the program would have been, so that the program hears of the loss and not of a missing
// compiler.
#include <hip/hiprtc.h>

#include <cstring>
#include <exception>
#include <string>

#include "hipcore/wire/remote_rtc.h"
#include "proxy/base/thread_state.h"
#include "proxy/module/remote_compile.h"
#include "proxy/session/process.h"
#include "proxy/stats/counting.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using tf::proxy::Session;

// Null: there is none, or it has not the thread's device.
Session* any_session() {
  Session* session = tf::proxy::acquire_session();
  if (session == nullptr)
    session =
        tf::proxy::internal::connected_session.load(std::memory_order_acquire);  // with acquire_session()
  return session != nullptr && tf::proxy::thread_state().device < session->device_count() ? session : nullptr;
}

}  // namespace

EXPORT int hip_remote_rtc_target(char* architecture, size_t bytes) {
  try {
    const Session* session = any_session();
    if (session == nullptr) return 0;
    const auto device = static_cast<std::size_t>(tf::proxy::thread_state().device);
    const std::string& name = session->snapshot().devices[device].properties.gcn_arch_name;
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
    Session* session = any_session();
    if (session == nullptr) return 0;
    const std::span text(static_cast<const std::byte*>(program), bytes);
    const std::vector<std::byte> result =
        tf::proxy::compile_remotely(*session, tf::proxy::thread_state().device, text);
    if (result.empty()) return 0;
    take(context, result.data(), result.size());
    return 1;
  } catch (const std::exception&) {
    return 0;
  }
}
