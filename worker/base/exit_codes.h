// SPDX-License-Identifier: Apache-2.0
// Exit codes of a session process, for the supervisor's log.
#pragma once

namespace tf::worker {

inline constexpr int kExitNoRuntime = 3;
inline constexpr int kExitNoClient = 4;  // HELLO or the endpoint failed
inline constexpr int kExitNoWalls = 6;   // --require-sandbox, and there is no sandbox
inline constexpr int kExitBroken = 5;    // the session ended with an error

}  // namespace tf::worker
