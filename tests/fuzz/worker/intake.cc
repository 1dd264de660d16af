// SPDX-License-Identifier: Apache-2.0
// Fuzz entry: what strangers say on fresh connections, in any parts and order, and when they leave: read as
// the supervisor reads it. A lane is passed on with the frame that it sent; a control connection waits for a
// session process with all that it said behind its frame; what is neither is closed; no door has more
// connections than seats; nobody is waited for; no descriptor stays open.
//
// Input: records {u8 action, ...}; act() says what they mean.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/fuzz/descriptors.h"
#include "tests/fuzz/wire/input.h"
#include "transport/frame.h"
#include "transport/net/attach.h"
#include "worker/supervisor/intake.h"

namespace {

using namespace tf;
using namespace tf::worker;

constexpr std::size_t kGuests = 8;
constexpr std::size_t kSeats = 3;  // of each door
constexpr int kStepsMax = 200;
constexpr std::size_t kSaidMax = 16 << 10;  // bytes of one guest; fit into its socket
constexpr auto kEndTime = std::chrono::seconds(10);

void expect(bool holds) {
  if (!holds) __builtin_trap();
}

// The frame of a lane, or of a control connection.
std::vector<std::byte> attach_frame(const net::Attach& attach) {
  std::array<int, 2> ends{};
  expect(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
  const net::OwnedFd near(ends[0]), far(ends[1]);
  std::vector<std::byte> frame(net::kAttachFrameBytes);
  expect(net::write_attach(near.get(), attach, Deadline::now()).is_ok());
  expect(::recv(far.get(), frame.data(), frame.size(), 0) == static_cast<ssize_t>(frame.size()));
  return frame;
}

struct Guest {
  net::OwnedFd socket;
  std::vector<std::byte> said;
};

class Supervisor {
 public:
  explicit Supervisor(fuzz::Input input) : input_(input), intake_(kSeats) {
    // Its lines would be those of every input.
    for (unsigned line = 0; line < kLogBurst; ++line) intake_.log().allow(LogLimit::Clock::now());
  }

  void run() {
    for (int step = 0; step < kStepsMax && !input_.empty(); ++step) {
      act();
      expect(intake_.size() <= 2 * kSeats && intake_.waiting().size() <= intake_.size());
      expect(!deadline_.passed());
    }
    progress();
    while (serve_one()) continue;
  }

 private:
  void act() {
    const auto action = input_.take<std::uint8_t>();
    Guest& guest = guests_[action % kGuests];
    switch (action / kGuests % 8) {
      case 0: return enter(action % kGuests);
      case 1: return say(guest, input_.take_bytes(input_.take<std::uint8_t>()));
      case 2: return attach(guest);
      case 3: return greet(guest);
      case 4: return static_cast<void>(::shutdown(guest.socket.get(), SHUT_WR));
      case 5: return guest.socket.reset();
      case 6: return static_cast<void>(serve_one());
      default: return progress();
    }
  }

  void enter(std::size_t number) {
    std::array<int, 2> ends{};
    expect(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
    const auto how = input_.take<std::uint8_t>();
    Intake::Connection connection;
    connection.socket = net::OwnedFd(ends[0]);
    connection.is_local = how % 2 == 0;
    connection.keyed = how / 2 % 2 == 0;
    connection.peer = std::to_string(number);
    const int before = static_cast<int>(intake_.size());
    // Whoever was there under this number is forgotten, and is read to its end without a model.
    guests_[number] = {net::OwnedFd(ends[1]), {}};
    newest_[number] = ends[0];
    const std::optional<Intake::Connection> gone = intake_.add(std::move(connection));
    expect(static_cast<int>(intake_.size()) == before + (gone ? 0 : 1));
  }

  void say(Guest& guest, std::span<const std::byte> bytes) {
    bytes = bytes.first(std::min(bytes.size(), kSaidMax - guest.said.size()));
    const ssize_t sent = ::send(guest.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) guest.said.insert(guest.said.end(), bytes.begin(), bytes.begin() + sent);
  }

  void attach(Guest& guest) {
    net::Attach attach;
    const auto how = input_.take<std::uint8_t>();
    attach.token.bytes[0] = how % 4;
    attach.kind = static_cast<net::TransportKind>(how % 4 == 0 ? 0 : how / 4 % 4);
    attach.lane = how / 16;
    std::vector<std::byte> frame = attach_frame(attach);
    for (unsigned hits = input_.take<std::uint8_t>() % 4; hits > 1; --hits)
      frame[input_.take<std::uint8_t>() % frame.size()] = input_.take<std::byte>();
    say(guest, frame);
  }

  // The header of a HELLO, or of something else, and a part of what it announces.
  void greet(Guest& guest) {
    FrameHeader header;
    header.opcode = input_.take<std::uint16_t>();
    header.payload_length = input_.take<std::uint16_t>();
    std::array<std::byte, kFrameHeaderBytes> bytes{};
    write_header(header, bytes.data());
    say(guest, bytes);
    const std::vector<std::byte> payload(input_.take<std::uint16_t>() % 5000);
    say(guest, payload);
  }

  void progress() {
    std::vector<pollfd> polled;
    intake_.watch(polled);
    expect(polled.size() == intake_.size());
    expect(::poll(polled.data(), polled.size(), 0) >= 0);
    const Intake::Meet meet = [this](Intake::Connection& connection) { return met(connection); };
    intake_.progress(polled, meet, [this](Intake::Connection& lane) { take_lane(lane); });
  }

  // What the supervisor's Gate decides: here, that one kind is refused.
  Result<std::unique_ptr<Prover>> met(const Intake::Connection& connection) {
    expect(connection.identified && connection.have == net::kAttachFrameBytes);
    if (static_cast<std::uint32_t>(connection.attach.kind) == 3)
      return Status(Code::kPermission, "not this one");
    return std::unique_ptr<Prover>();
  }

  // What it has sent, if it is the last one with its number; else anything.
  const Guest* guest_of(const Intake::Connection& connection) const {
    const std::size_t number = std::stoul(connection.peer);
    return newest_[number] == connection.socket.get() ? &guests_[number] : nullptr;
  }

  void expect_frame(const Intake::Connection& connection, const Guest& guest) const {
    expect(guest.said.size() >= net::kAttachFrameBytes);
    expect(std::equal(connection.frame.begin(), connection.frame.end(), guest.said.begin()));
  }

  void take_lane(Intake::Connection& lane) {
    expect(lane.identified && !lane.ready && !lane.attach.token.is_zero());
    if (const Guest* const guest = guest_of(lane)) expect_frame(lane, *guest);
    lane.socket.reset();
  }

  // As a session process that takes the oldest. All is there for it to read.
  bool serve_one() {
    const std::vector<Intake::Connection*> waiting = intake_.waiting();
    if (waiting.empty()) return false;
    Intake::Connection& first = *waiting.front();
    expect(first.identified && first.attach.token.is_zero() && first.socket);
    if (const Guest* const guest = guest_of(first)) {
      expect_frame(first, *guest);
      std::vector<std::byte> rest(kSaidMax);
      const ssize_t got = ::recv(first.socket.get(), rest.data(), rest.size(), MSG_DONTWAIT);
      const auto said = std::span(guest->said).subspan(net::kAttachFrameBytes);
      expect(std::ranges::equal(std::span(rest).first(got > 0 ? static_cast<std::size_t>(got) : 0), said));
    }
    first.socket.reset();
    intake_.forget_taken();
    return true;
  }

  fuzz::Input input_;
  const Deadline deadline_ = Deadline::after(kEndTime);
  std::array<Guest, kGuests> guests_;
  std::array<int, kGuests> newest_{};  // the worker's end of each
  Intake intake_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::NoneLeft none_left;
  Supervisor(fuzz::Input(data, size)).run();
  return 0;
}
