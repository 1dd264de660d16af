// SPDX-License-Identifier: Apache-2.0
// A lane's engine with sealed records (transport/secure/records.h) between it and the lane. To the lane it is
// an engine like any other: start() takes plain text, and finish() says how much of it is on its way, or has
// come.
//
// What is sent is encrypted into memory of its own. Without helpers the lane's thread does that, up to
// kSealedBytesMax at a time, and then sends it: messages never go from thread to thread. With helpers
// encryption overlaps with sending, and decryption with receiving (overlapped_sender.h, sealed_receiver.h).
#pragma once

#include "tcp/engine.h"
#include "tcp/protection.h"
#include "transport/secure/records.h"

namespace tf::tcp {

inline constexpr std::size_t kSealedBytesMax = 4 * secure::kRecordBytesMax;  // plain text, in one operation

// `lane`: its number (options.h). `helpers`: threads of each direction besides the lane's own. REQUIRES: an
// engine without zero-copy sends, and a session.
Result<LaneIo> make_sealed_io(LaneIo io, const Protection& protection, unsigned lane, unsigned helpers);

}  // namespace tf::tcp
