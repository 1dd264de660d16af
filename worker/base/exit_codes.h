// SPDX-License-Identifier: Apache-2.0
// Exit codes of a session process, for the supervisor's log.
#pragma once

namespace tf::worker {

inline constexpr int kExitNoRuntime = 3;
inline constexpr int kExitNoClient = 4;  // HELLO or the endpoint did not come about
inline constexpr int kExitBroken = 5;    // the session ended by an error

}  // namespace tf::worker
