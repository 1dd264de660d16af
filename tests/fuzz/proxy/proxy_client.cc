// SPDX-License-Identifier: Apache-2.0
// Fuzz entry: a whole client, over loopback, whose worker answers with arbitrary bytes. Each call of the
// client ends, with a result or an error; nothing crashes or hangs, and memory that is not the copy's stays
// as it is.
//
// Input: one record for each message of the client, {u8 action, ...}; HostileWorker::act() says what it
// means. Once the input is used up, or the client waits for what does not come, the worker dies.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <thread>
#include <tuple>
#include <vector>

#include "hipcore/wire/gen/messages.h"
#include "proxy/client/client.h"
#include "proxy/copy/engine.h"
#include "tests/fuzz/wire/input.h"
#include "tests/unit/proxy/fake_worker.h"
#include "transport/loopback.h"

namespace {

using namespace tf;
using namespace std::chrono_literals;

constexpr std::uint64_t kMemoryBytes = 1 << 24;
constexpr std::uint64_t kLease =
    0x7000'0000'0000;            // nobody's memory: device addresses are names for a client
constexpr auto kSilence = 20ms;  // then the client waits for an answer that was swallowed
constexpr auto kEndTime = 30s;   // far more than any session of this size takes
constexpr std::size_t kSmall = 100;
constexpr std::size_t kLarge = 40'000;  // does not fit into a message
constexpr std::byte kGuard{0xa5};

class HostileWorker final : private MessageSink {
 public:
  HostileWorker(std::unique_ptr<Endpoint> endpoint, net::OwnedFd control, fuzz::Input input)
      : endpoint_(std::move(endpoint)),
        control_(std::move(control)),
        input_(input),
        thread_([this] { run(); }) {}
  ~HostileWorker() { thread_.join(); }

 private:
  struct Message {
    FrameHeader header;
    std::vector<std::byte> payload;
  };
  // Payload under way: the endpoint has the memory until it is done.
  struct Sending {
    std::vector<std::byte> bytes;
    BulkCompletion completion;
  };

  Status on_message(const FrameHeader& header, std::span<const std::byte> payload) override {
    heard_.push_back({header, {payload.begin(), payload.end()}});
    return Status::ok();
  }

  void run() {
    Deadline silence = Deadline::after(kSilence);
    while (!input_.empty() && !silence.passed()) {
      if (!endpoint_->poll(*this, 16) || !endpoint_->bulk().move_payload()) break;
      if (!heard_.empty()) silence = Deadline::after(kSilence);
      for (; !heard_.empty() && !input_.empty(); heard_.pop_front()) act(heard_.front());
      static_cast<void>(endpoint_->wait(Interest::kBoth, Deadline::after(1ms)));
    }
    endpoint_.reset();
    control_.reset();
  }

  // What comes of one message. The low bits say what is done before the answer, the high ones what answer.
  void act(const Message& message) {
    const auto action = input_.take<std::uint8_t>();
    remember_tag(message);
    if ((action & 1) != 0) send_anything();
    if ((action & 2) != 0) send_payload((action & 4) != 0);
    if ((action & 8) != 0) write_control();
    const unsigned answer = action >> 5;
    if (answer == 0) return;  // swallowed
    FrameHeader header = answer_to(message.header);
    if (answer == 1) header.request_id += input_.take<std::uint8_t>();
    if (answer == 2) header.opcode = input_.take<std::uint16_t>();
    if (answer == 3) header.flags = input_.take<std::uint32_t>();
    if (message.header.has(kFlagNoReply) && answer > 3) return;
    send(header, answer < 6 ? arbitrary_answer() : good_answer(message));
  }

  static FrameHeader answer_to(const FrameHeader& header) {
    FrameHeader answer;
    answer.opcode = header.opcode;
    answer.request_id = header.request_id;
    answer.flags = kFlagResponse;
    return answer;
  }

  std::vector<std::byte> arbitrary_answer() {
    const std::span<const std::byte> bytes = input_.take_bytes(input_.take<std::uint8_t>());
    return {bytes.begin(), bytes.end()};
  }

  // As a worker answers; the client sees memory, and success with zeros in everything else.
  static std::vector<std::byte> good_answer(const Message& message) {
    std::vector<std::byte> bytes(sizeof(protocol::ReplyPrefix));
    if (message.header.opcode != static_cast<std::uint16_t>(protocol::Op::kLeaseMemory)) return bytes;
    protocol::LeaseMemoryReply lease;
    lease.address = kLease;
    lease.bytes = 1 << 20;
    const auto more = std::as_bytes(std::span(&lease, 1));
    bytes.insert(bytes.end(), more.begin(), more.end());
    return bytes;
  }

  void remember_tag(const Message& message) {
    protocol::CopyFromDeviceRequest request;
    if (message.header.opcode != static_cast<std::uint16_t>(protocol::Op::kCopyFromDevice) ||
        message.payload.size() != sizeof request)
      return;
    std::memcpy(&request, message.payload.data(), sizeof request);
    tag_ = request.tag;
    asked_ = static_cast<std::size_t>(std::min<std::uint64_t>(request.bytes, kLarge));
  }

  void send_anything() {
    FrameHeader header;
    header.opcode = input_.take<std::uint16_t>();
    header.flags = input_.take<std::uint32_t>();
    header.request_id = input_.take<std::uint8_t>();
    send(header, arbitrary_answer());
  }

  // All that was asked for, or what the input says.
  void send_payload(bool right) {
    const std::uint64_t tag = right ? tag_ : tag_ + input_.take<std::uint8_t>();
    if (!right && input_.take<std::uint8_t>() % 4 == 0)
      return static_cast<void>(endpoint_->bulk().abort(tag, input_.take<std::uint32_t>()));
    auto& sending = *sendings_.emplace_back(std::make_unique<Sending>());
    sending.bytes.resize(right ? asked_ : input_.take<std::uint16_t>());
    if (sending.bytes.empty()) return;
    static_cast<void>(endpoint_->bulk().send(tag, sending.bytes, sending.completion));
  }

  void write_control() {
    const std::span<const std::byte> bytes = input_.take_bytes(input_.take<std::uint8_t>());
    static_cast<void>(::send(control_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
  }

  void send(FrameHeader header, std::span<const std::byte> payload) {
    header.payload_length = payload.size();
    const Result<Slot> slot = endpoint_->reserve(kFrameHeaderBytes + payload.size());
    if (!slot) return;  // the client does not listen any more, or has too much to read
    write_header(header, slot.value().bytes.data());
    std::ranges::copy(payload, slot.value().bytes.begin() + kFrameHeaderBytes);
    endpoint_->publish(slot.value());
  }

  std::vector<std::unique_ptr<Sending>> sendings_;
  std::unique_ptr<Endpoint> endpoint_;  // before what it sends goes
  net::OwnedFd control_;
  fuzz::Input input_;
  std::deque<Message> heard_;
  std::uint64_t tag_ = 0;
  std::size_t asked_ = 0;
  std::thread thread_;
};

// Host memory with a margin that no copy may touch.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes) : bytes_(bytes), memory_(bytes + 2 * kMargin, kGuard) {}
  ~Guarded() {
    const auto intact = [](std::byte value) { return value == kGuard; };
    const auto first = memory_.begin();
    if (!std::all_of(first, first + kMargin, intact) ||
        !std::all_of(memory_.end() - kMargin, memory_.end(), intact))
      __builtin_trap();
  }
  std::byte* data() { return memory_.data() + kMargin; }
  std::size_t size() const { return bytes_; }

 private:
  static constexpr std::ptrdiff_t kMargin = 4096;
  std::size_t bytes_;
  std::vector<std::byte> memory_;
};

// What a program does; whether it fails does not matter.
void use(proxy::Client& client) {
  const proxy::CopyMode waits{0, 0, true};
  const proxy::CopyMode asynchronous{0, 0, false};
  Guarded small(kSmall);
  Guarded large(kLarge);
  std::uint64_t address = 0;
  static_cast<void>(client.device_memory().allocate(0, 2 * kLarge, address));
  auto* const device = reinterpret_cast<void*>(address);
  for (const proxy::CopyMode& mode : {waits, asynchronous, waits})
    for (Guarded* host : {&small, &large}) {
      static_cast<void>(
          copy(client.copies(), mode, device, host->data(), host->size(), hipMemcpyHostToDevice));
      static_cast<void>(
          copy(client.copies(), mode, host->data(), device, host->size(), hipMemcpyDeviceToHost));
    }
  protocol::StreamGetFlagsRequest flags{};
  protocol::StreamGetFlagsReply answer{};
  static_cast<void>(client.connection().call(0, flags, answer));
  protocol::SynchronizeStreamRequest synchronize{};
  static_cast<void>(client.connection().synchronized_stream(0, 0, client.connection().call(0, synchronize)));
  static_cast<void>(client.free_block(address));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::unique_ptr<Endpoint> client_end;
  std::unique_ptr<Endpoint> worker_end;
  std::tie(client_end, worker_end) = make_loopback_pair();
  std::array<int, 2> control = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, control.data()) != 0)
    __builtin_trap();
  proxy::Connected parts;
  parts.endpoint = std::move(client_end);
  parts.control = net::OwnedFd(control[1]);
  parts.snapshot = proxy::fake_snapshot(kMemoryBytes);
  HostileWorker worker(std::move(worker_end), net::OwnedFd(control[0]), fuzz::Input(data, size));
  const auto start = std::chrono::steady_clock::now();
  {
    proxy::Client client(std::move(parts));
    use(client);
  }
  if (std::chrono::steady_clock::now() - start > kEndTime) __builtin_trap();
  return 0;
}
