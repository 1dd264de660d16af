// SPDX-License-Identifier: Apache-2.0
// Recognises other servers (HTTP, SSH, TLS ...) by their first bytes.
#include "hipcore/wire/stranger.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "transport/frame.h"

namespace tf::protocol {
namespace {

struct Known {
  std::string_view start;
  std::string_view name;
};

// What servers say first, or to bytes that they do not understand.
constexpr Known kKnown[] = {
    {"HTTP/", "an HTTP server"},  {"SSH-", "an SSH server"},       {"\x15\x03", "a TLS server"},
    {"\x16\x03", "a TLS server"}, {"220", "a mail or FTP server"}, {"-ERR", "a Redis or POP3 server"},
    {"* OK", "an IMAP server"},   {"RFB ", "a VNC server"},
};

std::string printable(std::string_view bytes) {
  constexpr std::size_t kShownBytesMax = 16;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes.substr(0, kShownBytesMax)) {
    const auto value = static_cast<unsigned char>(byte);
    if (value >= 0x20 && value < 0x7f)
      text += byte;
    else
      (text += "\\x") += {kDigits[value >> 4], kDigits[value & 15]};
  }
  return text;
}

}  // namespace

std::string describe_stranger(std::span<const std::byte> first) {
  char magic[sizeof kFrameMagic];
  std::memcpy(magic, &kFrameMagic, sizeof magic);
  const std::string_view bytes(reinterpret_cast<const char*>(first.data()), first.size());
  if (std::string_view(magic, sizeof magic).starts_with(bytes.substr(0, sizeof magic))) return {};
  for (const Known& known : kKnown) {
    if (bytes.starts_with(known.start)) return std::string(known.name) + " answers there, not hip-worker";
  }
  return "something other than hip-worker answers there: \"" + printable(bytes) + "\"";
}

}  // namespace tf::protocol
