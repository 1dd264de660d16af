// SPDX-License-Identifier: Apache-2.0
// Dials lanes, and exchanges their proofs.
#include "transport/net/lanes.h"

#include <span>

#include "transport/net/socket.h"
#include "transport/secure/lane_proof.h"

namespace tf::net {
namespace {

template <typename T>
std::span<std::byte> bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

secure::LaneProof proof_of(const Lanes& lanes, TransportKind kind, std::uint32_t lane) {
  return {*lanes.session, lanes.token.bytes, static_cast<std::uint32_t>(kind), lane};
}

// A worker that refuses hangs up.
Status read_answer(int socket, secure::WorkersAnswer& answer, Deadline deadline) {
  Status read = read_all(socket, bytes_of(answer.nonce), deadline);
  if (read) read = read_all(socket, bytes_of(answer.proof), deadline);
  if (read.code() == Code::kPeerLost)
    return {Code::kPermission, "the worker refused a lane of this session; its log says why"};
  return read;
}

Result<secure::Proof> prove_lane(int socket, const secure::LaneProof& lane, Deadline deadline) {
  Result<secure::Nonce> nonce = secure::LaneProof::make_nonce();
  if (!nonce) return nonce.status();
  TF_RETURN_IF_ERROR(write_all(socket, bytes_of(*nonce), deadline));
  secure::WorkersAnswer answer;
  TF_RETURN_IF_ERROR(read_answer(socket, answer, deadline));
  TF_RETURN_IF_ERROR(lane.check(secure::Side::kWorker, *nonce, answer.nonce, answer.proof));
  Result<secure::Proof> proof = lane.prove(secure::Side::kClient, *nonce, answer.nonce);
  if (!proof) return proof.status();
  TF_RETURN_IF_ERROR(write_all(socket, bytes_of(*proof), deadline));
  return proof;
}

}  // namespace

Result<DialledLane> dial_lane(const Address& address, const Lanes& lanes, TransportKind kind,
                              std::uint32_t lane, Deadline deadline) {
  Attach attach{.token = lanes.token, .kind = kind, .lane = lane, .lanes = lanes.count};
  if (lanes.session != nullptr) attach.security = lanes.session->level;
  Result<OwnedFd> socket = dial_lane(address, attach, deadline);
  if (!socket) return socket.status();
  DialledLane dialled{.socket = std::move(*socket)};
  if (lanes.session == nullptr) return dialled;
  Result<secure::Proof> proof = prove_lane(dialled.socket.get(), proof_of(lanes, kind, lane), deadline);
  if (!proof) return proof.status();
  dialled.proof = *proof;
  return dialled;
}

Status accept_proof(int socket, const Lanes& lanes, Attach& attach, Deadline deadline) {
  const bool has_keys = lanes.session != nullptr;
  if (attach.security != (has_keys ? lanes.session->level : secure::Level::kNone))
    return {Code::kPermission, "a lane of another level than its session"};
  if (!has_keys) return Status::ok();
  const secure::LaneProof lane = proof_of(lanes, attach.kind, attach.lane);
  secure::Nonce clients{};
  TF_RETURN_IF_ERROR(read_all(socket, bytes_of(clients), deadline));
  Result<secure::WorkersAnswer> answer = lane.answer(clients);
  if (!answer) return answer.status();
  TF_RETURN_IF_ERROR(write_all(socket, bytes_of(answer->nonce), deadline));
  TF_RETURN_IF_ERROR(write_all(socket, bytes_of(answer->proof), deadline));
  TF_RETURN_IF_ERROR(read_all(socket, bytes_of(attach.proof), deadline));
  return lane.check(secure::Side::kClient, clients, answer->nonce, attach.proof);
}

}  // namespace tf::net
