// SPDX-License-Identifier: Apache-2.0
// Names of codes, and the codes for errno values.
#include "transport/base/status.h"

#include <sys/resource.h>

#include <cerrno>
#include <system_error>

namespace tf {

std::string_view name(Code code) {
  switch (code) {
    case Code::kOk: return "ok";
    case Code::kWouldBlock: return "would block";
    case Code::kInvalidArgument: return "invalid argument";
    case Code::kUnavailable: return "unavailable";
    case Code::kUnsupported: return "unsupported";
    case Code::kTimeout: return "timeout";
    case Code::kClosed: return "closed";
    case Code::kPeerLost: return "peer lost";
    case Code::kProtocol: return "protocol error";
    case Code::kResourceExhausted: return "resource exhausted";
    case Code::kPermission: return "permission denied";
    case Code::kInternal: return "internal error";
  }
  return "unknown";
}

namespace {

Code code_of_errno(int error_number) {
  switch (error_number) {
    case EAGAIN: return Code::kWouldBlock;
    case EINVAL: return Code::kInvalidArgument;
    case EACCES:
    case EPERM: return Code::kPermission;
    case ETIMEDOUT: return Code::kTimeout;
    case EPIPE:
    case ECONNRESET:
    case ENOTCONN: return Code::kPeerLost;
    case ECONNREFUSED:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENOENT:
    case EADDRNOTAVAIL:
    case EADDRINUSE: return Code::kUnavailable;
    case ENOMEM:
    case ENOBUFS:
    case EMFILE:
    case ENFILE:
    case ENOSPC: return Code::kResourceExhausted;
    case ENOSYS:
    case EOPNOTSUPP: return Code::kUnsupported;
    default: return Code::kInternal;
  }
}

// Help beyond strerror(): which limit was reached.
std::string advice(int error_number) {
  rlimit limit{};
  if (error_number == ENFILE) return " in the whole system (sysctl fs.file-max)";
  if (error_number != EMFILE || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  return " for this process, which may have " + std::to_string(limit.rlim_cur) + " (ulimit -n)";
}

}  // namespace

Status Status::from_errno(std::string_view what, int error_number) {
  std::string message(what);
  message += ": ";
  message += std::system_category().message(error_number);
  message += advice(error_number);
  return {code_of_errno(error_number), std::move(message)};
}

const std::string& Status::message() const {
  static const std::string none;
  return message_ == nullptr ? none : message_->text;
}

std::string Status::to_string() const {
  std::string text(name(code_));
  if (!message().empty()) {
    text += ": ";
    text += message();
  }
  return text;
}

}  // namespace tf
