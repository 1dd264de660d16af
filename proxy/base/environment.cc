// SPDX-License-Identifier: Apache-2.0
// Reads and checks the client library's environment variables.
#include "proxy/base/environment.h"

#include <charconv>
#include <cstdlib>
#include <utility>

#include "hipcore/wire/device_snapshot.h"
#include "proxy/base/tensor_fusion.h"
#include "reference/gen/variables.h"
#include "transport/net/io_timeout.h"

namespace tf::proxy {
namespace {

constexpr long kSecondsMax = 86'400;
constexpr const char* kConnectionInfo = "TENSOR_FUSION_OPERATOR_CONNECTION_INFO";
constexpr const char* kConnectionUrl = "TENSOR_FUSION_OPERATOR_GET_CONNECTION_URL";

bool is_set(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

// By our own variables.
bool names_worker() {
  return is_set("TF_WORKER_SOCKET") || is_set("TF_WORKER_HOST") || is_set("TF_WORKER_PORT");
}

// Whole decimal number in [least, most].
Result<long> number(std::string_view name, long least, long most) {
  std::string text = environment_value(name);
  long value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    return Status(Code::kInvalidArgument, std::string(name) + "=" + text + ": expected a number from " +
                                              std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

Status read_keys(Settings& settings) {
  settings.key_file = environment_value("TF_KEY_FILE");
  settings.known_workers = environment_value("TF_KNOWN_WORKERS");
  const std::string text = environment_value("TF_SECURITY");
  if (text.empty()) return Status::ok();
  settings.security = secure::parse_level(text);
  if (settings.security) return Status::ok();
  return {Code::kInvalidArgument, "TF_SECURITY=" + text + ": expected encrypt, auth or none"};
}

}  // namespace

std::string environment_value(std::string_view name) {
  std::string key(name);
  if (const char* value = std::getenv(key.c_str()); value != nullptr && *value != '\0') return value;
  for (const reference::Variable& variable : reference::kVariables) {
    if (variable.name == name) return std::string(variable.default_value);
  }
  return {};
}

namespace {

// Our own variables come first, then those of TensorFusion's operator.
Result<Settings> read_worker(Settings settings) {
  if (std::string path = environment_value("TF_WORKER_SOCKET"); !path.empty()) {
    settings.worker = path.starts_with("unix:") ? path : "unix:" + path;
    return settings;
  }
  if (!names_worker()) {
    if (const std::string text = environment_value(kConnectionInfo); !text.empty()) {
      Result<std::string> worker = parse_tensor_fusion_connection(text);
      if (!worker)
        return Status(Code::kInvalidArgument, std::string(kConnectionInfo) + "=" + worker.status().message());
      settings.worker = std::move(*worker);
      return settings;
    }
    settings.operator_url = environment_value(kConnectionUrl);
  }
  Result<long> port = number("TF_WORKER_PORT", 1, 65535);
  if (!port) return port.status();
  const std::string host = environment_value("TF_WORKER_HOST");
  const bool bare_ipv6 = host.find(':') != std::string::npos && !host.starts_with('[');
  settings.worker = (bare_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(*port);
  return settings;
}

Status read_fine_grained(FineGrained& kind) {
  const std::string text = environment_value("TF_FINE_GRAINED");
  if (text == "host") kind = FineGrained::kHost;
  if (text == "device") kind = FineGrained::kDevice;
  if (text == "auto" || kind != FineGrained::kAuto) return Status::ok();
  return {Code::kInvalidArgument, "TF_FINE_GRAINED=" + text + ": expected auto, host or device"};
}

}  // namespace

bool is_worker_named() { return names_worker() || is_set(kConnectionInfo) || is_set(kConnectionUrl); }

Result<Settings> read_settings() {
  Settings settings;
  Result<long> connect = number("TF_CONNECT_TIMEOUT", 1, kSecondsMax);
  if (!connect) return connect.status();
  Result<std::chrono::seconds> io = net::parse_io_timeout(environment_value("TF_IO_TIMEOUT"));
  if (!io) return io.status();
  settings.connect_timeout = std::chrono::seconds(*connect);
  settings.io_timeout = *io;
  settings.debug = environment_value("TF_DEBUG") != "0";
  settings.transport = environment_value("TF_TRANSPORT");
  Result<long> mirror = number("TF_MIRROR", 0, 1);
  if (!mirror) return mirror.status();
  settings.mirrors_pinned = *mirror != 0;
  TF_RETURN_IF_ERROR(read_fine_grained(settings.fine_grained));
  if (!environment_value("TF_DEVICE_ID").empty()) {
    Result<long> device = number("TF_DEVICE_ID", 0, protocol::kDevicesMax - 1);
    if (!device) return device.status();
    settings.device = static_cast<int>(*device);
  }
  settings.visible = hipcore::read_visible_devices();
  if (environment_value("TF_COPY_THREADS") != "auto") {
    Result<long> threads = number("TF_COPY_THREADS", 1, kCopyThreadsMax);
    if (!threads) return threads.status();
    settings.copy_threads = static_cast<unsigned>(*threads);
  }
  if (const std::string text = environment_value("TF_SHAPE"); !text.empty()) {
    const Result<shaper::Shape> shape = shaper::parse_shape(text);
    if (!shape) return Status(Code::kInvalidArgument, "TF_SHAPE: " + shape.status().message());
    settings.shape = shape.value();
  }
  TF_RETURN_IF_ERROR(read_keys(settings));
  return read_worker(std::move(settings));
}

}  // namespace tf::proxy
