// SPDX-License-Identifier: Apache-2.0
// hiprtc on the worker: sends the program, has it compiled for a device, and gets the result. Any thread.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tf::proxy {

class Connection;

// Program and result are encoded as in hipcore/wire/rtc_program.h; the worker's result is not checked. If
// there is none, returns one that says why: HIPRTC_ERROR_INTERNAL_ERROR or HIPRTC_ERROR_OUT_OF_MEMORY. Waits
// as long as the compilation takes, without holding up other threads. REQUIRES: 0 <= device <
// connection.device_count()
std::vector<std::byte> compile_remotely(Connection& connection, int device,
                                        std::span<const std::byte> program);

}  // namespace tf::proxy
