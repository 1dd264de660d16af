// SPDX-License-Identifier: Apache-2.0
// Parses transport_bench's command line.
#include "benchmarks/transport_bench/options.h"

#include <sstream>

#include "benchmarks/usage.h"
#include "reference/gen/programs.h"

namespace tf::bench {
namespace {

namespace about = reference::transport_bench;

// TF_TRANSPORTS_ANYWHERE: "shm,tcp", as the build has them.
std::vector<std::string> transports_anywhere() {
  std::istringstream text(TF_TRANSPORTS_ANYWHERE);
  std::vector<std::string> names;
  for (std::string name; std::getline(text, name, ',');) names.push_back(name);
  return names;
}

}  // namespace

std::optional<int> parse_options(int argc, char** argv, Options& options) {
  reference::CommandLine line(about::kProgram);
  if (const std::optional<int> code = line.parse(argc, argv)) return code;
  options.transports = line.has(about::kTransport) ? line.list(about::kTransport) : transports_anywhere();
  options.json = line.has(about::kJson);
  options.quick = line.has(about::kQuick);
  options.placement = line.text(about::kPlacement, options.placement);
  options.trip_sizes = numbers(line, about::kTripSizes);
  options.only = line.list(about::kOnly);
  options.bulk_sizes = numbers(line, about::kBulkSizes);
  options.peer_environment = line.list(about::kPeerEnv);
  options.memory = line.has(about::kMemory);
  options.plot = line.text(about::kPlot);
  return std::nullopt;
}

}  // namespace tf::bench
