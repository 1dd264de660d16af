// SPDX-License-Identifier: Apache-2.0
// Sends what kernels print, within the client's room.
#include "worker/session/output_sender.h"

#include <array>
#include <chrono>

namespace tf::worker {
namespace {

// The connection has room for it; a host short of memory may need a moment.
constexpr std::chrono::seconds kSendTime{5};

}  // namespace

Status OutputSender::send() {
  std::array<char, protocol::kOutputChunkMax> buffer;
  while (has_room()) {
    const auto output = output_.take(buffer, sent_ == written_);
    if (!output) return Status::ok();
    TF_RETURN_IF_ERROR(protocol::send_output(control_, *output, Deadline::after(kSendTime)));
    sent_ += output->text.size();
    output_.sent(output->text.size());
  }
  return Status::ok();
}

Status OutputSender::written(std::uint64_t bytes) {
  if (bytes < written_ || bytes > sent_)
    return {Code::kProtocol, "the client has written output that it did not get"};
  written_ = bytes;
  return Status::ok();
}

}  // namespace tf::worker
