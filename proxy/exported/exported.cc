// SPDX-License-Identifier: Apache-2.0
// Reports functions that are not supported.
#include "proxy/exported/exported.h"

#include <set>
#include <string>

#include "proxy/base/log.h"
#include "proxy/base/thread_state.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

hipError_t unsupported(const char* name) {
  // Destroyed never: programs call HIP from static destructors.
  static auto& mutex = *new Mutex;
  static auto& told = *new std::set<std::string>;
  const MutexLock lock(mutex);
  if (told.insert(name).second) log_line(std::string(name) + " is not supported by hip-remote yet");
  return note_error(hipErrorNotSupported);
}

}  // namespace tf::proxy
