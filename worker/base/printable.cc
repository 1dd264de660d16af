// SPDX-License-Identifier: Apache-2.0
// Reads UTF-8 strictly, and escapes the rest.
#include "worker/base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace tf::worker {
namespace {

// Bytes of the UTF-8 character at the beginning of `text` and its code point; {0, 0} when there is none.
struct Character {
  std::size_t bytes = 0;
  std::uint32_t point = 0;
};

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {1, lead};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || bytes > text.size()) return {};
  std::uint32_t point = lead & (0x7fu >> bytes);
  for (std::size_t index = 1; index < bytes; ++index) {
    if ((byte(index) & 0xc0u) != 0x80u) return {};
    point = point << 6 | (byte(index) & 0x3fu);
  }
  constexpr std::uint32_t kFirstOf[] = {0, 0, 0x80, 0x800, 0x10000};  // shorter forms are not allowed
  const bool is_surrogate = point >= 0xd800 && point <= 0xdfff;
  if (point < kFirstOf[bytes] || point > 0x10ffff || is_surrogate) return {};
  return {bytes, point};
}

// Characters that move a terminal's cursor, end a line, or change the direction of the text around them.
bool is_control(std::uint32_t point) {
  return point < 0x20 || (point >= 0x7f && point < 0xa0) || (point >= 0x200b && point <= 0x200f) ||
         (point >= 0x2028 && point <= 0x202e) || (point >= 0x2060 && point <= 0x2069) || point == 0xfeff;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    const std::size_t bytes = std::max<std::size_t>(1, character.bytes);
    if (character.bytes != 0 && !is_control(character.point)) {
      shown.append(text.substr(0, bytes));
    } else {
      for (const char part : text.substr(0, bytes))
        shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(part));
    }
    text.remove_prefix(bytes);
  }
  return shown;
}

std::string quoted(std::string_view text, std::size_t bytes_max) {
  const std::string shown = printable(text);
  std::string_view rest = shown;
  std::string result = "\"";
  const std::size_t room = bytes_max - kCut.size() - 1;
  while (!rest.empty()) {
    const std::size_t bytes = std::max<std::size_t>(1, first_character(rest).bytes);
    const bool special = rest.front() == '"' || rest.front() == '\\';
    if (result.size() + bytes + (special ? 1 : 0) > room) {
      result += kCut;
      break;
    }
    if (special) result += '\\';
    result += rest.substr(0, bytes);
    rest.remove_prefix(bytes);
  }
  return result + '"';
}

void fit(std::string& text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return;
  std::size_t end = bytes_max - kCut.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;
  text.replace(end, std::string::npos, kCut);
}

}  // namespace tf::worker
