// SPDX-License-Identifier: Apache-2.0
// A sender of sealed records whose next records are sealed while the kernel takes the last one. For payload.
//
// finish() says what a crew has been given, which is not sealed yet. Its memory is released when the kernel
// has the records, so until then the lane must call finish(), also when it has nothing more to send.
#pragma once

#include <array>
#include <memory>
#include <utility>

#include "tcp/crew.h"
#include "tcp/engine.h"
#include "tcp/mirror_buffer.h"

namespace tf::tcp {

class OverlappedSender final : public Sender {
 public:
  // REQUIRES: an engine without zero-copy sends; a crew of sealers, from the first record on.
  static Result<std::unique_ptr<Sender>> create(std::unique_ptr<Sender> inner, std::unique_ptr<Crew> crew);

  void start(std::span<const std::byte> source, bool more) override;
  bool busy() const override { return !source_.empty(); }
  Result<std::size_t> finish() override;
  std::size_t take_released() override;
  std::size_t held() const override { return held_; }
  void cancel() override;
  pollfd wait_for() const override { return inner_->wait_for(); }

 private:
  // Of one record: where it ends on the wire, and what of the lane's memory is in it. A header is copied.
  struct Sent {
    std::uint64_t end = 0;
    std::size_t plain = 0;
    std::array<std::byte, kHeldBytesMin - 1> copy;
  };

  OverlappedSender(std::unique_ptr<Sender> inner, std::unique_ptr<Crew> crew, MirrorBuffer wire)
      : inner_(std::move(inner)), wire_(std::move(wire)), crew_(std::move(crew)) {}

  Result<std::size_t> accept();
  std::size_t post(std::span<const std::byte> source);
  Result<bool> send_some();
  void release();

  const std::unique_ptr<Sender> inner_;
  const MirrorBuffer wire_;  // cipher text: [sent_, sealed_) is to be sent, [sealed_, posted_) is the crew's
  const std::unique_ptr<Crew> crew_;  // after what its helpers use
  std::uint64_t posted_ = 0;
  std::uint64_t sealed_ = 0;
  std::uint64_t sent_ = 0;
  std::array<Sent, Crew::kRecordsMax> records_{};  // [first_record_, next_record_), not entirely sent yet
  std::uint64_t first_record_ = 0;
  std::uint64_t next_record_ = 0;
  std::span<const std::byte> source_;
  bool more_ = false;
  std::size_t held_ = 0;
  std::size_t released_ = 0;
  Status failure_;
};

}  // namespace tf::tcp
