// SPDX-License-Identifier: Apache-2.0
// Who answers where a worker was expected: a server of another kind shows itself by its first bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tf::protocol {

// Empty: it may be a worker, as far as these bytes tell (also when there are none). Else a sentence:
// "an HTTP server answers there, not hip-worker".
std::string describe_stranger(std::span<const std::byte> first);

}  // namespace tf::protocol
