// SPDX-License-Identifier: Apache-2.0
// What a service manager says to the process that it starts, by variables that the processes below do not
// inherit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tf::worker {

// The variable's value, which nobody finds there any more; empty if there is none. REQUIRES: no other thread
// runs yet.
std::string take_variable(const char* name);

// None: it is no decimal number above 0.
std::optional<std::int64_t> positive_number(const std::string& text);

}  // namespace tf::worker
