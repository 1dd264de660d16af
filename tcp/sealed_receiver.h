// SPDX-License-Identifier: Apache-2.0
// A receiver that opens sealed records, straight into the lane's memory where a whole one fits.
//
// If its crew has helpers, it goes on receiving while they open what has come, and finish() returns when the
// socket is empty or the lane's memory is full. Everything that it returns has been checked, in order.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tcp/crew.h"
#include "tcp/engine.h"
#include "tcp/mirror_buffer.h"

namespace tf::tcp {

class SealedReceiver final : public Receiver {
 public:
  // REQUIRES: an engine that reports what came without waiting for more; a crew of openers, from the first
  // record on.
  static Result<std::unique_ptr<Receiver>> create(std::unique_ptr<Receiver> inner,
                                                  std::unique_ptr<Crew> crew);

  void start(std::span<std::byte> target) override { target_ = target; }
  bool busy() const override { return !target_.empty(); }
  Result<std::size_t> finish() override;
  void cancel() override;
  pollfd wait_for() const override { return inner_->wait_for(); }
  bool uses_ring() const override { return inner_->uses_ring(); }

 private:
  SealedReceiver(std::unique_ptr<Receiver> inner, std::unique_ptr<Crew> crew, MirrorBuffer wire);

  Result<std::size_t> fill();
  Status post_and_receive();
  bool post_records();
  std::optional<std::size_t> next_record();
  Status open_apart(std::size_t record);
  std::size_t take_rest();
  bool receive();
  Status take_front();
  Status take_all();

  const std::unique_ptr<Receiver> inner_;
  const MirrorBuffer wire_;       // cipher text: [opened_, posted_) is the crew's, [posted_, end_) has come
  std::vector<std::byte> plain_;  // of a record that is larger than what the lane wanted
  std::span<const std::byte> rest_;  // of plain_
  std::span<std::byte> target_;
  std::size_t planned_ = 0;  // bytes of it that the crew fills
  std::uint64_t opened_ = 0;
  std::uint64_t posted_ = 0;
  std::uint64_t end_ = 0;
  Status ending_;                     // why nothing follows what lies before posted_ or end_
  Status failure_;                    // a record was damaged: nothing is delivered any more
  const std::unique_ptr<Crew> crew_;  // after what its helpers use
};

}  // namespace tf::tcp
