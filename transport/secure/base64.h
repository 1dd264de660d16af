// SPDX-License-Identifier: Apache-2.0
// Base64 as in RFC 4648, for keys as text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tf::secure {

// With padding, or without it as in fingerprints.
std::string to_base64(std::span<const std::uint8_t> bytes, bool padded = true);
// Only what to_base64() writes with padding: nothing else stands for the same bytes.
std::optional<std::vector<std::uint8_t>> from_base64(std::string_view text);

}  // namespace tf::secure
