// SPDX-License-Identifier: Apache-2.0
// kProtocolHash: what HELLO compares. Two builds with the same one understand each other: the requests and
// replies of the queue (gen/schema.h), and what travels beside them on the control connection.
#pragma once

#include <cstdint>
#include <span>

#include "hipcore/wire/control_message.h"
#include "hipcore/wire/control_wire.h"
#include "hipcore/wire/gen/schema.h"

namespace tf::protocol {

// FNV-1a of the values' bytes, going on from `hash`.
constexpr std::uint64_t hash_on(std::uint64_t hash, std::span<const std::uint64_t> values) {
  for (std::uint64_t value : values)
    for (int byte = 0; byte < 8; ++byte, value >>= 8) hash = (hash ^ (value & 0xff)) * 0x100'0000'01b3;
  return hash;
}

// What else both sides must have alike of the control messages.
inline constexpr std::uint64_t kControlForm[] = {kPassedFilesMax, kTurnPayloadMax,    kMirrorOrderMax,
                                                 kOutputChunkMax, kOutputInFlightMax, kMirrorOrderForm};

constexpr std::uint64_t protocol_hash(std::uint64_t schema, std::span<const std::uint64_t> magics,
                                      std::span<const std::uint64_t> form) {
  return hash_on(hash_on(schema, magics), form);
}

inline constexpr std::uint64_t kProtocolHash = protocol_hash(kSchemaHash, kControlMagics, kControlForm);

}  // namespace tf::protocol
