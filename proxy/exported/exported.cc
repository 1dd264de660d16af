// SPDX-License-Identifier: Apache-2.0
// Reports functions that are not supported.
#include "proxy/exported/exported.h"

#include <set>
#include <string>

#include "proxy/base/log.h"
#include "proxy/base/thread_state.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

namespace {

hipError_t tell_once(const char* name, const std::string& line) {
  // Destroyed never: programs call HIP from static destructors.
  static auto& mutex = *new Mutex;
  static auto& told = *new std::set<std::string>;
  const MutexLock lock(mutex);
  if (told.insert(name).second) log_line(line);
  return note_error(hipErrorNotSupported);
}

}  // namespace

hipError_t unsupported(const char* name) {
  return tell_once(name, std::string(name) + " is not supported by hip-remote yet");
}

hipError_t refused(const char* name, const char* why) {
  return tell_once(name, std::string(name) + " is not supported (hipErrorNotSupported): " + why);
}

}  // namespace tf::proxy
