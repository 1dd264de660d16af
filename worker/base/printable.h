// SPDX-License-Identifier: Apache-2.0
// Text of others as it may stand in a line of the log: valid UTF-8 without control characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tf::worker {

inline constexpr std::string_view kCut = " [cut]";  // ends what was too long

// `text`, with everything that is not a printable UTF-8 character written as \xNN.
std::string printable(std::string_view text);

// The same between quotation marks, with a backslash before quotation marks and backslashes: a string of
// JSON. At most `bytes_max`, the marks included. REQUIRES: that is more than 16.
std::string quoted(std::string_view text, std::size_t bytes_max);

// Cuts valid UTF-8 to at most `bytes_max`, at the end of a character. REQUIRES: that is more than kCut's.
void fit(std::string& text, std::size_t bytes_max);

}  // namespace tf::worker
