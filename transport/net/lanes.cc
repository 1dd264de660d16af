// SPDX-License-Identifier: Apache-2.0
// Dials lanes, and exchanges their proofs.
#include "transport/net/lanes.h"

#include <span>
#include <utility>

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

// The rest of a lane's proof, once the client's nonce was sent.
Result<secure::Proof> prove_lane(int socket, const secure::LaneProof& lane, const secure::Nonce& nonce,
                                 Deadline deadline) {
  secure::WorkersAnswer answer;
  TF_RETURN_IF_ERROR(read_answer(socket, answer, deadline));
  TF_RETURN_IF_ERROR(lane.check(secure::Side::kWorker, nonce, answer.nonce, answer.proof));
  Result<secure::Proof> proof = lane.prove(secure::Side::kClient, nonce, answer.nonce);
  if (!proof) return proof.status();
  TF_RETURN_IF_ERROR(write_all(socket, bytes_of(*proof), deadline));
  return proof;
}

// Attaches connections as the lanes from `first` on. Each step is taken for all of them before the next one,
// so that they wait for the worker together.
Result<std::vector<DialledLane>> attach_all(std::vector<OwnedFd> sockets, const Lanes& lanes,
                                            TransportKind kind, std::uint32_t first, Deadline deadline) {
  std::vector<DialledLane> dialled;
  std::vector<secure::Nonce> nonces;
  for (OwnedFd& socket : sockets) {
    const std::uint32_t lane = first + static_cast<std::uint32_t>(dialled.size());
    Attach attach{.token = lanes.token, .kind = kind, .lane = lane, .lanes = lanes.layout};
    if (lanes.session != nullptr) attach.security = lanes.session->level;
    TF_RETURN_IF_ERROR(write_attach(socket.get(), attach, deadline));
    dialled.push_back({.socket = std::move(socket)});
    if (lanes.session == nullptr) continue;
    Result<secure::Nonce> nonce = secure::LaneProof::make_nonce();
    if (!nonce) return nonce.status();
    TF_RETURN_IF_ERROR(write_all(dialled.back().socket.get(), bytes_of(*nonce), deadline));
    nonces.push_back(*nonce);
  }
  for (std::uint32_t index = 0; index < nonces.size(); ++index) {
    const secure::LaneProof lane = proof_of(lanes, kind, first + index);
    Result<secure::Proof> proof = prove_lane(dialled[index].socket.get(), lane, nonces[index], deadline);
    if (!proof) return proof.status();
    dialled[index].proof = *proof;
  }
  return dialled;
}

}  // namespace

Result<DialledLane> dial_lane(const Address& address, const Lanes& lanes, TransportKind kind,
                              std::uint32_t lane, Deadline deadline) {
  Result<std::vector<OwnedFd>> socket = dial_all(address, 1, deadline);
  if (!socket) return socket.status();
  Result<std::vector<DialledLane>> dialled = attach_all(std::move(*socket), lanes, kind, lane, deadline);
  if (!dialled) return dialled.status();
  return std::move(dialled->front());
}

Result<std::vector<DialledLane>> attach_lanes(std::vector<OwnedFd> sockets, const Lanes& lanes,
                                              TransportKind kind, Deadline deadline) {
  return attach_all(std::move(sockets), lanes, kind, 0, deadline);
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
