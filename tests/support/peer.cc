// SPDX-License-Identifier: Apache-2.0
#include "tests/support/peer.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tf::test {

Status try_publish(Endpoint& endpoint, std::uint16_t opcode, std::uint32_t id,
                   std::span<const std::byte> payload, std::uint32_t flags) {
  Result<Slot> slot = endpoint.reserve(kFrameHeaderBytes + payload.size());
  if (!slot) return slot.status();
  write_header({.opcode = opcode, .request_id = id, .flags = flags, .payload_length = payload.size()},
               slot->bytes.data());
  if (!payload.empty()) std::memcpy(slot->bytes.data() + kFrameHeaderBytes, payload.data(), payload.size());
  endpoint.publish(*slot);
  return Status::ok();
}

Status Peer::send(std::uint16_t opcode, std::uint32_t id, std::span<const std::byte> payload,
                  std::uint32_t flags) {
  const Deadline deadline = Deadline::after(kStepTimeout);
  while (true) {
    if (is_closed()) return {Code::kClosed, "the test closed this endpoint"};
    Status status = try_publish(*endpoint_, opcode, id, payload, flags);
    if (status.code() != Code::kWouldBlock) return status;
    TF_RETURN_IF_ERROR(drive(deadline));
  }
}

Result<Message> Peer::receive() {
  const Deadline deadline = Deadline::after(kStepTimeout);
  while (inbox_.empty()) TF_RETURN_IF_ERROR(drive(deadline));
  Message message = std::move(inbox_.front());
  inbox_.pop_front();
  return message;
}

Status Peer::await(const BulkCompletion& completion) {
  const Deadline deadline = Deadline::after(kStepTimeout);
  while (!completion.done()) {
    Status status = drive(deadline);
    if (completion.done()) break;
    TF_RETURN_IF_ERROR(status);
  }
  return completion.status();
}

Status Peer::drive(Deadline deadline) {
  if (is_closed()) return {Code::kClosed, "the test closed this endpoint"};
  const Result<std::size_t> delivered = endpoint_->poll(*this, 64);
  const Result<std::size_t> moved = endpoint_->bulk().move_payload();
  if (delivered && delivered.value() > 0) return Status::ok();
  if (!delivered) return delivered.status();
  if (const Status status = endpoint_->status(); !status.is_ok()) return status;  // not bulk's loss alone
  return moved && moved.value() > 0 ? Status::ok() : endpoint_->wait(Interest::kBoth, deadline);
}

Status Peer::until_failure(std::chrono::milliseconds limit) {
  const Deadline deadline = Deadline::after(limit);
  for (;;) {
    TF_RETURN_IF_ERROR(drive(deadline));
    if (deadline.passed()) return {Code::kTimeout, "the endpoint did not fail"};
  }
}

Status Peer::on_message(const FrameHeader& header, std::span<const std::byte> payload) {
  inbox_.push_back({.header = header, .payload = {payload.begin(), payload.end()}});
  return Status::ok();
}

namespace {

std::uint64_t word_at(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t value = (seed + 1) * 0x9e3779b97f4a7c15ull + index * 0xbf58476d1ce4e5b9ull;
  return value ^ (value >> 29);
}

}  // namespace

void fill_pattern(std::span<std::byte> target, std::uint64_t seed) {
  for (std::size_t at = 0; at < target.size(); at += 8) {
    const std::uint64_t word = word_at(seed, at / 8);
    std::memcpy(target.data() + at, &word, std::min<std::size_t>(8, target.size() - at));
  }
}

std::vector<std::byte> pattern(std::size_t bytes, std::uint64_t seed) {
  std::vector<std::byte> result(bytes);
  fill_pattern(result, seed);
  return result;
}

std::size_t find_mismatch(std::span<const std::byte> bytes, std::uint64_t seed) {
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    const std::uint64_t word = word_at(seed, at / 8);
    if (std::memcmp(bytes.data() + at, &word, std::min<std::size_t>(8, bytes.size() - at)) != 0) return at;
  }
  return kNoMismatch;
}

}  // namespace tf::test
