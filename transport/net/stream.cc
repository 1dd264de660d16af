// SPDX-License-Identifier: Apache-2.0
// Seals what is written to a stream, and opens what is read.
#include "transport/net/stream.h"

#include <algorithm>

#include "transport/net/records.h"
#include "transport/net/socket.h"

namespace tf::net {

Result<std::unique_ptr<Records>> Records::make(const secure::Session& session, secure::Side own) {
  const Result<secure::Secret32> outgoing = secure::control_secret(session, own);
  if (!outgoing) return outgoing.status();
  const Result<secure::Secret32> incoming = secure::control_secret(session, secure::other(own));
  if (!incoming) return incoming.status();
  Result<secure::Sealer> sealer = secure::Sealer::make(outgoing.value(), session.cipher);
  if (!sealer) return sealer.status();
  Result<secure::Opener> opener = secure::Opener::make(incoming.value(), session.cipher);
  if (!opener) return opener.status();
  return std::unique_ptr<Records>(new Records(std::move(*sealer), std::move(*opener)));
}

Status Records::write(int socket, std::span<const std::byte> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const std::span<const std::byte> part = bytes.first(std::min(bytes.size(), secure::kRecordBytesMax));
    out_.resize(part.size() + secure::kRecordOverhead);
    TF_RETURN_IF_ERROR(sealer_.seal(part, out_));
    TF_RETURN_IF_ERROR(write_all(socket, out_, deadline));
    bytes = bytes.subspan(part.size());
  }
  return Status::ok();
}

Status Records::receive_record(int socket, Deadline deadline) {
  in_.resize(secure::kRecordHeaderBytes);
  TF_RETURN_IF_ERROR(read_all(socket, in_, deadline));
  const Result<std::size_t> bytes =
      secure::Opener::plain_bytes(std::span(in_).first<secure::kRecordHeaderBytes>());
  if (!bytes) return bytes.status();
  in_.resize(bytes.value() + secure::kRecordOverhead);
  TF_RETURN_IF_ERROR(read_all(socket, std::span(in_).subspan(secure::kRecordHeaderBytes), deadline));
  plain_.resize(bytes.value());
  taken_ = plain_.size();
  TF_RETURN_IF_ERROR(opener_.open(in_, plain_));
  taken_ = 0;
  return Status::ok();
}

Status Records::read(int socket, std::span<std::byte> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    if (taken_ == plain_.size()) TF_RETURN_IF_ERROR(receive_record(socket, deadline));
    const std::size_t count = std::min(bytes.size(), plain_.size() - taken_);
    std::copy_n(plain_.begin() + static_cast<std::ptrdiff_t>(taken_), count, bytes.begin());
    taken_ += count;
    bytes = bytes.subspan(count);
  }
  return Status::ok();
}

Status write_all(const Stream& stream, std::span<const std::byte> bytes, Deadline deadline) {
  if (stream.records == nullptr) return write_all(stream.socket, bytes, deadline);
  return stream.records->write(stream.socket, bytes, deadline);
}

Status read_all(const Stream& stream, std::span<std::byte> bytes, Deadline deadline) {
  if (stream.records == nullptr) return read_all(stream.socket, bytes, deadline);
  return stream.records->read(stream.socket, bytes, deadline);
}

}  // namespace tf::net
