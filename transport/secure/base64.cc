// SPDX-License-Identifier: Apache-2.0
// Encodes and decodes base64.
#include "transport/secure/base64.h"

#include <cstddef>

namespace tf::secure {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string to_base64(std::span<const std::uint8_t> bytes, bool padded) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = bytes.size() - at < 3 ? bytes.size() - at : 3;
    std::uint32_t group = 0;
    for (std::size_t index = 0; index < 3; ++index)
      group = group << 8 | (index < count ? bytes[at + index] : 0u);
    for (std::size_t index = 0; index <= count; ++index) text += kDigits[group >> (18 - 6 * index) & 63];
    if (padded) text.append(3 - count, '=');
  }
  return text;
}

std::optional<std::vector<std::uint8_t>> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string_view digits = text;
  while (digits.ends_with('=') && text.size() - digits.size() < 2) digits.remove_suffix(1);
  std::vector<std::uint8_t> bytes;
  std::uint32_t group = 0;
  unsigned bits = 0;
  for (const char digit : digits) {
    const std::size_t value = kDigits.find(digit);
    if (value == std::string_view::npos) return std::nullopt;
    group = group << 6 | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<std::uint8_t>(group >> bits));
  }
  if (to_base64(bytes) != text) return std::nullopt;  // bits left over, or padding too much
  return bytes;
}

}  // namespace tf::secure
