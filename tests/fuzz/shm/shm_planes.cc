// SPDX-License-Identifier: Apache-2.0
// Fuzz entry: the worker's end of a shm endpoint, whose client writes into the segment whenever it likes:
// what it publishes, positions, doorbells, bytes of records that are being read. A second thread goes on
// doing so while this one uses both planes. Whatever stands there, messages are whole and within their limit,
// payload lands inside what was posted for it, a failure has a name and stays, and everything comes to an
// end.
//
// Input: u8 count and as many strikes {u8 where, u16 offset, u64 value} of the second thread, then records
// {u8 action, ...}; act() says what they mean.
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "shm/bulk.h"
#include "shm/endpoint.h"
#include "shm/segment.h"
#include "tests/fuzz/descriptors.h"
#include "tests/fuzz/wire/input.h"

namespace {

using namespace tf;
using namespace std::chrono_literals;

constexpr int kStepsMax = 200;
constexpr std::size_t kStrikesMax = 32;
constexpr std::size_t kTransfersMax = 32;
constexpr std::size_t kMargin = 256;
constexpr std::byte kGuard{0xa5};
constexpr auto kEndTime = 10s;  // far more than any input takes

void expect(bool holds) {
  if (!holds) __builtin_trap();
}

struct Strike {
  std::size_t offset = 0;  // in the segment, of a word
  std::uint64_t value = 0;
};

// Mostly words that something depends on.
Strike take_strike(fuzz::Input& input) {
  constexpr std::array<std::size_t, 4> kRings = {shm::kClientRing, shm::kWorkerRing, shm::kClientBulk,
                                                 shm::kWorkerBulk};
  const auto where = input.take<std::uint8_t>();
  const std::size_t offset = input.take<std::uint16_t>();
  const auto value = input.take<std::uint64_t>();
  const std::size_t ring = kRings[where / 8 % kRings.size()];
  const std::size_t line = offset % 256 * kRingLineBytes;
  switch (where % 8) {
    case 0: return {ring + offset % kRingHeaderBytes / 8 * 8, value};
    case 1: return {shm::kWorkerDoorbell + offset % kDoorbellBytes / 8 * 8, value};
    case 2: return {shm::kClientDoorbell + offset % kDoorbellBytes / 8 * 8, value};
    case 3: return {ring + kRingHeaderBytes + offset % (1 << 16) / 8 * 8, value};
    case 4: return {ring + kRingHeaderBytes + line + offset / 256 % 8 * 8, value};
    // A commit word of the first lap, with any length.
    default:
      return {ring + kRingHeaderBytes + line + kRingWordOffset, ring_word(line, value & kRingLengthMask)};
  }
}

// The client's view of the segment.
class Peer {
 public:
  Peer(const net::OwnedFd& file, net::OwnedFd socket) : socket_(std::move(socket)) {
    Result<shm::Segment> segment = shm::Segment::open(file);
    void* const base = ::mmap(nullptr, shm::kSegmentBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    expect(segment.is_ok() && base != MAP_FAILED);
    base_ = static_cast<std::byte*>(base);
    segment_ = std::make_unique<shm::Segment>(std::move(*segment));
    Result<shm::Rings> rings = segment_->rings(shm::Side::kClient);
    expect(rings.is_ok());
    messages_ = std::make_unique<RingProducer>(rings->messages_out);
    bulk_ = std::make_unique<RingProducer>(rings->bulk_out);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() {
    stop();
    ::munmap(base_, shm::kSegmentBytes);
  }

  // From now on a thread repeats these.
  void start(std::vector<Strike> strikes) {
    if (strikes.empty()) return;
    thread_ = std::thread([this, all = std::move(strikes)] {
      while (!stopped_.load(std::memory_order_relaxed))
        for (const Strike& one : all) strike(one);
    });
  }
  void stop() {
    stopped_.store(true, std::memory_order_relaxed);
    if (thread_.joinable()) thread_.join();
  }
  void strike(const Strike& one) const {
    std::atomic_ref(*reinterpret_cast<std::uint64_t*>(base_ + one.offset))
        .store(one.value, std::memory_order_relaxed);
  }
  void send_message(FrameHeader header, std::size_t payload) {
    header.payload_length = payload;
    const std::span<std::byte> slot = messages_->reserve(kFrameHeaderBytes + payload);
    if (slot.empty()) return;
    write_header(header, slot.data());
    messages_->publish();
  }
  void send_chunk(const shm::ChunkHeader& header, std::size_t payload) {
    const std::span<std::byte> slot = bulk_->reserve(sizeof header + payload);
    if (slot.empty()) return;
    std::memcpy(slot.data(), &header, sizeof header);
    bulk_->publish();
  }
  void say(std::byte byte) const { static_cast<void>(::send(socket_.get(), &byte, 1, MSG_NOSIGNAL)); }
  void leave() { socket_.reset(); }

 private:
  net::OwnedFd socket_;
  std::byte* base_ = nullptr;
  std::unique_ptr<shm::Segment> segment_;
  std::unique_ptr<RingProducer> messages_, bulk_;
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

class Sink final : public MessageSink {
 public:
  Status on_message(const FrameHeader& header, std::span<const std::byte> payload) override {
    expect(header.payload_length == payload.size());
    expect(payload.size() <= kMessageBytesMax - kFrameHeaderBytes);
    expect(header.magic == kFrameMagic);
    for (const std::byte each : payload) sum_ = sum_ ^ each;  // every byte can be read
    return Status::ok();
  }

 private:
  std::byte sum_{};
};

// Memory that a transfer uses, with a margin that nobody may touch.
struct Transfer {
  explicit Transfer(std::size_t bytes) : memory(bytes + 2 * kMargin, kGuard) {}
  std::span<std::byte> target() { return std::span(memory).subspan(kMargin, memory.size() - 2 * kMargin); }
  void expect_intact() const {
    const auto intact = [](std::byte value) { return value == kGuard; };
    expect(std::all_of(memory.begin(), memory.begin() + kMargin, intact));
    expect(std::all_of(memory.end() - kMargin, memory.end(), intact));
  }
  std::vector<std::byte> memory;
  BulkCompletion completion;
  bool posted = false;
};

class Worker {
 public:
  explicit Worker(fuzz::Input input) : input_(input) {
    std::array<int, 2> ends{};
    expect(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
    net::OwnedFd own(ends[0]), other(ends[1]), file;
    Result<shm::Segment> segment = shm::Segment::create(file);
    expect(segment.is_ok());
    peer_ = std::make_unique<Peer>(file, std::move(other));
    Result<std::unique_ptr<Endpoint>> endpoint =
        shm::make_endpoint(std::move(*segment), std::move(own), shm::Side::kWorker);
    expect(endpoint.is_ok());
    endpoint_ = std::move(*endpoint);
  }

  void run() {
    std::vector<Strike> strikes(input_.take<std::uint8_t>() % (kStrikesMax + 1));
    for (Strike& each : strikes) each = take_strike(input_);
    peer_->start(std::move(strikes));
    for (int step = 0; step < kStepsMax && !input_.empty(); ++step) {
      act();
      expect(!deadline_.passed());
    }
    peer_->stop();
    peer_->leave();
    drain();
    endpoint_.reset();
    for (const Transfer& each : transfers_) {
      expect(!each.posted || each.completion.done());
      each.expect_intact();
    }
  }

 private:
  void act() {
    const auto action = input_.take<std::uint8_t>();
    switch (action % 12) {
      case 0: return peer_->strike(take_strike(input_));
      case 1: return message();
      case 2:
      case 3: return chunk(action / 12 % 4);
      case 4: return receive();
      case 5: return send();
      case 6: return static_cast<void>(endpoint_->bulk().abort(action / 12 % 4, 1));
      case 7: return reserve();
      case 8: return check(endpoint_->wait(Interest::kBoth, Deadline::after(100us)));
      case 9: return action == 249 ? peer_->say(std::byte{1}) : discard(action / 12 % 4);
      default: use();
    }
  }

  void message() {
    FrameHeader header;
    header.opcode = input_.take<std::uint16_t>();
    header.flags = input_.take<std::uint8_t>() % 16;
    peer_->send_message(header, input_.take<std::uint16_t>() % (kMessageBytesMax - kFrameHeaderBytes));
  }
  void chunk(std::uint64_t tag) {
    shm::ChunkHeader header{.tag = tag};
    const auto kind = input_.take<std::uint8_t>();
    if (kind % 16 == 0) header.flags = shm::kChunkAbort;
    if (kind % 16 == 1) header.reserved[kind / 16 % 5] = kind;
    peer_->send_chunk(header, kind % 16 == 0 ? 0 : input_.take<std::uint16_t>());
  }

  void receive() {
    if (transfers_.size() == kTransfersMax) return;
    const std::uint64_t tag = input_.take<std::uint8_t>() % 4;
    Transfer& transfer = transfers_.emplace_back(1 + input_.take<std::uint16_t>());
    transfer.posted = endpoint_->bulk().receive(tag, transfer.target(), transfer.completion).is_ok();
  }
  void send() {
    if (transfers_.size() == kTransfersMax) return;
    Transfer& transfer = transfers_.emplace_back(1 + input_.take<std::uint16_t>());
    transfer.posted = endpoint_->bulk().send(7, transfer.target(), transfer.completion).is_ok();
  }
  void discard(std::uint64_t tag) {
    if (transfers_.size() == kTransfersMax) return;
    Transfer& transfer = transfers_.emplace_back(0);
    transfer.posted =
        endpoint_->bulk().discard(tag, 1 + input_.take<std::uint32_t>(), transfer.completion).is_ok();
  }
  void reserve() {
    const std::size_t bytes = kFrameHeaderBytes + input_.take<std::uint16_t>() % 32768;
    Result<Slot> slot = endpoint_->reserve(bytes);
    if (!slot) return check(slot.status());
    expect(slot->bytes.size() == bytes);
    std::memset(slot->bytes.data(), 0, bytes);
    endpoint_->publish(*slot);
  }
  void use() {
    check(endpoint_->poll(sink_, 16).status());
    check(endpoint_->bulk().move_payload().status());
  }

  // A failure is one that a peer can cause, says what it is, and stays.
  void check(const Status& status) {
    const bool passes =
        status.is_ok() || status.code() == Code::kWouldBlock || status.code() == Code::kTimeout;
    if (passes) return;
    expect(status.code() == Code::kProtocol || status.code() == Code::kPeerLost);
    expect(!status.message().empty());
    if (!endpoint_->status().is_ok()) failed_ = true;
    if (failed_) expect(!endpoint_->status().is_ok());
  }

  // The peer is gone: its end is found, for payload that nobody takes as well.
  void drain() {
    while (endpoint_->status().is_ok()) {
      use();
      for (std::uint64_t tag = 0; tag < 4 && transfers_.size() < 2 * kTransfersMax; ++tag) {
        Transfer& rest = transfers_.emplace_back(0);
        rest.posted = endpoint_->bulk().discard(tag, 1 << 20, rest.completion).is_ok();
      }
      static_cast<void>(endpoint_->wait(Interest::kBoth, Deadline::after(1ms)));
      expect(!deadline_.passed());
    }
  }

  fuzz::Input input_;
  const Deadline deadline_ = Deadline::after(kEndTime);
  std::unique_ptr<Peer> peer_;
  std::deque<Transfer> transfers_;  // outlive the endpoint
  std::unique_ptr<Endpoint> endpoint_;
  Sink sink_;
  bool failed_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::NoneLeft none_left;
  Worker(fuzz::Input(data, size)).run();
  return 0;
}
