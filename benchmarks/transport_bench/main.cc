// SPDX-License-Identifier: Apache-2.0
// transport_bench: what a transport costs by itself, between two processes, beside the physical limits
// measured in the same run. The parent measures; the forked child echoes, counts and receives.
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "benchmarks/raw_limits.h"
#include "benchmarks/raw_tcp.h"
#include "benchmarks/report/report.h"
#include "benchmarks/report/statistics.h"
#include "benchmarks/transport_bench/peer.h"

namespace tf::bench {
namespace {

constexpr std::size_t kSmallMessage = 64;
constexpr std::uint64_t kBulkSizes[] = {64 << 10, 1 << 20, 16 << 20, 64 << 20, 256 << 20};
constexpr std::uint64_t kQuickBulkSizes[] = {1 << 20, 64 << 20};

struct Options {
  std::vector<std::string> transports{"shm", "tcp"};
  bool json = false;
  bool quick = false;
  bool pin = true;
  std::string plot;
};

struct Limits {
  double round_trip_ns = 0;
  const char* round_trip_name = "";
  const char* bulk_name = "";
};

double bulk_limit(const std::string& transport, std::uint64_t bytes, double budget_s) {
  return transport == "tcp" ? raw_tcp_stream_gb_per_s(bytes, budget_s) : raw_memcpy_gb_per_s(bytes, budget_s);
}

// Small messages packed into a stream as tightly as can be.
double tcp_lines_per_s(double budget_s) {
  return raw_tcp_stream_gb_per_s(1 << 20, budget_s) * 1e9 / kSmallMessage;
}

void measure_messages(Client& client, const std::string& transport, const Options& options, Report& report) {
  const double budget = options.quick ? 0.2 : 1.0;
  const bool tcp = transport == "tcp";
  Samples trips;
  for (int warm_up = 0; warm_up < 1000; ++warm_up) client.round_trip(kSmallMessage);
  trips = repeat(budget, 1000, 2'000'000, [&] { client.round_trip(kSmallMessage); });
  report.add({"transport_bench", transport, "round_trip", kSmallMessage, trips.median() * 1e9, "ns",
              trips.median() * 1e9, trips.quantile(0.99) * 1e9,
              tcp ? raw_tcp_round_trip_ns(budget) : raw_round_trip_ns(budget),
              tcp ? "raw TCP ping-pong" : "cache-line ping-pong"});
  Samples rates;
  const std::uint64_t count = options.quick ? 100'000 : 1'000'000;
  for (int round = 0; round < (options.quick ? 3 : 7); ++round) {
    rates.add(static_cast<double>(count) / timed([&] { client.post_and_count(kSmallMessage, count); }));
  }
  report.add({"transport_bench", transport, "posted", kSmallMessage, rates.median(), "1/s", rates.median(),
              rates.quantile(0.01), tcp ? tcp_lines_per_s(budget) : raw_lines_per_s(budget),
              tcp ? "raw TCP stream" : "cache lines in a ring"});
}

void measure_bulk(Client& client, const std::string& transport, const Options& options, Report& report) {
  std::vector<std::uint64_t> sizes(std::begin(kBulkSizes), std::end(kBulkSizes));
  if (options.quick) sizes.assign(std::begin(kQuickBulkSizes), std::end(kQuickBulkSizes));
  const double budget = options.quick ? 0.1 : 0.5;
  for (std::uint64_t bytes : sizes) {
    std::vector<std::byte> memory(bytes, std::byte{0x5a});
    client.send_bulk(memory);
    Samples samples = repeat(budget, 3, 500, [&] { client.send_bulk(memory); });
    auto rate = [&](double seconds) { return static_cast<double>(bytes) / seconds / 1e9; };
    report.add({"transport_bench", transport, "bulk_send", bytes, rate(samples.median()), "GB/s",
                rate(samples.median()), rate(samples.quantile(0.99)), bulk_limit(transport, bytes, budget),
                transport == "tcp" ? "raw TCP stream" : "memcpy"});
  }
}

int measure(const std::string& transport, const Options& options, Report& report) {
  Result<PeerPair> pair = start_peer(transport, options.pin);
  if (!pair) {
    std::fprintf(stderr, "transport_bench: %s: %s\n", transport.c_str(), pair.status().to_string().c_str());
    return 1;
  }
  Client client(*pair->endpoint);
  measure_messages(client, transport, options, report);
  measure_bulk(client, transport, options, report);
  client.quit();
  int status = 0;
  ::waitpid(pair->child, &status, 0);
  if (!client.failure().is_ok()) {
    std::fprintf(stderr, "transport_bench: %s: %s\n", transport.c_str(),
                 client.failure().to_string().c_str());
    return 1;
  }
  return status == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tf::bench

int main(int argc, char** argv) {
  tf::bench::Options options;
  CLI::App app{
      "transport_bench: round trip, posted messages and bulk payloads of each transport, between two\n"
      "processes, beside the physical limits measured in the same run"};
  app.add_option("-t,--transport", options.transports, "shm and/or tcp (default: both)")
      ->check(CLI::IsMember({"shm", "tcp"}));
  app.add_flag("--json", options.json, "One JSON object a line");
  app.add_flag("--quick", options.quick, "Shorter samples, fewer sizes");
  app.add_flag("!--no-pin", options.pin, "Leave the two processes where the kernel puts them");
  app.add_option("--plot", options.plot, "Write bandwidth over size as an SVG file");
  CLI11_PARSE(app, argc, argv);
  tf::bench::Report report(options.json);
  int worst = 0;
  for (const std::string& transport : options.transports) {
    worst = std::max(worst, tf::bench::measure(transport, options, report));
  }
  report.finish();
  if (!options.plot.empty() && !tf::bench::write_plot(options.plot, "transport_bench", report.rows())) {
    std::fprintf(stderr, "transport_bench: cannot write %s\n", options.plot.c_str());
    return 1;
  }
  return worst;
}
