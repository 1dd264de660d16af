// SPDX-License-Identifier: Apache-2.0
// Copies that wait for their turn on the client's side.
//
// Payload to the device is read when its copy is posted. Where work in front of the copy may still write the
// source (a host function, a copy from the device to the same memory), that is too early: such a copy becomes
// a callback of its stream, and when that is due, and the stream stands still, it is made on another stream
// of the device. While one waits, no copy is posted that could keep the worker busy until the stream goes on.
// Memory that is not pageable only; pageable memory is read during the call. Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include "proxy/copy/copy_engine.h"
#include "proxy/copy/copy_route.h"

namespace tf::proxy {

// Whether the copy has to wait for its turn. Two loads where nothing is pending.
bool waits_for_turn(CopyEngine& engine, const CopyMode& mode, CopyWay way, const CopyEnd& host);
// Queues it on its stream. A failure becomes a fault of the stream.
hipError_t take_turn(CopyEngine& engine, const CopyMode& mode, const Box& box, hipMemcpyKind kind);
// For a copy with payload that does not wait for a turn: those in front of it on its stream have been made.
hipError_t await_turns(CopyEngine& engine, const CopyMode& mode, CopyWay way);

}  // namespace tf::proxy
