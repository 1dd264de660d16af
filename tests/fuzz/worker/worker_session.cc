// SPDX-License-Identifier: Apache-2.0
// Fuzz entry: arbitrary requests of every kind to a worker's session over loopback, on the fake runtime. The
// session answers or ends; it never crashes, never hangs.
//
// Input: records {u16 opcode, u8 shape, u8 length, bytes}. The shape says whether the payload is cut or
// padded to the opcode's own size (most are, or nothing would get past the size check) and whether the client
// waits. So that requests meet real objects, an 8-byte word of a payload whose top byte is kAddressMark
// becomes an address inside a lease, one of kHandleMark a handle of low numbers, and one of kHostMark an
// address of the host window.
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>
#include <tuple>
#include <vector>

#include "hipcore/wire/gen/messages.h"
#include "hipcore/wire/handle.h"
#include "tests/fuzz/wire/input.h"
#include "transport/loopback.h"
#include "worker/base/runtime_library.h"
#include "worker/gen/dispatch.h"
#include "worker/memory/host_window.h"
#include "worker/session/device_facts.h"
#include "worker/session/executor.h"

namespace {

using namespace tf;
using namespace std::chrono_literals;

constexpr std::uint8_t kAddressMark = 0x7e;
constexpr std::uint8_t kHandleMark = 0x7d;
constexpr std::uint8_t kHostMark = 0x7c;
constexpr std::uint64_t kLeaseBytes = 1u << 20;
constexpr auto kEndTime = 20s;  // far more than any session of this size takes

struct Runtime {
  Runtime() {
    ::setenv("FAKE_MEMORY", "16777216", 1);  // what a hostile lease may take
    Result<worker::RuntimeLibrary> loaded = worker::RuntimeLibrary::load(TF_FAKE_RUNTIME);
    if (!loaded) __builtin_trap();
    library = std::make_unique<worker::RuntimeLibrary>(std::move(*loaded));
    snapshot = worker::take_snapshot(*library);
    worker::reserve_windows(library->hip(), library->optional().vmm, snapshot);
    worker::reserve_host_window(snapshot);
    worker::mirror_host_window(snapshot);
  }
  std::unique_ptr<worker::RuntimeLibrary> library;
  protocol::WorkerSnapshot snapshot;
};

// The sizes that requests have, smallest first, tried in the order of the shape.
constexpr std::size_t kRequestBytes[] = {8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 96, 112, 128};

class Replies final : public MessageSink {
 public:
  Status on_message(const FrameHeader& header, std::span<const std::byte> payload) override {
    if (header.payload_length != payload.size()) __builtin_trap();
    if (!header.has(kFlagResponse)) return Status::ok();
    if (payload.size() < sizeof(protocol::ReplyPrefix)) __builtin_trap();
    if (header.opcode == static_cast<std::uint16_t>(protocol::Op::kLeaseMemory) &&
        payload.size() == sizeof(protocol::ReplyPrefix) + sizeof(protocol::LeaseMemoryReply)) {
      protocol::LeaseMemoryReply reply;
      std::memcpy(&reply, payload.data() + sizeof(protocol::ReplyPrefix), sizeof reply);
      address = reply.address;
    }
    return Status::ok();
  }
  std::uint64_t address = 0;
};

class Client {
 public:
  explicit Client(Endpoint& endpoint) : endpoint_(endpoint) {}

  void send(std::uint16_t opcode, std::uint32_t flags, std::span<const std::byte> payload) {
    const Deadline deadline = Deadline::after(kEndTime);
    for (;;) {
      Result<Slot> slot = endpoint_.reserve(kFrameHeaderBytes + payload.size());
      if (slot) {
        FrameHeader header;
        header.opcode = opcode;
        header.flags = flags;
        header.request_id = ++next_id_;
        header.payload_length = payload.size();
        write_header(header, slot->bytes.data());
        std::copy(payload.begin(), payload.end(), slot->bytes.begin() + kFrameHeaderBytes);
        return endpoint_.publish(*slot);
      }
      if (slot.code() != Code::kWouldBlock) return;  // the session has ended
      if (deadline.passed()) __builtin_trap();
      drain();
      static_cast<void>(endpoint_.wait(Interest::kMessages, Deadline::after(1ms)));
    }
  }
  void drain() { static_cast<void>(endpoint_.poll(replies, 64)); }

  Replies replies;

 private:
  Endpoint& endpoint_;
  std::uint32_t next_id_ = 0;
};

void make_meaningful(std::span<std::byte> payload, std::uint64_t lease, std::uint64_t host_window) {
  for (std::size_t at = 0; at + 8 <= payload.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, payload.data() + at, sizeof word);
    const auto mark = static_cast<std::uint8_t>(word >> 56);
    if (mark == kAddressMark) word = lease + word % kLeaseBytes;
    // Often where a part may start.
    if (mark == kHostMark)
      word = host_window + (word % 2 == 0 ? word % 8 * protocol::kHostPartBytes : word % kLeaseBytes);
    if (mark == kHandleMark)
      word = protocol::Handle(static_cast<protocol::HandleKind>(1 + (word >> 8) % 10), 0,
                              static_cast<std::uint32_t>(word % 4))
                 .raw();
    std::memcpy(payload.data() + at, &word, sizeof word);
  }
}

void lease_something(Client& client) {
  protocol::LeaseMemoryRequest request{};
  request.bytes = kLeaseBytes;
  client.send(static_cast<std::uint16_t>(protocol::Op::kLeaseMemory), 0,
              std::as_bytes(std::span(&request, 1)));
  for (int round = 0; round < 2000 && client.replies.address == 0; ++round) {
    client.drain();
    std::this_thread::yield();
  }
}

void attack(Client& client, fuzz::Input input, std::uint64_t host_window) {
  lease_something(client);
  while (!input.empty()) {
    const auto opcode = input.take<std::uint16_t>();
    const auto shape = input.take<std::uint8_t>();
    const auto length = input.take<std::uint8_t>();
    const std::span<const std::byte> bytes = input.take_bytes(length);
    std::vector<std::byte> payload(bytes.begin(), bytes.end());
    if ((shape & 0x10) == 0) payload.resize(kRequestBytes[shape % std::size(kRequestBytes)]);
    make_meaningful(payload, client.replies.address, host_window);
    const std::uint32_t no_reply = (shape & 0x20) != 0 ? 0 : kFlagNoReply;
    const std::uint32_t device = (shape & 0xc0) == 0xc0 ? 1u << kDeviceShift : 0;
    client.send(opcode, no_reply | device, payload);
    client.drain();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Runtime& runtime = *new Runtime;  // threads of the fake runtime outlive statics
  std::unique_ptr<Endpoint> client_end;
  std::unique_ptr<Endpoint> worker_end;
  std::tie(client_end, worker_end) = make_loopback_pair();
  auto session = std::make_unique<worker::Executor>(
      worker::SessionSetup{runtime.library->hip(), runtime.library->optional(), runtime.snapshot,
                           *worker_end},
      worker::dispatch_table());
  std::atomic<bool> ended{false};
  std::thread executor([&] {
    static_cast<void>(session->run());
    ended.store(true, std::memory_order_release);  // pairs with the load below
  });
  {
    Client client(*client_end);
    attack(client, fuzz::Input(data, size), runtime.snapshot.host_window.base);
  }
  client_end.reset();  // whatever it waits for does not come any more
  const Deadline deadline = Deadline::after(kEndTime);
  while (!ended.load(std::memory_order_acquire)) {  // pairs with the executor's store
    if (deadline.passed()) __builtin_trap();
    std::this_thread::sleep_for(100us);
  }
  executor.join();
  session.reset();
  return 0;
}
