// SPDX-License-Identifier: Apache-2.0
// hiprtc on the worker: sends the program, has it compiled for a device, and gets the result. Any thread.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tf::proxy {

class Connection;

// Both as hipcore/wire/rtc_program.h encodes them; the result is the worker's, not looked at. When there is
// none, one that says why: HIPRTC_ERROR_INTERNAL_ERROR or HIPRTC_ERROR_OUT_OF_MEMORY. Waits for as long as
// compiling takes, and holds up no other thread. REQUIRES: 0 <= device < connection.device_count()
std::vector<std::byte> compile_remotely(Connection& connection, int device,
                                        std::span<const std::byte> program);

}  // namespace tf::proxy
