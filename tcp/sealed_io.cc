// SPDX-License-Identifier: Apache-2.0
// Seals what a lane sends, and opens what it receives.
#include "tcp/sealed_io.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tcp/crew.h"
#include "tcp/overlapped_sender.h"
#include "tcp/sealed_receiver.h"
#include "tcp/transport.h"

namespace tf::tcp {
namespace {

using secure::kRecordBytesMax;
using secure::kRecordOverhead;

constexpr std::size_t kOutBytes = kSealedBytesMax + kSealedBytesMax / kRecordBytesMax * kRecordOverhead;

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

// Of one secret, for as many threads.
template <typename Worker>
Result<std::unique_ptr<Crew>> make_crew(const secure::Secret32& secret, secure::Cipher cipher,
                                        unsigned helpers) {
  Crew::Workers workers;
  for (unsigned index = 0; index <= helpers; ++index) {
    Result<Worker> made = Worker::make(secret, cipher);
    if (!made) return made.status();
    workers.push_back(std::make_unique<Worker>(std::move(*made)));
  }
  return std::make_unique<Crew>(std::move(workers));
}

Result<std::unique_ptr<Sender>> make_sender(std::unique_ptr<Sender> inner, const secure::Secret32& secret,
                                            secure::Cipher cipher, unsigned helpers) {
  if (helpers > 0) {
    Result<std::unique_ptr<Crew>> crew = make_crew<secure::Sealer>(secret, cipher, helpers);
    if (!crew) return crew.status();
    return OverlappedSender::create(std::move(inner), std::move(*crew));
  }
  Result<secure::Sealer> sealer = secure::Sealer::make(secret, cipher);
  if (!sealer) return sealer.status();
  return std::unique_ptr<Sender>(std::make_unique<SealedSender>(std::move(inner), std::move(*sealer)));
}

Result<std::unique_ptr<Receiver>> make_receiver(std::unique_ptr<Receiver> inner,
                                                const secure::Secret32& secret, secure::Cipher cipher,
                                                unsigned helpers) {
  Result<std::unique_ptr<Crew>> crew = make_crew<secure::Opener>(secret, cipher, helpers);
  if (!crew) return crew.status();
  return SealedReceiver::create(std::move(inner), std::move(*crew));
}

}  // namespace

Result<LaneIo> make_sealed_io(LaneIo io, const Protection& protection, unsigned lane, unsigned helpers) {
  const secure::Session& session = *protection.session;
  const auto kind = static_cast<std::uint32_t>(kKind);
  const auto number = std::uint32_t{lane};
  const secure::Proof& proof = protection.proofs[lane];
  const secure::Side own = protection.own;
  const Result<secure::Secret32> outgoing = secure::lane_secret(session, kind, number, own, proof);
  if (!outgoing) return outgoing.status();
  const Result<secure::Secret32> incoming =
      secure::lane_secret(session, kind, number, secure::other(own), proof);
  if (!incoming) return incoming.status();
  const secure::Cipher cipher = session.cipher;
  Result<std::unique_ptr<Sender>> sender =
      make_sender(std::move(io.sender), outgoing.value(), cipher, helpers);
  if (!sender) return sender.status();
  Result<std::unique_ptr<Receiver>> receiver =
      make_receiver(std::move(io.receiver), incoming.value(), cipher, helpers);
  if (!receiver) return receiver.status();
  return LaneIo{.receiver = std::move(*receiver), .sender = std::move(*sender)};
}

}  // namespace tf::tcp
