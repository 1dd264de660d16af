// SPDX-License-Identifier: Apache-2.0
// Records: bytes of one direction of one connection, encrypted and authenticated (AEAD).
//
//   offset  size  field
//   0       4     bytes of plain text, 1..kRecordBytesMax, little-endian
//   4       4     the same number with every bit changed
//   8       n     cipher text
//   8+n     16    tag, over the first 8 bytes too
//
// The length stands there twice, so that a damaged one does not make its reader wait for bytes that never
// come. Who damages it on purpose could as well hold back bytes.
//
// The nonce is the record's number, from 0, over the key's own (as TLS 1.3 makes it), so a record that is
// missing, repeated or in another place has a wrong tag. Every kRecordsPerKey records the next key follows
// from the last, which is forgotten: no key ever protects more than 64 GiB.
//
// One thread at a time per object. Several objects of one secret can share the work: records are independent
// of each other. REQUIRES: OpenSSL is loaded (load_library()).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "transport/base/status.h"
#include "transport/secure/session.h"

namespace tf::secure {

inline constexpr std::size_t kRecordBytesMax = 64 << 10;
inline constexpr std::size_t kRecordHeaderBytes = 8;
inline constexpr std::size_t kRecordTagBytes = 16;
inline constexpr std::size_t kRecordOverhead = kRecordHeaderBytes + kRecordTagBytes;
inline constexpr std::uint64_t kRecordsPerKey = 1 << 20;

class RecordKey;  // the state of one direction

// Seals or opens records that are named by their numbers.
class RecordWorker {
 public:
  virtual ~RecordWorker() = default;
  // Record `number`, from plain text to the record or back. REQUIRES: the numbers of one object only grow,
  // and no two records that are sealed with one secret have the same number; the spans are those of seal()
  // and open().
  virtual Status work(std::uint64_t number, std::span<const std::byte> from, std::span<std::byte> to) = 0;
};

class Sealer final : public RecordWorker {
 public:
  // `per_key`: for tests.
  static Result<Sealer> make(const Secret32& secret, Cipher cipher, std::uint64_t per_key = kRecordsPerKey);
  Sealer(Sealer&&) noexcept;
  Sealer& operator=(Sealer&&) noexcept;
  ~Sealer() override;

  // Writes the next record. REQUIRES: 1 to kRecordBytesMax bytes, `record` has kRecordOverhead more, and the
  // two do not overlap.
  Status seal(std::span<const std::byte> plain, std::span<std::byte> record) {
    return work(next_++, plain, record);
  }
  Status work(std::uint64_t number, std::span<const std::byte> plain, std::span<std::byte> record) override;

 private:
  explicit Sealer(std::unique_ptr<RecordKey> key);
  std::unique_ptr<RecordKey> key_;
  std::uint64_t next_ = 0;  // for seal()
};

class Opener final : public RecordWorker {
 public:
  static Result<Opener> make(const Secret32& secret, Cipher cipher, std::uint64_t per_key = kRecordsPerKey);
  Opener(Opener&&) noexcept;
  Opener& operator=(Opener&&) noexcept;
  ~Opener() override;

  // How many bytes of plain text the record has that begins like this. kProtocol: no record does.
  static Result<std::size_t> plain_bytes(std::span<const std::byte, kRecordHeaderBytes> header);
  // Checks the next record and writes its plain text. kProtocol: it is not the one that the peer sent next;
  // then `plain` is wiped, and nothing that follows can be read. REQUIRES: `record` is one whole record, of
  // plain.size() bytes, and the two do not overlap.
  Status open(std::span<const std::byte> record, std::span<std::byte> plain) {
    return work(next_++, record, plain);
  }
  Status work(std::uint64_t number, std::span<const std::byte> record, std::span<std::byte> plain) override;

 private:
  explicit Opener(std::unique_ptr<RecordKey> key);
  std::unique_ptr<RecordKey> key_;
  std::uint64_t next_ = 0;  // for open()
};

}  // namespace tf::secure
