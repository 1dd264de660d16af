// SPDX-License-Identifier: Apache-2.0
// Parses transport_bench's command line.
#include "benchmarks/transport_bench/options.h"
#include "benchmarks/usage.h"

#include <CLI/CLI.hpp>
#include <sstream>

#include "transport/factory/factory.h"

namespace tf::bench {
namespace {

std::vector<std::string> names_of_transports() {
  const std::span<const std::string_view> names = transport_names();
  return {names.begin(), names.end()};
}

// TF_TRANSPORTS_ANYWHERE: "shm,tcp", as the build has them.
std::vector<std::string> transports_anywhere() {
  std::istringstream text(TF_TRANSPORTS_ANYWHERE);
  std::vector<std::string> names;
  for (std::string name; std::getline(text, name, ',');) names.push_back(name);
  return names;
}

}  // namespace

std::optional<int> parse_options(int argc, char** argv, Options& options) {
  CLI::App app{
      "transport_bench: round trip, posted messages and bulk payloads of each transport, between two\n"
      "processes, beside the physical limits measured in the same run"};
  options.transports = transports_anywhere();
  app.add_option("-t,--transport", options.transports,
                 "One or several transports (default: " TF_TRANSPORTS_ANYWHERE ")")
      ->check(CLI::IsMember(names_of_transports()));
  app.add_flag("--json", options.json, "One JSON object a line");
  app.add_flag("--quick", options.quick, "Shorter samples, fewer sizes");
  app.add_option("--placement", options.placement,
                 "pinned (a processor for each end), unpinned (where the kernel puts them) or both (default; "
                 "payload pinned only)")
      ->check(CLI::IsMember({"pinned", "unpinned", "both"}));
  app.add_option("--trip-sizes", options.trip_sizes, "Round trips of these bytes, too, as 1024,4096")
      ->delimiter(',')
      ->check(CLI::Range(64, 60'000));
  app.add_option("--only", options.only, "Only round_trip, posted and/or bulk (default: all three)")
      ->check(CLI::IsMember({"round_trip", "posted", "bulk"}))
      ->delimiter(',');
  app.add_option("--bulk-sizes", options.bulk_sizes, "Payloads of these bytes, as 1048576,16777216")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32))
      ->delimiter(',');
  app.add_option("--peer-env", options.peer_environment,
                 "NAME=VALUE in the environment of the peer alone, as TF_RDMA_DEVICE=rxe0 (may be repeated)");
  app.add_flag(
      "--memory", options.memory,
      "Instead: memcpy between kinds of pages, and between addresses that a processor's cache takes for "
      "the same ones");
  app.add_option("--plot", options.plot, "Write bandwidth over size as an SVG file");
  return parse_command_line(app, argc, argv);
}

}  // namespace tf::bench
