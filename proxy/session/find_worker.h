// SPDX-License-Identifier: Apache-2.0
// Which worker a program connects to.
#pragma once

#include "proxy/base/environment.h"

namespace tf::proxy {

// The settings name the worker afterwards: the one of TensorFusion's operator if they name that; else, if
// nothing says which worker and this user has one, that. Blocks while the operator has none, up to
// kOperatorPatience.
Status find_worker(Settings& settings);

}  // namespace tf::proxy
