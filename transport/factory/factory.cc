// SPDX-License-Identifier: Apache-2.0
// The choice among transports, and why not.
#include "transport/factory/factory.h"

#include <algorithm>
#include <utility>

namespace tf {
namespace {

// Ok, or why `transport` cannot be used towards `address`.
Status possible(const net::Transport& transport, const net::Address& address) {
  TF_RETURN_IF_ERROR(transport.reaches(address));  // looks at the address only
  return transport.available();
}

Status refuse(Code code, std::string why, const net::Address& address, TransportList list) {
  why += "; towards " + address.to_string() + ":\n" + describe_transports(address, list);
  return {code, std::move(why)};
}

}  // namespace

Result<const net::Transport*> choose(std::string_view wanted, const net::Address& address,
                                     TransportList list) {
  const bool any = is_any(wanted);
  for (const net::Transport* transport : list) {
    if (!any && transport->name() != wanted) continue;
    const Status status = possible(*transport, address);
    if (status.is_ok()) return transport;
    if (!any)
      return refuse(status.code(),
                    "TF_TRANSPORT=" + std::string(wanted) + " is not possible: " + status.message(), address,
                    list);
  }
  if (any) return refuse(Code::kUnavailable, "no transport is possible", address, list);
  constexpr std::size_t kShownBytesMax = 64;
  return refuse(Code::kInvalidArgument,
                "TF_TRANSPORT=\"" + std::string(wanted.substr(0, kShownBytesMax)) +
                    "\" is not a transport (auto, or one of the list)",
                address, list);
}

bool is_any(std::string_view wanted) { return wanted.empty() || wanted == "auto"; }

const net::Transport* next_possible(const net::Transport& transport, const net::Address& address,
                                    TransportList list) {
  auto next = std::find(list.begin(), list.end(), &transport);
  if (next != list.end()) ++next;
  while (next != list.end() && !possible(**next, address).is_ok()) ++next;
  return next == list.end() ? nullptr : *next;
}

std::string describe_transports(const net::Address& address, TransportList list) {
  std::string text;
  for (const net::Transport* transport : list) {
    const Status status = possible(*transport, address);
    if (!text.empty()) text += '\n';
    text += "  ";
    text += transport->name();
    text.append(6 - std::min<std::size_t>(transport->name().size(), 5), ' ');
    text += status.is_ok() ? "possible" : "not possible: " + status.message();
  }
  return text;
}

}  // namespace tf
