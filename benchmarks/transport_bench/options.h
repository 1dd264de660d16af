// SPDX-License-Identifier: Apache-2.0
// transport_bench's options. Plain data; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tf::bench {

struct Options {
  std::vector<std::string> transports;  // as built: those that any machine can use
  bool json = false;
  bool quick = false;
  std::string placement = "both";
  std::vector<std::size_t> trip_sizes;
  bool memory = false;
  std::vector<std::string> only;  // parts; all of them when empty
  std::vector<std::uint64_t> bulk_sizes;
  std::vector<std::string> peer_environment;

  bool wants(const char* part) const {
    return only.empty() || std::find(only.begin(), only.end(), part) != only.end();
  }
  // With both placements in one run, unpinned figures are named so.
  bool both() const { return placement == "both"; }
  std::string plot;
};

// Fills `options` from the command line. Returns an exit code if there is nothing more to do: --help, or a
// wrong option, which is reported on standard error.
std::optional<int> parse_options(int argc, char** argv, Options& options);

}  // namespace tf::bench
