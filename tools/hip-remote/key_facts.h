// SPDX-License-Identifier: Apache-2.0
// What hip-remote info says about keys: this user's, the worker's, and the level that a session would have.
#pragma once

#include <string>
#include <vector>

#include "proxy/base/environment.h"

namespace tf::tools {

struct KeyFacts {
  std::string no_library;    // why OpenSSL cannot be used; empty: it can
  std::string level;         // of a session with the worker that the settings name
  std::string wrong;         // why there can be none
  std::string key_file;      // of this user
  std::string no_key;        // why it cannot be used
  std::string fingerprint;   // of its key
  std::string worker;        // whose key is known there
  std::string worker_print;  // empty: it was never met
};

KeyFacts find_key_facts(const proxy::Settings& settings);
std::vector<std::string> describe(const KeyFacts& facts);
std::string to_json(const KeyFacts& facts);

}  // namespace tf::tools
