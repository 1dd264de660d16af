// SPDX-License-Identifier: Apache-2.0
// Fuzz entry: what a hostile client orders of the worker's mirror. Each order is read as the worker reads it
// and carried out on memory whose content a model knows. What is no order, or names memory that is not
// mirrored, changes nothing; what is written stands there, and nowhere else; what is found lies in what was
// asked for, once.
//
// Input: orders {u8 shape, u8 pieces, ...}; order() says what they mean.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "hipcore/mirror/order.h"
#include "tests/fuzz/descriptors.h"
#include "tests/fuzz/wire/input.h"
#include "worker/memory/host_mirror.h"

namespace {

using namespace tf;
using namespace tf::worker;
using mirror::Order;
using mirror::Piece;

constexpr int kOrdersMax = 64;
constexpr std::uint64_t kPage = mirror::kPageBytes;
constexpr std::uint64_t kPartPages = 4;
constexpr std::uint64_t kParts = 3;  // of which the one in the middle is not open
constexpr std::uint64_t kBytes = kParts * kPartPages * kPage;
constexpr std::size_t kPiecesMax = 8;

void expect(bool holds) {
  if (!holds) __builtin_trap();
}

class Memory {
 public:
  Memory() : base_(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    expect(base_ != MAP_FAILED);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { ::munmap(base_, kBytes); }
  std::uint64_t at(std::uint64_t offset) const { return reinterpret_cast<std::uint64_t>(base_) + offset; }
  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(base_), kBytes}; }

 private:
  void* const base_;
};

class Worker {
 public:
  Worker(fuzz::Input input, bool runs_on_host) : input_(input), mirror_(runs_on_host), expected_(kBytes) {
    for (const std::uint64_t part : {0, 2}) mirror_.opened(memory_.at(part * kPartBytes), kPartBytes);
  }

  void run() {
    for (int order = 0; order < kOrdersMax && !input_.empty(); ++order) {
      carry_out(message());
      expect(std::memcmp(memory_.bytes().data(), expected_.data(), kBytes) == 0);
    }
    for (const std::uint64_t part : {0, 2}) expect(mirror_.try_close(memory_.at(part * kPartBytes)));
  }

 private:
  static constexpr std::uint64_t kPartBytes = kPartPages * kPage;

  Piece piece() {
    const auto how = input_.take<std::uint8_t>();
    if (how == 0) return {input_.take<std::uint64_t>(), input_.take<std::uint64_t>()};
    const std::uint64_t offset = input_.take<std::uint16_t>() % kBytes;
    return {memory_.at(how % 2 == 0 ? offset : offset / kPage * kPage),
            input_.take<std::uint16_t>() % (2 * kPage)};
  }

  // Mostly one, in all that counts lengths.
  std::vector<std::byte> message() {
    const auto shape = input_.take<std::uint8_t>();
    if (shape % 16 == 0) {  // a device writes
      const std::uint64_t at = input_.take<std::uint16_t>() % kBytes;
      memory_.bytes()[at] = expected_[at] = input_.take<std::byte>();
    }
    if (shape % 16 == 1) {
      const std::span<const std::byte> raw = input_.take_bytes(input_.take<std::uint8_t>());
      return {raw.begin(), raw.end()};
    }
    std::vector<Piece> pieces(input_.take<std::uint8_t>() % kPiecesMax);
    for (Piece& each : pieces) each = piece();
    Order order;
    order.what = static_cast<Order::What>(shape / 16 % 4);
    order.pieces = shape % 16 == 2 ? input_.take<std::uint64_t>() : pieces.size();
    if (order.what == Order::What::kWrite)
      order.bytes = shape % 16 == 3 ? input_.take<std::uint16_t>() : bytes_of(pieces);
    std::vector<std::byte> made = mirror::order_message(order, pieces);
    const std::span<std::byte> text = std::span(made).last(order.bytes);
    std::ranges::fill(text, input_.take<std::byte>());
    if (!text.empty()) text.front() = ~text.front();
    if (shape % 16 == 4) made.resize(input_.take<std::uint16_t>() % (made.size() + 2));
    return made;
  }
  static std::uint64_t bytes_of(std::span<const Piece> pieces) {
    std::uint64_t bytes = 0;
    for (const Piece& each : pieces) bytes += std::min<std::uint64_t>(each.bytes, 4 * kPage);
    return bytes;
  }

  bool is_open(const Piece& piece) const {
    for (const std::uint64_t part : {0, 2}) {
      const std::uint64_t offset = piece.address - memory_.at(part * kPartBytes);
      if (piece.bytes != 0 && offset < kPartBytes && piece.bytes <= kPartBytes - offset) return true;
    }
    return false;
  }

  void carry_out(const std::vector<std::byte>& message) {
    mirror::OrderParts parts;
    if (!mirror::read_order(message, parts)) return;
    const auto& pieces = parts.pieces;
    expect(!pieces.empty() && pieces.size() <= mirror::kOrderPiecesMax);
    const bool are_open = std::ranges::all_of(pieces, [this](const Piece& each) { return is_open(each); });
    if (parts.order.what == Order::What::kWrite)
      write(parts, are_open);
    else
      find(pieces, are_open);
  }

  void write(const mirror::OrderParts& parts, bool are_open) {
    const bool fits = are_open && mirror::total(parts.pieces) == parts.bytes.size();
    expect(mirror_.put(parts.pieces, parts.bytes) == fits);
    const std::byte* next = parts.bytes.data();
    for (std::size_t index = 0; fits && index < parts.pieces.size(); ++index) {
      const Piece& each = parts.pieces[index];
      std::memcpy(expected_.data() + (each.address - memory_.at(0)), next, each.bytes);
      next += each.bytes;
    }
  }

  void find(std::span<const Piece> pieces, bool are_open) {
    HostMirror::Found found;
    const Status status = mirror_.find(pieces, true, found);
    if (!are_open) expect(status.code() == Code::kProtocol);
    expect(status.is_ok() || found.pieces.empty());
    expect(mirror::are_apart(found.pieces));
    for (const Piece& each : found.pieces)
      expect(std::ranges::any_of(pieces,
                                 [&](const Piece& asked) { return mirror::common(asked, each) == each; }));
  }

  fuzz::Input input_;
  const Memory memory_;
  HostMirror mirror_;
  std::vector<std::byte> expected_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::NoneLeft none_left;
  fuzz::Input input(data, size);
  const bool runs_on_host = input.take<std::uint8_t>() % 2 == 0;
  Worker(input, runs_on_host).run();
  return 0;
}
