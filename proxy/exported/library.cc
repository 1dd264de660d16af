// SPDX-License-Identifier: Apache-2.0
// What the library is besides its HIP functions: its end, and the name that tells it from a runtime.
//
// After the program's destructors, which may still call HIP, tells the worker that nothing more will come:
// once, on the thread that ends the process.
#include "proxy/client/process.h"

// A worker that finds this symbol refuses the library as a runtime: it would become its own client.
extern "C" [[gnu::visibility("default")]] const char hip_remote_proxy_version[];
extern "C" const char hip_remote_proxy_version[] = "0.1.0";

namespace {

[[gnu::destructor]] void say_goodbye() { tf::proxy::end_process(); }

}  // namespace
