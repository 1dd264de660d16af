// SPDX-License-Identifier: Apache-2.0
// Seals what a lane sends, and opens what it receives.
#include "tcp/sealed_io.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "tcp/transport.h"

namespace tf::tcp {
namespace {

using secure::kRecordBytesMax;
using secure::kRecordHeaderBytes;
using secure::kRecordOverhead;

constexpr std::size_t kOutBytes = kSealedBytesMax + kSealedBytesMax / kRecordBytesMax * kRecordOverhead;
constexpr std::size_t kInBytes = 4 * (kRecordBytesMax + kRecordOverhead);

class SealedSender final : public Sender {
 public:
  SealedSender(std::unique_ptr<Sender> inner, secure::Sealer sealer)
      : inner_(std::move(inner)), sealer_(std::move(sealer)), records_(kOutBytes) {}

  void start(std::span<const std::byte> source, bool more) override {
    source_ = source.first(std::min(source.size(), kSealedBytesMax));
    more_ = more || source.size() > source_.size();
    sealed_ = sent_ = 0;
  }
  bool busy() const override { return !source_.empty(); }

  Result<std::size_t> finish() override {
    if (source_.empty()) return std::size_t{0};
    if (sealed_ == 0) TF_RETURN_IF_ERROR(seal());
    while (sent_ < sealed_) {
      if (!inner_->busy()) inner_->start(std::span(records_).subspan(sent_, sealed_ - sent_), more_);
      Result<std::size_t> step = inner_->finish();
      if (!step) {
        source_ = {};
        return step;
      }
      inner_->take_released();
      sent_ += *step;
      if (*step == 0 && inner_->busy()) return std::size_t{0};  // else it is to be begun again
    }
    const std::size_t taken = std::exchange(source_, {}).size();
    released_ += taken;
    return taken;
  }

  std::size_t take_released() override { return std::exchange(released_, 0); }
  std::size_t held() const override { return released_; }
  void cancel() override {
    inner_->cancel();
    source_ = {};
  }
  pollfd wait_for() const override { return inner_->wait_for(); }

 private:
  Status seal() {
    for (std::size_t at = 0; at < source_.size();) {
      const std::size_t bytes = std::min(source_.size() - at, kRecordBytesMax);
      TF_RETURN_IF_ERROR(sealer_.seal(source_.subspan(at, bytes),
                                      std::span(records_).subspan(sealed_, bytes + kRecordOverhead)));
      at += bytes;
      sealed_ += bytes + kRecordOverhead;
    }
    return Status::ok();
  }

  const std::unique_ptr<Sender> inner_;
  secure::Sealer sealer_;
  std::vector<std::byte> records_;
  std::size_t sealed_ = 0;  // bytes of records_ that are valid
  std::size_t sent_ = 0;    // and of these, what the kernel has
  std::span<const std::byte> source_;
  bool more_ = false;
  std::size_t released_ = 0;
};

class SealedReceiver final : public Receiver {
 public:
  SealedReceiver(std::unique_ptr<Receiver> inner, secure::Opener opener)
      : inner_(std::move(inner)), opener_(std::move(opener)), in_(kInBytes), plain_(kRecordBytesMax) {}

  void start(std::span<std::byte> target) override { target_ = target; }
  bool busy() const override { return !target_.empty(); }

  Result<std::size_t> finish() override {
    if (target_.empty()) return std::size_t{0};
    std::size_t got = 0;
    while (got == 0) {
      Result<std::size_t> step = deliver();
      if (step && *step == 0) {
        const Result<std::size_t> came = receive();
        if (!came || came.value() == 0) {
          // Busy, or to be begun again: the lane must not tell these apart from a plain engine's.
          if (!came || !inner_->busy()) target_ = {};
          return came;
        }
        continue;
      }
      if (!step) {
        target_ = {};
        return step;
      }
      got = *step;
    }
    target_ = {};
    return got;
  }

  void cancel() override {
    inner_->cancel();
    target_ = {};
  }
  pollfd wait_for() const override { return inner_->wait_for(); }
  bool uses_ring() const override { return inner_->uses_ring(); }

 private:
  // Plain text into the target, as much as there is and fits. 0: more has to come.
  Result<std::size_t> deliver() {
    std::size_t filled = take_rest();
    while (filled < target_.size()) {
      Result<std::optional<std::span<const std::byte>>> record = whole_record();
      if (!record) return record.status();
      if (!*record) break;
      const std::size_t bytes = (*record)->size() - kRecordOverhead;
      if (bytes <= target_.size() - filled) {
        TF_RETURN_IF_ERROR(opener_.open(**record, target_.subspan(filled, bytes)));
        filled += bytes;
      } else {
        TF_RETURN_IF_ERROR(opener_.open(**record, std::span(plain_).first(bytes)));
        rest_ = std::span(plain_).first(bytes);
        const std::size_t part = std::min(rest_.size(), target_.size() - filled);
        std::memcpy(target_.data() + filled, rest_.data(), part);
        rest_ = rest_.subspan(part);
        filled += part;
      }
      first_ += bytes + kRecordOverhead;
    }
    return filled;
  }

  std::size_t take_rest() {
    const std::size_t part = std::min(rest_.size(), target_.size());
    if (part > 0) std::memcpy(target_.data(), rest_.data(), part);
    rest_ = rest_.subspan(part);
    return part;
  }

  Result<std::optional<std::span<const std::byte>>> whole_record() const {
    const std::span<const std::byte> have = std::span(in_).subspan(first_, end_ - first_);
    if (have.size() < kRecordHeaderBytes) return std::optional<std::span<const std::byte>>();
    const Result<std::size_t> plain = secure::Opener::plain_bytes(have.first<kRecordHeaderBytes>());
    if (!plain) return plain.status();
    const std::size_t bytes = plain.value() + kRecordOverhead;
    if (have.size() < bytes) return std::optional<std::span<const std::byte>>();
    return std::optional(have.first(bytes));
  }

  // More cipher text. While the engine has the memory behind end_, nothing moves.
  Result<std::size_t> receive() {
    if (!inner_->busy()) {
      if (first_ == end_ || in_.size() - end_ < kRecordBytesMax) make_room();
      inner_->start(std::span(in_).subspan(end_));
    }
    Result<std::size_t> got = inner_->finish();
    if (got) end_ += *got;
    return got;
  }

  void make_room() {
    std::memmove(in_.data(), in_.data() + first_, end_ - first_);
    end_ -= first_;
    first_ = 0;
  }

  const std::unique_ptr<Receiver> inner_;
  secure::Opener opener_;
  std::vector<std::byte> in_;  // cipher text: [first_, end_)
  std::size_t first_ = 0;
  std::size_t end_ = 0;
  std::vector<std::byte> plain_;     // of a record that is larger than what the lane wanted
  std::span<const std::byte> rest_;  // of plain_
  std::span<std::byte> target_;
};

}  // namespace

Result<LaneIo> make_sealed_io(LaneIo io, const Protection& protection, Lane lane) {
  const secure::Session& session = *protection.session;
  const auto kind = static_cast<std::uint32_t>(kKind);
  const auto number = static_cast<std::uint32_t>(lane);
  const secure::Proof& proof = protection.proofs[number];
  const secure::Side own = protection.own;
  const Result<secure::Secret32> outgoing = secure::lane_secret(session, kind, number, own, proof);
  if (!outgoing) return outgoing.status();
  const Result<secure::Secret32> incoming =
      secure::lane_secret(session, kind, number, secure::other(own), proof);
  if (!incoming) return incoming.status();
  Result<secure::Sealer> sealer = secure::Sealer::make(outgoing.value(), session.cipher);
  if (!sealer) return sealer.status();
  Result<secure::Opener> opener = secure::Opener::make(incoming.value(), session.cipher);
  if (!opener) return opener.status();
  return LaneIo{.receiver = std::make_unique<SealedReceiver>(std::move(io.receiver), std::move(*opener)),
                .sender = std::make_unique<SealedSender>(std::move(io.sender), std::move(*sealer))};
}

}  // namespace tf::tcp
