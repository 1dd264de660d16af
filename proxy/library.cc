// SPDX-License-Identifier: Apache-2.0
// The one thing that happens at the library's own end: after the program's destructors, which may still call
// HIP, the worker is told that no more comes. Runs once, on the thread that ends the process or unloads the
// library.
#include "proxy/process.h"

namespace {

[[gnu::destructor]] void say_goodbye() { tf::proxy::end_process(); }

}  // namespace
