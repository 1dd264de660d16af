// SPDX-License-Identifier: Apache-2.0
// Short fills: those that AMD's runtime continues behind their end.
//
// AMD's libamdhip64 (seen in 5.2.3) cuts a fill at the first multiple of 8 bytes. If the fill ends before
// that address, what is left underflows, and the fill goes on until it meets an address without memory.
// Copies take the place of such fills, from a table in pinned host memory: in stream order, and without a
// wait. A graph's fill of several rows sets another value there, so each row becomes a node.
#pragma once

#include "hipcore/wire/gen/hip_table.h"

namespace tf::worker {

// Replaces the functions of `hip` that the worker fills with. Once in a process, before any of them is
// called.
void mend_short_fills(protocol::HipTable& hip);

}  // namespace tf::worker
