// SPDX-License-Identifier: Apache-2.0
// Words of a peer, as they may stand in a message for people: it may send anything, and a terminal acts upon
// some bytes.
#pragma once

#include <span>
#include <string>

namespace tf {

// Up to the first zero, if there is one; what is not printable ASCII as '?'.
inline std::string peers_words(std::span<const char> text) {
  std::string words;
  for (const char letter : text) {
    if (letter == 0) break;
    words += letter >= ' ' && letter <= '~' ? letter : '?';
  }
  return words;
}

}  // namespace tf
