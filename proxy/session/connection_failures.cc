// SPDX-License-Identifier: Apache-2.0
// What the worker says, on a connection, of work that failed.
#include <algorithm>
#include <string>

#include "hipcore/errors/error_text.h"
#include "proxy/session/connection.h"

namespace tf::proxy {
namespace {

constexpr std::size_t kFailureTextMax = 1024;  // of what the worker says of a device

}  // namespace

// For the program's user; the program learns of it from calls that wait.
Status Connection::on_notice(const protocol::DeviceFailedNotice& failed, std::span<const std::byte> what) {
  const int device = own_ordinal(static_cast<int>(failed.device));
  if (device < 0) return Status::ok();
  std::string text;
  for (const std::byte byte : what.first(std::min(what.size(), kFailureTextMax))) {
    const char letter = static_cast<char>(byte);
    text += letter >= ' ' && letter <= '~' ? letter : '?';
  }
  failure_told_.silence();
  device_failure_told_[static_cast<std::size_t>(device)].line(
      "device " + std::to_string(device) + " has failed: " + text +
      "; every call that waits for it returns " +
      hipdata::error_text(static_cast<hipError_t>(failed.error)).name);
  return Status::ok();
}

Status Connection::on_notice(const protocol::FaultNotice& fault, std::span<const std::byte>) {
  auto error = static_cast<hipError_t>(fault.error);
  const int device = own_ordinal(static_cast<int>(fault.device));
  if (error == hipSuccess) return Status(Code::kProtocol, "a fault that reports success");
  streams_.faults().note(device, fault.stream, error);
  if (fault.failed_opcode == 0) {
    failure_told_.line("work on device " + std::to_string(device) + " failed with error " +
                       std::to_string(fault.error) + "; calls that wait return it");
    return Status::ok();
  }
  std::string call(protocol::name(static_cast<protocol::Op>(fault.failed_opcode)));
  log_line(call + " (request " + std::to_string(fault.failed_request_id) + ", device " +
           std::to_string(device) + ") failed on the worker with error " + std::to_string(fault.error) +
           "; the next synchronizing call returns it");
  return Status::ok();
}

}  // namespace tf::proxy
