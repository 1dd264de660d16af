// SPDX-License-Identifier: Apache-2.0
// Tells what answered in place of a worker: a server of another kind shows itself by its first bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tf::protocol {

// Empty: this may be a worker, as far as these bytes tell (also if there are none). Else a sentence: "an HTTP
// server answers there, not hip-worker".
std::string describe_stranger(std::span<const std::byte> first);

}  // namespace tf::protocol
