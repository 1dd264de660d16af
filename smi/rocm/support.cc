// SPDX-License-Identifier: Apache-2.0
// Asks the session for what exported functions need.
#include "smi/rocm/support.h"

#include <algorithm>
#include <cstring>

#include "proxy/base/log.h"

namespace tf::rsmi {
namespace {

rsmi_status_t check(std::uint32_t device) {
  return code_of(smi::with_remote([&](smi::Remote& remote) {
    const bool fits = device == kNoDevice || device < static_cast<std::uint32_t>(remote.device_count());
    return fits ? Status::ok() : Status(Code::kInvalidArgument, "there is no such device");
  }));
}

int index_of(std::uint32_t device) { return device <= 0x7fffffff ? static_cast<int>(device) : -1; }

}  // namespace

rsmi_status_t code_of(const Status& status) {
  switch (status.code()) {
    case Code::kOk: return kSuccess;
    case Code::kInvalidArgument: return kInvalidArguments;
    case Code::kUnsupported: return kNotSupported;
    case Code::kPermission: return kPermission;
    case Code::kResourceExhausted: return kOutOfResources;
    case Code::kUnavailable: return kInitError;
    default: return kUnknownError;
  }
}

rsmi_status_t read_sample(std::uint32_t device, smi::Sample& sample) {
  return code_of(
      smi::with_remote([&](smi::Remote& remote) { return remote.sample(index_of(device), sample); }));
}

rsmi_status_t read_facts(std::uint32_t device, smi::Facts& facts) {
  return code_of(
      smi::with_remote([&](smi::Remote& remote) { return remote.describe(index_of(device), facts); }));
}

rsmi_status_t write_text(const std::string& text, char* to, std::size_t bytes) {
  if (to == nullptr || bytes == 0) return kInvalidArguments;
  const std::size_t length = std::min(text.size(), bytes - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
  return length == text.size() ? kSuccess : kInsufficientSize;
}

rsmi_status_t text(std::uint32_t device, std::string (*of)(const smi::Facts&), char* to, std::size_t bytes) {
  return guarded([&] {
    smi::Facts facts;
    const rsmi_status_t code = read_facts(device, facts);
    if (code != kSuccess) return code;
    const std::string known = of(facts);
    return known.empty() ? rsmi_status_t{kNotSupported} : write_text(known, to, bytes);
  });
}

rsmi_status_t denied(std::uint32_t device) {
  return guarded([&] {
    const rsmi_status_t code = check(device);
    return code == kSuccess ? rsmi_status_t{kPermission} : code;
  });
}

rsmi_status_t absent(std::uint32_t device, const char* function, const char* why) {
  return guarded([&] {
    const rsmi_status_t code = check(device);
    if (code != kSuccess) return code;
    proxy::log_debug(std::string(function) + ": " + why);
    return rsmi_status_t{kNotSupported};
  });
}

}  // namespace tf::rsmi
