// SPDX-License-Identifier: Apache-2.0
// How the messages of the control connection (control_message.h) begin.
#pragma once

#include <cstdint>

namespace tf::protocol {

// The first word of each message; no two are alike.
inline constexpr std::uint64_t kFileMagic = 0x656c'6966'2d46'5401;
inline constexpr std::uint64_t kCallbackDoneMagic = 0x656e'6f64'2d46'5401;
inline constexpr std::uint64_t kTurnPayloadMagic = 0x6e72'7574'2d46'5401;
inline constexpr std::uint64_t kMirrorOrderMagic = 0x7272'696d'2d46'5401;
inline constexpr std::uint64_t kOutputWrittenMagic = 0x6e74'7277'2d46'5401;
inline constexpr std::uint64_t kLanesMagic = 0x656e'616c'2d46'5401;
inline constexpr std::uint64_t kOutputMagic = 0x7074'756f'2d46'5401;

// All of them: what is not listed is not received, and each is part of what HELLO compares (protocol_hash.h).
inline constexpr std::uint64_t kControlMagics[] = {kFileMagic,        kCallbackDoneMagic,  kTurnPayloadMagic,
                                                   kMirrorOrderMagic, kOutputWrittenMagic, kOutputMagic,
                                                   kLanesMagic};

// The number of the form that orders for mirrored memory have (hipcore/mirror/order.h). Another form, another
// number: tests/unit/wire/protocol_hash_test.cc pins it.
inline constexpr std::uint64_t kMirrorOrderForm = 1;

}  // namespace tf::protocol
