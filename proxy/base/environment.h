// SPDX-License-Identifier: Apache-2.0
// What the environment variables (docs/reference/reference.toml) say to the client library.
//
// Values are read at the moment of asking; the library asks once, when it connects. Any thread, as far as
// the application does not change its environment meanwhile.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "transport/base/status.h"
#include "transport/shaper/shape.h"

namespace tf::proxy {

// Value of a variable of the table, or its default.
std::string environment_value(std::string_view name);

inline constexpr unsigned kCopyThreadsMax = 16;  // for one copy, the caller among them

// What the table's variables mean together.
struct Settings {
  std::string worker;     // as net::Address::parse takes it
  std::string transport;  // "auto", "shm", ...
  bool debug = false;
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds io_timeout{30'000};
  int device = -1;  // -1: all devices of the worker are visible
  std::optional<unsigned> copy_threads;
  std::optional<shaper::Shape> shape;
};

// kInvalidArgument names the variable and what it takes.
Result<Settings> read_settings();

}  // namespace tf::proxy
