// SPDX-License-Identifier: Apache-2.0
// CountedBulk: a bulk plane that adds up what is sent and received through it. Any thread, as the plane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/endpoint.h"
#include "worker/base/session_tally.h"

namespace tf::worker {

class CountedBulk final : public BulkPlane {
 public:
  // Both outlive it.
  CountedBulk(BulkPlane& plane, SessionTally& tally) : plane_(plane), tally_(tally) {}

  Status send(std::uint64_t tag, std::span<const std::byte> source, BulkCompletion& completion) override {
    SessionTally::add(tally_.payload_bytes_to_client, source.size());
    return plane_.send(tag, source, completion);
  }
  bool can_send_filling(std::size_t bytes) const override { return plane_.can_send_filling(bytes); }
  Status send_filling(std::uint64_t tag, std::span<const std::byte> source, const Filling& filling,
                      BulkCompletion& completion) override {
    const Status sent = plane_.send_filling(tag, source, filling, completion);
    if (sent.is_ok()) SessionTally::add(tally_.payload_bytes_to_client, source.size());
    return sent;
  }
  void filled() override { plane_.filled(); }
  Status receive(std::uint64_t tag, std::span<std::byte> target, BulkCompletion& completion) override {
    SessionTally::add(tally_.payload_bytes_to_worker, target.size());
    return plane_.receive(tag, target, completion);
  }
  Status discard(std::uint64_t tag, std::uint64_t bytes, BulkCompletion& completion) override {
    SessionTally::add(tally_.payload_bytes_to_worker, bytes);
    return plane_.discard(tag, bytes, completion);
  }
  Status abort(std::uint64_t tag, std::uint32_t reason) override { return plane_.abort(tag, reason); }
  void refuse_unasked() override { plane_.refuse_unasked(); }
  void keep_open(std::uint64_t tag, bool open) override { plane_.keep_open(tag, open); }
  void remember(std::span<std::byte> memory) override { plane_.remember(memory); }
  void forget(std::span<std::byte> memory) override { plane_.forget(memory); }
  void expect_device_reads(std::span<std::byte> memory) override { plane_.expect_device_reads(memory); }
  unsigned lanes() const override { return plane_.lanes(); }
  bool fills_in_order() const override { return plane_.fills_in_order(); }
  bool streams(std::size_t bytes) const override { return plane_.streams(bytes); }
  Status remember_device(std::span<std::byte> memory, int dmabuf, std::uint64_t offset) override {
    return plane_.remember_device(memory, dmabuf, offset);
  }
  bool reaches(std::span<const std::byte> memory) const override { return plane_.reaches(memory); }
  Result<std::size_t> move_payload() override { return plane_.move_payload(); }

 private:
  BulkPlane& plane_;
  SessionTally& tally_;
};

}  // namespace tf::worker
