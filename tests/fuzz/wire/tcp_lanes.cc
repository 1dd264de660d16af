// SPDX-License-Identifier: Apache-2.0
// Fuzz entry: the lanes of a tcp endpoint.
#include "tcp_endpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tf::fuzz::Input input(data, size);
  tf::fuzz::feed_endpoint(input, {.payload_lanes = 2});
  return 0;
}
