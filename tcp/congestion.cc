// SPDX-License-Identifier: Apache-2.0
// Sets TCP_CONGESTION by the round trip that the kernel has measured.
#include "tcp/congestion.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "transport/base/file_reader.h"

namespace tf::tcp {
namespace {

constexpr std::size_t kNameBytesMax = 15;  // TCP_CA_NAME_MAX, without its zero
constexpr std::size_t kOfferedBytesMax = 1024;
constexpr char kForShortPaths[] = "cubic";

// What the kernel offers to everybody: "reno cubic".
std::string offered() {
  std::string text = read_file("/proc/sys/net/ipv4/tcp_allowed_congestion_control", kOfferedBytesMax);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? "unknown" : text;
}

bool set(int socket, std::string_view name) {
  return ::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(),
                      static_cast<socklen_t>(name.size())) == 0;
}

}  // namespace

Result<std::string> parse_congestion(std::string_view text) {
  const bool plain = std::ranges::all_of(text, [](char each) {
    return (each >= 'a' && each <= 'z') || (each >= '0' && each <= '9') || each == '_' || each == '-';
  });
  if (plain && text.size() <= kNameBytesMax) return std::string(text);
  return Status(Code::kInvalidArgument, "TF_TCP_CONGESTION=\"" + std::string(text.substr(0, 64)) +
                                            "\" is neither \"system\" nor the name of a congestion control");
}

Status set_congestion(int socket, const std::string& wanted) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (wanted == "system" || ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0)
    return Status::ok();
  if (wanted.empty()) {
    if (info.tcpi_rtt < kShortPath_us) (void)set(socket, kForShortPaths);  // a kernel may lack it
    return Status::ok();
  }
  if (set(socket, wanted)) return Status::ok();
  return {Code::kUnavailable, "TF_TCP_CONGESTION=" + wanted + ": the kernel refuses it (" +
                                  Status::from_errno("setsockopt", errno).message() +
                                  "); this process may choose from: " + offered()};
}

std::string describe_congestion(const std::string& wanted) {
  if (!wanted.empty()) return wanted == "system" ? "of the system" : wanted;
  return std::string(kForShortPaths) + " where a round trip takes less than " +
         std::to_string(kShortPath_us / 1000) + " ms, else the system's";
}

}  // namespace tf::tcp
