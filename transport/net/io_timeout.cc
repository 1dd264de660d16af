// SPDX-License-Identifier: Apache-2.0
// Parses TF_IO_TIMEOUT.
#include "transport/net/io_timeout.h"

#include <charconv>
#include <cstdlib>
#include <string>

namespace tf::net {
namespace {

constexpr const char* kVariable = "TF_IO_TIMEOUT";
constexpr std::size_t kShown = 64;  // bytes of the wrong text

}  // namespace

Result<std::chrono::seconds> parse_io_timeout(std::string_view text) {
  if (text.empty()) return kIoTimeout;
  int seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seconds);
  if (error != std::errc() || stop != end || seconds < 1 || seconds > kIoTimeoutMax.count())
    return Status{Code::kInvalidArgument, std::string(kVariable) + "=" + std::string(text.substr(0, kShown)) +
                                              ": expected seconds, a number from 1 to " +
                                              std::to_string(kIoTimeoutMax.count())};
  return std::chrono::seconds(seconds);
}

Result<std::chrono::seconds> io_timeout_from_environment() {
  const char* const text = std::getenv(kVariable);
  return parse_io_timeout(text == nullptr ? "" : text);
}

}  // namespace tf::net
