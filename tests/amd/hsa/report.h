// SPDX-License-Identifier: Apache-2.0
// What the stand-in says on standard error: refusals and faults, each with the name of what was asked for.
#pragma once

#include <hsa/hsa.h>

#include <string>

namespace tf::amd::hsa {

// Says once per process that `function` refuses `what`, and returns `status`.
hsa_status_t refuse(const char* function, const std::string& what, hsa_status_t status);

// Says so every time.
void report(const std::string& text);

std::string hexadecimal(std::uint64_t number);

}  // namespace tf::amd::hsa
