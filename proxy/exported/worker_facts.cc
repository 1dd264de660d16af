// SPDX-License-Identifier: Apache-2.0
// What the worker has said about itself, for hip-remote info (hipcore/wire/worker_facts.h).
#include "hipcore/wire/worker_facts.h"

#include <cstring>
#include <exception>
#include <string>

#include "proxy/client/process.h"

namespace {

// 1: what the client says is in `text`.
int tell(const std::string& (tf::proxy::Client::*what)() const, char* text, size_t bytes) {
  try {
    const tf::proxy::Client* const client = tf::proxy::acquire_client();
    if (client == nullptr) return 0;
    const std::string& words = (client->*what)();
    if (words.size() >= bytes) return 0;
    std::memcpy(text, words.c_str(), words.size() + 1);
    return 1;
  } catch (const std::exception&) {
    return 0;
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int hip_remote_worker_walls(char* text, size_t bytes) {
  return tell(&tf::proxy::Client::walls, text, bytes);
}

extern "C" __attribute__((visibility("default"))) int hip_remote_worker_limits(char* text, size_t bytes) {
  return tell(&tf::proxy::Client::share, text, bytes);
}
