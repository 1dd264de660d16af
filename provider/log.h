// SPDX-License-Identifier: Apache-2.0
// What the provider tells the program that has loaded it. Without a callback nothing is said: standard output
// and error are the program's. Any thread.
#pragma once

#include <string>

#include "provider/abi.h"

namespace tf::provider {

// Null: none.
void set_log(tf_accel_log callback);
// "FATAL" would end TensorFusion's hypervisor, so there is no such level here.
void log_debug(const std::string& message);
void log_info(const std::string& message);
void log_warning(const std::string& message);
void log_error(const std::string& message);

}  // namespace tf::provider
