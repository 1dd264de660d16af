// SPDX-License-Identifier: Apache-2.0
// The client library's environment variables (docs/reference/reference.toml).
//
// Each call reads the environment; the library does so once, when it connects. Any thread, as long as the
// application does not change its environment meanwhile.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "hipcore/devices/visible_devices.h"
#include "transport/base/status.h"
#include "transport/secure/level.h"
#include "transport/shaper/shape.h"

namespace tf::proxy {

// The value of a variable in the table, or its default.
std::string environment_value(std::string_view name);

inline constexpr unsigned kCopyThreadsMax = 16;  // for one copy, including the caller

// What fine-grained memory (hipExtMallocWithFlags) is where this process cannot map device memory: a
// device's, or host memory that devices use; kAuto: as suits the worker's devices.
enum class FineGrained : std::uint8_t { kAuto, kHost, kDevice };

// All variables of the table, parsed.
struct Settings {
  std::string worker;        // as net::Address::parse takes it
  std::string operator_url;  // who says which worker (tensor_fusion.h); empty: `worker` does
  std::string transport;     // "auto", "shm", ...
  bool debug = false;
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds io_timeout{30'000};
  bool mirrors_pinned = true;
  FineGrained fine_grained = FineGrained::kAuto;  // TF_FINE_GRAINED
  int device = -1;                                // -1: all devices of the worker are visible
  hipcore::VisibleDevices visible;
  std::optional<unsigned> copy_threads;
  std::optional<shaper::Shape> shape;
  std::optional<secure::Level> security;  // none: by what the worker's address is (session/keys.h)
  std::string key_file;                   // empty: the usual one, where a key is needed
  std::string known_workers;              // empty: the usual one
};

// Whether a variable names a worker, or who knows it.
bool is_worker_named();

// kInvalidArgument names the variable and the values it takes.
Result<Settings> read_settings();

}  // namespace tf::proxy
