// SPDX-License-Identifier: Apache-2.0
// Fuzz entry: the frame header, the attach frame, and the Reader under an arbitrary program of reads. What is
// accepted is what would have been written.
#include <array>
#include <cstring>
#include <string>

#include "input.h"
#include "transport/base/codec.h"
#include "transport/frame.h"
#include "transport/net/attach.h"

namespace {

constexpr std::uint64_t kPayloadMax = 4096;
constexpr std::size_t kTextMax = 64;

void read_fields(tf::fuzz::Input program, std::span<const std::byte> source) {
  tf::Reader reader(source);
  std::size_t before = reader.remaining();
  std::array<std::byte, 16> block;
  while (!program.empty()) {
    switch (program.take<std::uint8_t>() % 6) {
      case 0: static_cast<void>(reader.get<std::uint8_t>()); break;
      case 1: static_cast<void>(reader.get<std::uint64_t>()); break;
      case 2: static_cast<void>(reader.flag()); break;
      case 3:
        if (reader.text(kTextMax).size() > kTextMax) __builtin_trap();
        break;
      case 4:
        if (reader.count(1u << 20, 4) * 4 > reader.remaining()) __builtin_trap();
        break;
      default: reader.bytes(block);
    }
    if (reader.remaining() > before) __builtin_trap();
    before = reader.remaining();
  }
  if (reader.finish().is_ok() && reader.remaining() != 0) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tf::fuzz::Input input(data, size);
  auto header = tf::read_header(input.rest(), kPayloadMax);
  if (header) {
    std::array<std::byte, tf::kFrameHeaderBytes> again;
    tf::write_header(*header, again.data());
    if (std::memcmp(again.data(), data, again.size()) != 0) __builtin_trap();
    if (header->payload_length > kPayloadMax) __builtin_trap();
  }
  std::array<std::byte, tf::net::kAttachFrameBytes> frame{};
  std::copy_n(reinterpret_cast<const std::byte*>(data), std::min(size, frame.size()), frame.begin());
  auto attach = tf::net::decode_attach(frame);
  if (attach && attach->token.is_zero() != (attach->kind == tf::net::TransportKind::kControl))
    __builtin_trap();
  const std::span<const std::byte> program = input.take_bytes(size / 4);
  read_fields({reinterpret_cast<const std::uint8_t*>(program.data()), program.size()}, input.rest());
  return 0;
}
