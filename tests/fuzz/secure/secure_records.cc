// SPDX-License-Identifier: Apache-2.0
// Fuzz entry: sealed records and handshakes of a hostile peer, who has no key. No record opens that was not
// sealed, and no handshake comes to an end.
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "transport/secure/handshake.h"
#include "transport/secure/records.h"

namespace {

using tf::secure::kRecordHeaderBytes;
using tf::secure::kRecordOverhead;

std::shared_ptr<const tf::secure::Identity> identity(tf::secure::Side side) {
  tf::Result<tf::secure::SecretKey> key = tf::secure::generate_key();
  if (!key) __builtin_trap();
  tf::Result<std::shared_ptr<const tf::secure::Identity>> made = tf::secure::Identity::make(*key, side);
  if (!made) __builtin_trap();
  return *made;
}

void try_records(std::span<const std::byte> bytes) {
  tf::secure::Secret32 secret;
  secret.data()[0] = 1;
  tf::Result<tf::secure::Opener> opener =
      tf::secure::Opener::make(secret, tf::secure::Cipher::kChaCha20Poly1305);
  if (!opener) __builtin_trap();
  while (bytes.size() >= kRecordOverhead) {
    tf::Result<std::size_t> plain = tf::secure::Opener::plain_bytes(bytes.first<kRecordHeaderBytes>());
    if (!plain || *plain + kRecordOverhead > bytes.size()) return;
    std::vector<std::byte> text(*plain, std::byte{1});
    if (opener->open(bytes.first(*plain + kRecordOverhead), text).is_ok()) __builtin_trap();
    for (const std::byte byte : text)
      if (byte != std::byte{0}) __builtin_trap();
    bytes = bytes.subspan(*plain + kRecordOverhead);
  }
}

void try_handshake(tf::secure::Handshake& handshake, std::span<const std::byte> bytes) {
  tf::Status status = handshake.take({});
  while (status.is_ok() && !bytes.empty()) {
    const std::size_t part = std::min<std::size_t>(bytes.size(), 1 + static_cast<unsigned char>(bytes[0]));
    status = handshake.take(bytes.first(part));
    bytes = bytes.subspan(part);
  }
  if (handshake.done() || handshake.peer() != nullptr) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tf::secure;  // NOLINT
  static const auto client = identity(Side::kClient);
  static const auto worker = identity(Side::kWorker);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  try_records(bytes);
  const auto ours =
      Handshake::worker(worker, [](const PublicKey&, Level level) { return tf::Result<Level>(level); });
  const auto theirs =
      Handshake::client(client, Level::kEncrypt, [](const PublicKey&) { return tf::Status::ok(); });
  if (!ours || !theirs) __builtin_trap();
  try_handshake(*ours.value(), bytes);
  try_handshake(*theirs.value(), bytes);
  return 0;
}
