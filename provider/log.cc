// SPDX-License-Identifier: Apache-2.0
// Calls the callback.
#include "provider/log.h"

#include <atomic>

namespace tf::provider {
namespace {

std::atomic<tf_accel_log> registered{nullptr};

void say(const char* level, const std::string& message) {
  if (const tf_accel_log callback = registered.load()) callback(level, message.c_str());
}

}  // namespace

void set_log(tf_accel_log callback) { registered.store(callback); }
void log_debug(const std::string& message) { say("DEBUG", message); }
void log_info(const std::string& message) { say("INFO", message); }
void log_warning(const std::string& message) { say("WARN", message); }
void log_error(const std::string& message) { say("ERROR", message); }

}  // namespace tf::provider
