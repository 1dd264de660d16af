// SPDX-License-Identifier: Apache-2.0
// One GET request in clear, to a service of the own cluster that says where the worker is.
//
// HTTP/1.0 (RFC 1945): the server ends its reply by closing the connection, so that nothing has to be
// unpacked. A library for HTTP would be loaded into every program that uses HIP; this needs none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "transport/base/deadline.h"
#include "transport/base/status.h"

namespace tf::proxy {

inline constexpr std::size_t kHttpReplyBytesMax = 64 << 10;  // head and body
inline constexpr std::size_t kHttpTargetBytesMax = 8 << 10;
inline constexpr std::size_t kHttpTokenBytesMax = 16 << 10;

struct HttpUrl {
  std::string host;  // IPv6 addresses without brackets
  std::uint16_t port = 80;
  std::string target;  // path and query
  std::string authority() const;
};

// kInvalidArgument says what is wrong. Only http://HOST[:PORT][/PATH][?QUERY] without a user.
Result<HttpUrl> parse_http_url(std::string_view text);

struct HttpReply {
  int status = 0;
  std::string body;
};

// kInvalidArgument: `token` cannot stand in a header, or the URL is too long. kProtocol: what came is no
// reply of HTTP, is cut short, or is longer than kHttpReplyBytesMax. Redirections are replies like others.
// `token` is sent as a bearer token (RFC 6750); empty: none. `on_slow` is called once if there is no reply
// for a few seconds. Blocks until `deadline`, and longer if the name of the host takes longer to look up.
Result<HttpReply> http_get(const HttpUrl& url, std::string_view token, Deadline deadline,
                           const std::function<void()>& on_slow = {});

}  // namespace tf::proxy
