// SPDX-License-Identifier: Apache-2.0
// Fuzz entry: HELLO in both directions, the device snapshot with it. What is decoded encodes to the same
// bytes.
#include <algorithm>
#include <vector>

#include "hipcore/wire/hello.h"
#include "input.h"

namespace {

template <typename Message>
void expect_same(tf::Result<Message> decoded, std::span<const std::byte> bytes) {
  if (!decoded) return;
  tf::Result<std::vector<std::byte>> again = tf::protocol::encode(*decoded);
  if (!again || !std::equal(again->begin(), again->end(), bytes.begin(), bytes.end())) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  expect_same(tf::protocol::decode_hello_request(bytes), bytes);
  expect_same(tf::protocol::decode_hello_reply(bytes), bytes);
  return 0;
}
