// SPDX-License-Identifier: Apache-2.0
// A command line of hip-worker as its own parser reads it, and what that says.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/hip-worker/options.h"

namespace tf::worker {

struct Parsed {
  ParseResult result = ParseResult::kExitOk;
  Options options;
  std::string said;
};

inline Parsed parse(std::vector<std::string> words, const std::string& socket = "/run/hip.sock") {
  words.insert(words.begin(), {"hip-worker", "--no-tcp", "--socket", socket});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  Parsed parsed;
  testing::internal::CaptureStderr();
  parsed.result = parse_options(static_cast<int>(argv.size()), argv.data(), parsed.options);
  parsed.said = testing::internal::GetCapturedStderr();
  return parsed;
}

}  // namespace tf::worker
