// SPDX-License-Identifier: Apache-2.0
// Fuzz entry: what hostile session processes send on their channels, read as the supervisor reads it and
// given to its Offers. A model says beside it what each of them must get: a packet that is no envelope ends
// its session and nothing else; nobody gets what was withdrawn, what belongs to a device that it does not
// show, or what its owner took along; limits hold; no descriptor stays open.
//
// Input: records {u8 action, ...}; act() says what they mean.
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tests/fuzz/descriptors.h"
#include "tests/fuzz/wire/input.h"
#include "transport/net/socket.h"
#include "worker/base/channel.h"
#include "worker/supervisor/offers.h"

namespace {

using namespace tf;
using namespace tf::worker;

constexpr std::size_t kSessions = 5;  // of which four fill the table
constexpr int kStepsMax = 96;
constexpr int kBurstsMax = 6;
constexpr std::size_t kFiles = 3;
constexpr auto kEndTime = std::chrono::seconds(10);  // far more than any input takes

// The worker's numbers of the devices that each shows.
const std::array<DeviceSet, kSessions>& shown() {
  static const std::array<DeviceSet, kSessions> sets = {{{}, {}, {1, 0}, {2}, {0, 1, 2}}};
  return sets;
}

void expect(bool holds) {
  if (!holds) __builtin_trap();
}

// Memory to offer: files that differ in size.
class Files {
 public:
  Files() {
    for (std::size_t index = 0; index < kFiles; ++index) {
      files_[index] = net::OwnedFd(::memfd_create("offered", MFD_CLOEXEC));
      expect(::ftruncate(files_[index].get(), static_cast<off_t>(size_of(index))) == 0);
    }
  }
  int get(std::size_t index) const { return files_[index % kFiles].get(); }
  static std::size_t size_of(std::size_t index) { return index + 1; }

 private:
  std::array<net::OwnedFd, kFiles> files_;
};

std::size_t size_of(const net::OwnedFd& file) {
  struct stat facts {};
  return file && ::fstat(file.get(), &facts) == 0 ? static_cast<std::size_t>(facts.st_size) : 0;
}

// The bytes that a correct process sends for `message`, without its descriptor.
std::vector<std::byte> packet_of(const ChannelMessage& message) {
  static Result<ChannelPair> pair = make_channel();  // one for all inputs
  expect(pair.is_ok() && send_message(pair->session.get(), message, Deadline::now()).is_ok());
  std::vector<std::byte> bytes(8192);
  const ssize_t got = ::recv(pair->supervisor.get(), bytes.data(), bytes.size(), 0);
  expect(got > 0);
  bytes.resize(static_cast<std::size_t>(got));
  return bytes;
}

// Bytes of every envelope.
std::size_t whole() {
  static const std::size_t bytes = packet_of({}).size();
  return bytes;
}

class Model {
 public:
  struct Offer {
    std::size_t owner = 0;
    SharedPiece piece;          // the device's number is the worker's
    std::size_t file_size = 0;  // 0: none
  };
  // What the answer must hold.
  struct Answer {
    SharedPiece::Kind kind = SharedPiece::Kind::kNone;
    int device = 0;
    std::size_t file_size = 0;
  };

  Answer answer_to(std::size_t who, const ChannelMessage& message) {
    const auto found = offers_.find(message.attach.token);
    if (message.kind == Envelope::kOffer) return offer(who, message, found == offers_.end());
    if (found == offers_.end()) return {};
    if (message.kind == Envelope::kWithdraw && found->second.owner == who) offers_.erase(found);
    if (message.kind != Envelope::kWant) return {};
    const std::optional<int> device = number_for(shown()[who], found->second.piece.device);
    if (!device) return {};
    return {found->second.piece.kind, *device, found->second.file_size};
  }
  void forget(std::size_t who) {
    std::erase_if(offers_, [who](const auto& entry) { return entry.second.owner == who; });
  }
  std::size_t size() const { return offers_.size(); }

 private:
  static std::optional<int> number_for(const DeviceSet& set, int device) {
    for (std::size_t index = 0; index < set.size(); ++index)
      if (set[index] == device) return static_cast<int>(index);
    return set.empty() ? std::optional(device) : std::nullopt;
  }
  Answer offer(std::size_t who, const ChannelMessage& message, bool is_new) {
    const DeviceSet& set = shown()[who];
    SharedPiece piece = message.piece;
    const bool known = piece.device >= 0 && (set.empty() || piece.device < static_cast<int>(set.size()));
    std::size_t own = 0;
    for (const auto& [name, each] : offers_) own += each.owner == who ? 1 : 0;
    const bool has_memory = piece.kind == SharedPiece::Kind::kEvent || message.connection;
    if (!is_new || !known || piece.kind == SharedPiece::Kind::kNone || !has_memory ||
        own == kOffersPerSessionMax || offers_.size() == kOffersMax)
      return {};
    const int shown_as = piece.device;
    if (!set.empty()) piece.device = set[static_cast<std::size_t>(piece.device)];
    offers_.emplace(message.attach.token, Offer{who, piece, size_of(message.connection)});
    return {piece.kind, shown_as, 0};
  }

  std::map<net::Token, Offer> offers_;
};

class Worker {
 public:
  explicit Worker(fuzz::Input input) : input_(input) {
    for (std::size_t who = 0; who < kSessions; ++who) start(who);
  }

  void run() {
    for (int step = 0; step < kStepsMax && !input_.empty(); ++step) {
      act();
      expect(offers_.size() == model_.size());
      expect(!deadline_.passed());
    }
    for (std::size_t who = 0; who < kSessions; ++who) end(who);
    expect(offers_.size() == 0);
  }

 private:
  // One of a session's records.
  void act() {
    const auto action = input_.take<std::uint8_t>();
    const std::size_t who = action % kSessions;
    switch (action / kSessions % 8) {
      case 0: return restart(who);
      case 1: return listen(who, !listening_[who]);
      case 2: return burst(who);
      case 3: return deliver(who, spoilt(packet_of(message())), file_count());
      default: return say(who);
    }
  }

  ChannelMessage message() {
    ChannelMessage made;
    made.kind = static_cast<Envelope>(input_.take<std::uint8_t>() % 12);
    made.attach.token.bytes[0] = input_.take<std::uint8_t>() % 8;
    made.attach.token.bytes[15] = 1;
    const auto piece = input_.take<std::uint8_t>();
    made.piece.kind = static_cast<SharedPiece::Kind>(piece % 4);
    made.piece.device = piece / 4 % 4 - 1;
    made.piece.whole_bytes = made.piece.bytes = piece;
    made.number = ++number_;
    return made;
  }
  std::size_t file_count() { return input_.take<std::uint8_t>() % 3; }

  // As correct processes send it, but at a time when it is theirs to choose.
  void say(std::size_t who) {
    ChannelMessage made = message();
    const std::uint8_t kind = static_cast<std::uint8_t>(made.kind) % 3;
    made.kind = kind == 0 ? Envelope::kOffer : kind == 1 ? Envelope::kWithdraw : Envelope::kWant;
    const bool with_file = made.kind == Envelope::kOffer && made.piece.kind != SharedPiece::Kind::kEvent;
    deliver(who, packet_of(made), with_file ? 1 : 0);
  }

  // As many offers as one session may have, and one more.
  void burst(std::size_t who) {
    if (++bursts_ > kBurstsMax) return;
    ChannelMessage made;
    made.kind = Envelope::kOffer;
    made.piece.kind = SharedPiece::Kind::kPhysical;
    made.attach.token.bytes[14] = static_cast<std::uint8_t>(bursts_);
    for (std::size_t number = 0; number <= kOffersPerSessionMax; ++number) {
      made.attach.token.bytes[0] = static_cast<std::uint8_t>(number);
      expect(send_message(channels_[who].session.get(), with_file(made), Deadline::now()).is_ok());
      serve(who, whole());
    }
  }
  ChannelMessage with_file(const ChannelMessage& other) {
    ChannelMessage made;
    made.kind = other.kind;
    made.piece = other.piece;
    made.attach = other.attach;
    made.number = ++number_;
    made.connection = net::OwnedFd(::dup(files_.get(number_)));
    return made;
  }

  // Of another length, or with other bytes somewhere.
  std::vector<std::byte> spoilt(std::vector<std::byte> packet) {
    const auto how = input_.take<std::uint8_t>();
    if (how % 4 == 0) packet.resize(input_.take<std::uint16_t>() % (2 * whole()));
    for (unsigned hits = how / 4 % 4; hits > 0 && !packet.empty(); --hits)
      packet[input_.take<std::uint16_t>() % packet.size()] = input_.take<std::byte>();
    return packet;
  }

  void deliver(std::size_t who, const std::vector<std::byte>& packet, std::size_t files) {
    std::array<int, kFiles> passed{};
    for (std::size_t index = 0; index < files; ++index) passed[index] = files_.get(number_ + index);
    const int channel = channels_[who].session.get();
    const std::span<const int> with = std::span(passed).first(files);
    if (packet.empty())
      expect(::send(channel, "", 0, MSG_NOSIGNAL | MSG_DONTWAIT) == 0);
    else
      expect(net::send_with_fds(channel, packet, with, Deadline::now()).is_ok());
    serve(who, packet.size());
  }

  // As Supervisor::read_channel() does.
  void serve(std::size_t who, std::size_t sent) {
    Result<ChannelMessage> got = receive_message(channels_[who].supervisor.get(), Deadline::now());
    expect(got.is_ok() || got.code() == Code::kProtocol);
    expect(got.is_ok() || !got.status().message().empty());
    if (sent != whole()) expect(!got.is_ok());
    const bool is_ours = got.is_ok() && (got->kind == Envelope::kOffer || got->kind == Envelope::kWithdraw ||
                                         got->kind == Envelope::kWant);
    if (!is_ours) return restart(who);  // an envelope of another kind is refused there
    const Model::Answer expected = model_.answer_to(who, *got);
    const std::uint64_t number = got->number;
    offers_.serve(channels_[who].supervisor.get(), static_cast<pid_t>(who + 1), shown()[who], *got);
    if (listening_[who]) hear(who, number, expected);
  }

  void hear(std::size_t who, std::uint64_t number, const Model::Answer& expected) {
    Result<ChannelMessage> answer = receive_message(channels_[who].session.get(), Deadline::now());
    expect(answer.is_ok() && answer->kind == Envelope::kAnswer && answer->number == number);
    expect(answer->piece.kind == expected.kind && size_of(answer->connection) == expected.file_size);
    if (expected.kind != SharedPiece::Kind::kNone) expect(answer->piece.device == expected.device);
  }

  // A process that does not read gets what fits into its channel; nobody waits for it.
  void listen(std::size_t who, bool listening) {
    listening_[who] = listening;
    while (listening && receive_message(channels_[who].session.get(), Deadline::now()).is_ok()) continue;
  }

  void start(std::size_t who) {
    Result<ChannelPair> pair = make_channel();
    expect(pair.is_ok());
    channels_[who] = std::move(*pair);
    listening_[who] = true;
  }
  void end(std::size_t who) {
    channels_[who] = {};
    offers_.forget(static_cast<pid_t>(who + 1));
    model_.forget(who);
  }
  void restart(std::size_t who) {
    end(who);
    start(who);
  }

  fuzz::Input input_;
  const Files files_;
  const Deadline deadline_ = Deadline::after(kEndTime);
  std::array<ChannelPair, kSessions> channels_;
  std::array<bool, kSessions> listening_{};
  Offers offers_;
  Model model_;
  std::uint64_t number_ = 0;
  int bursts_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  expect(whole() > 0);  // from here on all that stays open is open
  const fuzz::NoneLeft none_left;
  Worker(fuzz::Input(data, size)).run();
  return 0;
}
