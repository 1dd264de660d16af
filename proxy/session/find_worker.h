// SPDX-License-Identifier: Apache-2.0
// Which worker a program connects to.
#pragma once

#include "proxy/base/environment.h"

namespace tf::proxy {

// If nothing says which worker, and this user has one: the settings name it afterwards.
void find_worker(Settings& settings);

}  // namespace tf::proxy
