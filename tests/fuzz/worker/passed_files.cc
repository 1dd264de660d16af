// SPDX-License-Identifier: Apache-2.0
// Fuzz entry: a hostile client on its control connection: bytes, and descriptors of every kind with them. The
// messages are read as a session reads them, the files wait in PassedFiles, and requests map them into the
// host window. A model says beside it which numbers wait and which pages are mapped. What is no message, or
// one file too many, ends the session with a reason; what cannot be mapped leaves the window as it was; no
// address of it is ever without a mapping, for memory of the session itself would come to lie there; no
// descriptor, and nothing of the tenant's share, stays.
//
// Input: records {u8 action, ...}; act() says what they mean.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "hipcore/wire/control_message.h"
#include "tests/fuzz/descriptors.h"
#include "tests/fuzz/wire/input.h"
#include "tests/support/pageless_file.h"
#include "transport/net/socket.h"
#include "transport/net/stream.h"
#include "worker/base/runtime_library.h"
#include "worker/base/share.h"
#include "worker/memory/host_parts.h"
#include "worker/memory/host_window.h"
#include "worker/memory/passed_files.h"
#include "worker/memory/pointer_to.h"
#include "worker/session/device_facts.h"

namespace {

using namespace tf;
using namespace tf::worker;

constexpr int kStepsMax = 256;
constexpr std::size_t kOrderActions = 32;  // from this one on
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kUnit = protocol::kHostPartBytes;
constexpr std::uint64_t kUnits = 8;  // of the files' part of the window that are used here
constexpr auto kEndTime = std::chrono::seconds(10);

void expect(bool holds) {
  if (!holds) __builtin_trap();
}

struct Runtime {
  Runtime() {
    Result<RuntimeLibrary> loaded = RuntimeLibrary::load(TF_FAKE_RUNTIME);
    expect(loaded.is_ok());
    library = std::make_unique<RuntimeLibrary>(std::move(*loaded));
    snapshot = take_snapshot(*library);
    reserve_host_window(snapshot);
    expect(static_cast<bool>(share_host_window(snapshot)));
  }
  std::unique_ptr<RuntimeLibrary> library;
  protocol::WorkerSnapshot snapshot;
};

net::OwnedFd memory_file(std::uint64_t bytes, int seals) {
  net::OwnedFd file(::memfd_create("passed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  expect(::ftruncate(file.get(), static_cast<off_t>(bytes)) == 0);
  expect(::fcntl(file.get(), F_ADD_SEALS, seals) == 0);
  return file;
}

// What a client may have open. The first ones can be mapped, and do not shrink.
class Files {
 public:
  static constexpr std::size_t kGood = 2;
  Files() {
    files_.push_back(memory_file(2 * kUnit, F_SEAL_SHRINK));
    files_.push_back(memory_file(3 * kPage + 1, F_SEAL_SHRINK));
    files_.push_back(memory_file(kUnit, F_SEAL_SHRINK | F_SEAL_WRITE));
    files_.push_back(memory_file(kUnit, F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE));
    files_.push_back(memory_file(0, F_SEAL_SHRINK));
    for (const char* path : {"/dev/zero", "/dev/null", "/proc/self/stat", "/", "/proc/self/exe"})
      files_.emplace_back(::open(path, O_RDONLY | O_CLOEXEC));
    files_.emplace_back(::open("/", O_PATH | O_CLOEXEC));
    std::array<int, 2> ends{};
    expect(::pipe2(ends.data(), O_CLOEXEC) == 0);
    for (const int end : ends) files_.emplace_back(end);
    expect(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    for (const int end : ends) files_.emplace_back(end);
    if (net::OwnedFd file = test::pageless_file(kUnit)) files_.push_back(std::move(file));
  }
  int get(std::size_t index) const { return files_[index % files_.size()].get(); }

 private:
  std::vector<net::OwnedFd> files_;
};

class Session {
 public:
  Session(const Runtime& runtime, const Files& files, fuzz::Input input)
      : window_(protocol::host_files_of(runtime.snapshot.host_window)),
        input_(input),
        files_(files),
        parts_(std::make_unique<HostParts>(runtime.library->hip(), own_calls_, runtime.snapshot, addresses_,
                                           share_)) {
    std::array<int, 2> ends{};
    expect(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
    client_ = net::OwnedFd(ends[0]);
    control_ = net::OwnedFd(ends[1]);
  }

  void run() {
    for (int step = 0; step < kStepsMax && !input_.empty() && ended_.is_ok(); ++step) {
      act();
      expect(!deadline_.passed());
    }
    expect(ended_.is_ok() || !ended_.message().empty());
    while (!mapped_.empty()) unmap(mapped_.begin()->first);
    expect(share_.used_here(Counter::kHost) == 0);
    expect_whole();
  }

 private:
  void act() {
    const auto action = input_.take<std::uint8_t>();
    switch (action % 6) {
      case 0: return action / 6 < kOrderActions ? send_bytes(action / 6) : send_order();
      case 1:
      case 2: return send_file();
      case 3: return unmap(window_.base + input_.take<std::uint8_t>() % kUnits * kUnit);
      default: return map();
    }
  }

  // Anything, and descriptors with it.
  void send_bytes(std::size_t files) {
    const std::span<const std::byte> bytes = input_.take_bytes(1 + input_.take<std::uint8_t>() % 40);
    if (bytes.empty()) return;
    std::array<int, net::kFdsPerMessageMax> passed{};
    files %= passed.size() + 1;
    for (std::size_t index = 0; index < files; ++index) passed[index] = files_.get(index);
    if (net::send_with_fds(client_.get(), bytes, std::span(passed).first(files), Deadline::now()).is_ok())
      read(bytes.size());
  }

  void send_file() {
    const std::uint64_t number = input_.take<std::uint8_t>() % 32;
    const std::size_t which = input_.take<std::uint8_t>();
    const std::size_t index = which % 2 == 0 ? which / 2 % Files::kGood : which;
    if (!protocol::send_passed_file(client_.get(), number, files_.get(index), Deadline::now()).is_ok())
      return;
    is_good_[number] = index < Files::kGood;
    expected_ = number;
    read(1);
    expected_ = UINT64_MAX;
  }

  // Whatever it says, it comes as it was sent (tests/fuzz/worker/mirror_orders.cc carries them out).
  void send_order() {
    const std::span<const std::byte> order = input_.take_bytes(1 + input_.take<std::uint8_t>());
    if (order.empty() || !protocol::send_mirror_order(client_.get(), order, Deadline::now()).is_ok()) return;
    read(16 + order.size());
    if (ended_.is_ok()) expect(std::ranges::equal(ordered_, order));
  }

  // As the session's Watcher does, for as long as something has come.
  void read(std::size_t unread) {
    while (ended_.is_ok() && unread > 0) {
      Result<protocol::ControlMessage> message =
          protocol::receive_control_message(control_.get(), Deadline::now());
      if (!message) {
        expect(message.code() == Code::kProtocol || message.code() == Code::kTimeout);
        ended_ = message.status();
        return;
      }
      const bool is_file = message->kind == protocol::ControlMessage::Kind::kFile;
      expect(is_file == static_cast<bool>(message->file));
      if (expected_ != UINT64_MAX) expect(is_file && message->number == expected_);
      if (is_file) deliver(message->number, std::move(message->file));
      const bool is_order = message->kind == protocol::ControlMessage::Kind::kMirrorOrder;
      expect(is_order != message->order.empty() && message->order.size() <= protocol::kMirrorOrderMax);
      unread -= std::min<std::size_t>(unread, 16 + message->order.size());
      if (message->kind == protocol::ControlMessage::Kind::kTurnPayload)
        ended_ = read_payload(message->bytes);
      ordered_ = std::move(message->order);
    }
  }

  // Of a copy in turn: comes behind its message, and whoever takes it reads all of it.
  Status read_payload(std::uint64_t bytes) {
    expect(bytes != 0 && bytes <= protocol::kTurnPayloadMax);
    std::vector<std::byte> payload(bytes);
    return net::read_all(control_.get(), payload, Deadline::now());
  }

  void deliver(std::uint64_t number, net::OwnedFd file) {
    if (expected_ == UINT64_MAX) is_good_.erase(number);
    const bool fits = waiting_.size() < protocol::kPassedFilesMax;
    const bool is_new = waiting_.insert(number).second;
    ended_ = passed_.deliver(number, std::move(file));
    expect(ended_.is_ok() == (fits && is_new));
    expect(ended_.is_ok() || ended_.code() == (fits ? Code::kProtocol : Code::kResourceExhausted));
  }

  void map() {
    const std::uint64_t number = input_.take<std::uint8_t>() % 32;
    const std::uint64_t address = window_.base + input_.take<std::uint8_t>() % kUnits * kUnit;
    const auto shape = input_.take<std::uint8_t>();
    const std::uint64_t bytes = shape % 8 == 0 ? input_.take<std::uint64_t>() : (shape / 8 + 1) * kPage;
    const std::uint64_t offset = shape % 8 == 1 ? input_.take<std::uint64_t>() : shape % 4 * kPage;
    const net::OwnedFd file = passed_.take(number);
    expect(static_cast<bool>(file) == (waiting_.erase(number) == 1));
    if (!file) return;
    const hipError_t error = parts_->map_file(address, bytes, file.get(), offset);
    if (error != hipSuccess) return expect_whole();
    for (const auto& [other, length] : mapped_) expect(address + bytes <= other || other + length <= address);
    mapped_.emplace(address, bytes);
    expect(addresses_.find(address, bytes) != nullptr);
    if (is_good_[number]) touch(address, bytes);
  }

  static void touch(std::uint64_t address, std::uint64_t bytes) {
    auto* const memory = static_cast<volatile std::byte*>(pointer_to(address));
    for (std::uint64_t at = 0; at < bytes; at += kPage) memory[at] = std::byte{1};
  }

  void unmap(std::uint64_t address) {
    const bool is_mapped = mapped_.erase(address) == 1;
    expect((parts_->unmap_file(address) == hipSuccess) == is_mapped);
    if (is_mapped) expect_whole();
  }

  // Fails where nothing is mapped.
  void expect_whole() const {
    static std::array<unsigned char, kUnits * kUnit / kPage> pages;
    expect(::mincore(pointer_to(window_.base), kUnits * kUnit, pages.data()) == 0);
  }

  const protocol::AddressWindow window_;
  fuzz::Input input_;
  const Files& files_;
  const Deadline deadline_ = Deadline::after(kEndTime);
  net::OwnedFd client_;
  net::OwnedFd control_;
  AddressMap addresses_;
  Share share_;
  OwnCalls own_calls_{nullptr};
  std::unique_ptr<HostParts> parts_;
  PassedFiles passed_;
  Status ended_;
  std::vector<std::byte> ordered_;       // by the last message
  std::uint64_t expected_ = UINT64_MAX;  // the number of the file that comes next; UINT64_MAX: anything may
  std::set<std::uint64_t> waiting_;
  std::map<std::uint64_t, bool> is_good_;          // whether it can be touched, by number
  std::map<std::uint64_t, std::uint64_t> mapped_;  // address -> bytes
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Runtime& runtime = *new Runtime;  // threads of the fake runtime outlive statics
  static const Files files;
  const fuzz::NoneLeft none_left;
  Session(runtime, files, fuzz::Input(data, size)).run();
  return 0;
}
