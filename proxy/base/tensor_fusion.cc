// SPDX-License-Identifier: Apache-2.0
// Connection strings, and the operator's service for them.
#include "proxy/base/tensor_fusion.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <thread>

#include "proxy/base/http_get.h"
#include "transport/base/file_reader.h"
#include "transport/net/address.h"

namespace tf::proxy {
namespace {

constexpr std::size_t kSegmentNameBytesMax = 64;
constexpr std::size_t kAnswerShownBytesMax = 120;
constexpr std::chrono::seconds kOperatorPause{1};
constexpr std::chrono::seconds kUnreachable{30};  // a service that does not listen for so long will not
constexpr std::chrono::seconds kOperatorSlow{5};

std::string_view take_field(std::string_view& text) {
  const std::size_t end = std::min(text.find('+'), text.size());
  const std::string_view field = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return field;
}

// What a foreign service says, for a line of text.
std::string shown(std::string_view text) {
  std::string safe(text.substr(0, kAnswerShownBytesMax));
  for (char& each : safe)
    if (each < ' ' || each == 0x7f) each = ' ';
  while (safe.ends_with(' ')) safe.pop_back();
  return safe;
}

Status wrong(std::string_view text) {
  return {Code::kInvalidArgument,
          "\"" + shown(text) +
              "\": expected native+HOST+PORT or hip+HOST+PORT (more fields may follow), "
              "or shmem+NAME"};
}

bool is_segment_name(std::string_view text) {
  const auto allowed = [](char each) {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9') ||
           each == '_' || each == '-' || each == '.';
  };
  return !text.empty() && text.size() <= kSegmentNameBytesMax && !text.starts_with('.') &&
         std::ranges::all_of(text, allowed);
}

std::string without_end(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  return text;
}

// Empty: there is no token.
std::string read_token(const std::string& path) {
  return without_end(read_file(path, kHttpTokenBytesMax + 1));
}

// None: ask again.
std::optional<Status> take_reply(Result<HttpReply>& reply, Settings& settings) {
  if (!reply) {
    const Code code = reply.status().code();
    if (code == Code::kUnavailable || code == Code::kPeerLost || code == Code::kTimeout) return std::nullopt;
    return reply.status();
  }
  if (reply->status == 503 || reply->status == 504) return std::nullopt;
  if (reply->status != 200) {
    const std::string said = shown(reply->body);
    return Status(reply->status == 401 || reply->status == 403 ? Code::kPermission : Code::kUnavailable,
                  "it answered " + std::to_string(reply->status) + (said.empty() ? "" : ": " + said));
  }
  Result<std::string> worker = parse_tensor_fusion_connection(without_end(reply->body));
  if (!worker) return Status(Code::kProtocol, "it answered " + worker.status().message());
  settings.worker = std::move(*worker);
  settings.operator_url.clear();
  return Status::ok();
}

}  // namespace

std::string shared_memory_socket(std::string_view name) { return "/dev/shm/" + std::string(name) + ".sock"; }

Result<std::string> parse_tensor_fusion_connection(std::string_view text) {
  std::string_view rest = text;
  const std::string_view protocol = take_field(rest), first = take_field(rest);
  if (protocol == "shmem") {
    if (!is_segment_name(first)) return wrong(text);
    return "unix:" + shared_memory_socket(first);
  }
  const std::string_view port = take_field(rest);
  if ((protocol != "native" && protocol != "hip") || first.empty() || port.empty()) return wrong(text);
  const bool bare_ipv6 = first.find(':') != std::string_view::npos && !first.starts_with('[');
  const std::string host = bare_ipv6 ? "[" + std::string(first) + "]" : std::string(first);
  auto address = net::Address::parse(host + ":" + std::string(port));
  if (!address || address->is_unix() || address->port() == 0) return wrong(text);
  return address->to_string();
}

Status ask_tensor_fusion(Settings& settings, const std::string& token_file, Deadline deadline,
                         const std::function<void()>& on_slow) {
  if (settings.operator_url.empty()) return Status::ok();
  Result<HttpUrl> url = parse_http_url(settings.operator_url);
  if (!url) return url.status();
  const auto named = [&url](const Status& status) {
    return Status(status.code(), "TensorFusion's operator at " + url->authority() + ": " + status.message());
  };
  const Deadline reachable = Deadline::after(kUnreachable).sooner(deadline);
  const Deadline slow = Deadline::after(kOperatorSlow);
  bool told = false;
  const auto tell = [&] {
    if (!told && on_slow) on_slow();
    told = true;
  };
  for (;;) {
    Result<HttpReply> reply = http_get(*url, read_token(token_file), deadline, tell);
    if (const auto done = take_reply(reply, settings)) return done->is_ok() ? *done : named(*done);
    const bool silent = !reply && reply.status().code() != Code::kTimeout;
    if (silent && reachable.passed()) return named(reply.status());
    if (deadline.passed()) return named({Code::kTimeout, "it has no worker yet"});
    if (slow.passed()) tell();
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(kOperatorPause, deadline.remaining()));
  }
}

}  // namespace tf::proxy
