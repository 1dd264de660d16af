// SPDX-License-Identifier: Apache-2.0
// Moves the bytes of handshakes and of lanes' proofs, without waiting.
#include "worker/supervisor/prover.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <span>

namespace tf::worker {
namespace {

// At least one byte, or kWouldBlock.
Result<std::size_t> receive_some(int socket, std::span<std::byte> bytes) {
  for (;;) {
    const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got > 0) return static_cast<std::size_t>(got);
    if (got == 0) return Status(Code::kPeerLost, "it was closed before its key was proven");
    if (errno == EINTR) continue;
    if (errno == EAGAIN) return would_block();
    return Status::from_errno("recv", errno);
  }
}

// A fresh socket has room for all that a worker says before its client is proven.
Status send_now(int socket, std::span<const std::byte> bytes) {
  if (bytes.empty()) return Status::ok();
  ssize_t sent = -1;
  do sent = ::send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  if (sent == static_cast<ssize_t>(bytes.size())) return Status::ok();
  return {Code::kPeerLost, "it does not take what the worker answers"};
}

}  // namespace

Status ControlProver::answer(int socket) {
  const Status sent = send_now(socket, handshake_->to_send());
  handshake_->to_send().clear();
  return sent;
}

Status ControlProver::step(int socket) {
  std::array<std::byte, 4096> buffer;
  while (!handshake_->done()) {
    const Result<std::size_t> got = receive_some(socket, buffer);
    if (!got) return got.status();
    const Status taken = handshake_->take(std::span(buffer).first(got.value()));
    const Status sent = answer(socket);  // a refusal, too
    if (!taken) return taken;
    TF_RETURN_IF_ERROR(sent);
  }
  return Status::ok();
}

std::optional<ProvenClient> ControlProver::client() const {
  if (!handshake_->done() || handshake_->peer() == nullptr) return std::nullopt;
  return ProvenClient{.key = *handshake_->peer(),
                      .tenant = tenant_,
                      .whom = whom_,
                      .session = std::make_shared<const secure::Session>(handshake_->session())};
}

Status LaneProver::step(int socket) {
  for (;;) {
    while (have_ < part_.size()) {
      const Result<std::size_t> got = receive_some(socket, std::span(part_).subspan(have_));
      if (!got) return got.status();
      have_ += got.value();
    }
    if (answer_) {
      std::memcpy(proof_.data(), part_.data(), proof_.size());
      return lane_.check(secure::Side::kClient, clients_, answer_->nonce, proof_);
    }
    std::memcpy(clients_.data(), part_.data(), clients_.size());
    have_ = 0;
    const Result<secure::WorkersAnswer> answer = lane_.answer(clients_);
    if (!answer) return answer.status();
    answer_ = answer.value();
    std::array<std::byte, sizeof answer_->nonce + sizeof answer_->proof> bytes;
    std::memcpy(bytes.data(), answer_->nonce.data(), answer_->nonce.size());
    std::memcpy(bytes.data() + answer_->nonce.size(), answer_->proof.data(), answer_->proof.size());
    TF_RETURN_IF_ERROR(send_now(socket, bytes));
  }
}

}  // namespace tf::worker
