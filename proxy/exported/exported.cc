// SPDX-License-Identifier: Apache-2.0
// Reports functions that are not supported, and names exceptions.
#include "proxy/exported/exported.h"

#include <cxxabi.h>

#include <exception>
#include <new>
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

// As the runtimes' frame (worker/runtime/common/api.h): a thread that cannot be started is the system's error.
hipError_t error_of_exception() {
  try {
    throw;
  } catch (const ::abi::__forced_unwind&) {
    throw;
  } catch (const std::bad_alloc&) {
    return hipErrorOutOfMemory;
  } catch (const std::exception&) {
    return hipErrorOperatingSystem;
  } catch (...) {
    return hipErrorUnknown;
  }
}

}  // namespace tf::proxy
