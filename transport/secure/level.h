// SPDX-License-Identifier: Apache-2.0
// Level: how far a session between client and worker is protected. TF_SECURITY, hip-worker --security.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tf::secure {

enum class Level : std::uint8_t {
  kNone = 0,     // nobody proves anything
  kAuth = 1,     // both ends and each lane are proven, the control connection is encrypted, lanes are clear
  kEncrypt = 2,  // and lanes are encrypted
};

constexpr std::string_view name(Level level) {
  switch (level) {
    case Level::kAuth: return "auth";
    case Level::kEncrypt: return "encrypt";
    default: return "none";
  }
}

// None: the text is no level.
constexpr std::optional<Level> parse_level(std::string_view text) {
  for (const Level level : {Level::kNone, Level::kAuth, Level::kEncrypt})
    if (text == name(level)) return level;
  return std::nullopt;
}

}  // namespace tf::secure
