// SPDX-License-Identifier: Apache-2.0
// How the tcp transport does its I/O. Plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transport/base/status.h"
#include "transport/net/address.h"
#include "transport/net/io_timeout.h"

namespace tf::tcp {

enum class EngineKind {
  kAuto,   // per lane, the engine that measured faster; see engine.h
  kUring,  // io_uring for every lane, or an error where it is not possible
  kPoll,   // non-blocking system calls and poll(2)
};

// What the io_uring engine may use. A feature that the kernel lacks is off in any case.
struct UringFeatures {
  bool multishot_receive = true;  // one armed receive with provided buffers for many arrivals (message lane)
  // SEND_ZC for large bulk bodies, until the kernel reports that it copied anyway (zero_copy.h). Off by
  // default (TF_TCP_FEATURES turns it on): it is slower than copying on loopback and veth
  // (docs/performance-log.md) and was never measured on a real link, and a copy to the device frees its
  // memory a round trip later.
  bool zero_copy_send = false;
  bool registered_files = true;  // the socket is registered with the ring
};

struct Options {
  EngineKind engine = EngineKind::kAuto;
  UringFeatures features;
  // How long a dead host may go unnoticed.
  std::chrono::milliseconds peer_timeout = net::kIoTimeout;
  // Sealed records travel (sealed_io.h), whose reader does not know how much is coming, and whose memory is
  // used again at once: no receive waits until its memory is full, and no send is zero-copy.
  bool records = false;
  // Threads that help to encrypt, and as many that help to decrypt, for each connection with payload. Unset:
  // default_crypto_helpers().
  std::optional<unsigned> crypto_helpers = 0;
  // Connections, each with a thread at both ends, that large payload goes over at once. 1: it shares one with
  // small payload, and needs no threads. The client's choice; a worker takes what its clients open.
  unsigned payload_lanes = 1;
  // Other addresses of the worker, which those connections go to (rails.h). The client's.
  std::vector<net::Address> rails;
  // The loss of one of them ends nothing while another one is left. The client's choice, as their number; it
  // is made with rails.
  bool recoverable = false;
  std::string congestion;  // congestion.h
};

inline constexpr unsigned kPayloadLanesMax = 8;

// The connections of an endpoint, by number: messages, bulk, then one for each payload lane, if those are not
// one, and the last one for receipts, if payload lanes are recoverable.
inline constexpr unsigned kMessageConnection = 0;
inline constexpr unsigned kBulkConnection = 1;
inline constexpr unsigned kConnectionsMin = 2;
inline constexpr unsigned kConnectionsMax = kConnectionsMin + kPayloadLanesMax + 1;

struct Layout {
  unsigned payload_lanes = 1;
  bool recoverable = false;

  constexpr bool has_pieces() const { return payload_lanes > 1 || recoverable; }
  constexpr unsigned connections() const {
    return kConnectionsMin + (has_pieces() ? payload_lanes : 0) + (recoverable ? 1 : 0);
  }
  constexpr bool is_piece(unsigned number) const {
    return has_pieces() && number >= kConnectionsMin && number < kConnectionsMin + payload_lanes;
  }
  // What each attach frame says in `lanes` (transport/net/attach.h): connections, and whether payload lanes
  // are recoverable.
  std::uint32_t to_attach() const;
  // kProtocol: no endpoint is like that.
  static Result<Layout> from_attach(std::uint32_t lanes);
};

inline constexpr unsigned kCryptoHelpersMax = 8;

// From TF_TCP_ENGINE (auto, uring, poll), TF_TCP_FEATURES (multishot, send_zc, files, separated by commas;
// unset: multishot,files), TF_TCP_CRYPTO_THREADS (0 to kCryptoHelpersMax),
// TF_TCP_LANES (1 to kPayloadLanesMax; unset: default_payload_lanes()), TF_TCP_RAILS (parse_rails()),
// TF_TCP_CONGESTION (congestion.h) and TF_IO_TIMEOUT (seconds). Unknown text is kInvalidArgument.
Result<Options> options_from_environment();
Result<std::optional<unsigned>> parse_crypto_helpers(std::string_view text);
// How many pay off for each of `payload_lanes` connections. A lane with a helper keeps two threads busy at
// each end, and both ends may be on this host, so it needs four of the processors that this process may use.
// More than four lanes are not faster with helpers (docs/performance-log.md, 2026-11-30). The default number
// of lanes is too large for helpers: TF_TCP_LANES=2 to 4 has them.
unsigned default_crypto_helpers(unsigned payload_lanes, unsigned processors);
Result<unsigned> parse_payload_lanes(std::string_view text);
// Three for eight processors that this process may use, where both ends may be on one host; the rest is the
// program's. One where there are fewer than six.
unsigned default_payload_lanes();
// Hosts, with or without a port, separated by commas; at most kPayloadLanesMax. Without a port they get that
// of the worker's address, which is not known yet: 0.
Result<std::vector<net::Address>> parse_rails(std::string_view text);
Result<EngineKind> parse_engine(std::string_view text);
Result<UringFeatures> parse_features(std::string_view text);

}  // namespace tf::tcp
