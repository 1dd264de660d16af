// SPDX-License-Identifier: Apache-2.0
// transport_bench: what a transport costs by itself, between two processes, beside the physical limits
// measured in the same run. The parent measures; the forked child echoes, counts and receives.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/placement.h"
#include "benchmarks/raw_limits.h"
#include "benchmarks/raw_tcp.h"
#include "benchmarks/report/plot.h"
#include "benchmarks/report/provenance.h"
#include "benchmarks/report/report.h"
#include "benchmarks/report/statistics.h"
#include "benchmarks/transport_bench/memory.h"
#include "benchmarks/transport_bench/options.h"
#include "benchmarks/transport_bench/peer.h"

namespace tf::bench {
namespace {

constexpr std::size_t kSmallMessage = 64;
constexpr int kRounds = 9;
constexpr int kTripsPerSample = 100;
constexpr int kSinglesPerRound = 1000;
constexpr std::uint64_t kBulkSizes[] = {64 << 10, 1 << 20, 16 << 20, 64 << 20, 256 << 20};
constexpr std::uint64_t kQuickBulkSizes[] = {1 << 20, 64 << 20};
constexpr std::uint64_t kPlotBulkBytesMin = 64;  // from here by powers of four
constexpr std::uint64_t kPlotBulkBytesMax = 256 << 20;

// What bounds a transport. Of those that move bytes by a device nothing is known here: perftest on the same
// devices tells (tools/rdma-vm).
struct LimitNames {
  const char* trip;
  const char* posted;
  const char* bulk;
};

LimitNames limits_of(const std::string& transport) {
  if (transport == "tcp") return {"raw TCP ping-pong", "raw TCP stream", "raw TCP stream"};
  if (transport == "shm") return {"cache-line ping-pong", "cache lines in a ring", "memcpy"};
  return {"", "", ""};
}

double trip_limit(const std::string& transport, double budget_s) {
  if (transport == "tcp") return raw_tcp_round_trip_ns(budget_s);
  return transport == "shm" ? raw_round_trip_ns(budget_s) : 0;
}

double bulk_limit(const std::string& transport, std::uint64_t bytes, double budget_s) {
  if (transport == "tcp") return raw_tcp_stream_gb_per_s(bytes, budget_s);
  return transport == "shm" ? raw_memcpy_gb_per_s(bytes, budget_s) : 0;
}

// Small messages packed into a stream as tightly as can be.
double tcp_lines_per_s(double budget_s) {
  return raw_tcp_stream_gb_per_s(1 << 20, budget_s) * 1e9 / kSmallMessage;
}

double posted_limit(const std::string& transport, double budget_s) {
  if (transport == "tcp") return tcp_lines_per_s(budget_s);
  return transport == "shm" ? raw_lines_per_s(budget_s) : 0;
}

// Figures and limits are taken in turns, and the medians compared: where the two processors lie in a virtual
// machine may change from one second to the next, and with it both by a factor of five.
struct Turns {
  Samples ours;
  Samples limit;
};

// A sample is the mean of many trips, or reading the clock would be a good part of it. What most and the
// slowest take is told by trips timed one by one, which is how others measure theirs (p50 and p99).
void measure_round_trip(Client& client, const std::string& transport, const Options& options,
                        const std::string& placement, Report& report) {
  const double budget = (options.quick ? 0.2 : 1.0) / kRounds;
  for (int warm_up = 0; warm_up < 1000; ++warm_up) client.round_trip(kSmallMessage);
  Turns turns;
  Samples singles;
  for (int round = 0; round < kRounds; ++round) {
    turns.limit.add(trip_limit(transport, budget));
    const Samples trips = repeat(budget, 10, 1'000'000, [&] {
      for (int trip = 0; trip < kTripsPerSample; ++trip) client.round_trip(kSmallMessage);
    });
    turns.ours.add(trips.median() / kTripsPerSample * 1e9);
    for (int trip = 0; trip < kSinglesPerRound; ++trip)
      singles.add(timed([&] { client.round_trip(kSmallMessage); }) * 1e9);
  }
  report.add({"transport_bench", transport, "round_trip" + placement, kSmallMessage, turns.ours.median(),
              "ns", singles.median(), singles.quantile(0.99), turns.limit.median(),
              limits_of(transport).trip});
}

void measure_posted(Client& client, const std::string& transport, const Options& options,
                    const std::string& placement, Report& report) {
  const double budget = (options.quick ? 0.2 : 1.0) / kRounds;
  const std::uint64_t count = options.quick ? 100'000 : 1'000'000;
  Turns turns;
  for (int round = 0; round < kRounds; ++round) {
    turns.limit.add(posted_limit(transport, budget));
    turns.ours.add(static_cast<double>(count) / timed([&] { client.post_and_count(kSmallMessage, count); }));
  }
  report.add({"transport_bench", transport, "posted" + placement, kSmallMessage, turns.ours.median(), "1/s",
              turns.ours.median(), turns.ours.quantile(0.01), turns.limit.median(),
              limits_of(transport).posted});
}

// What no transport through shared memory can be faster than.
void measure_raw_message(const Options& options, const std::string& placement, Report& report) {
  const double budget = (options.quick ? 0.2 : 1.0) / kRounds;
  Turns turns;
  for (int round = 0; round < kRounds; ++round) {
    turns.limit.add(raw_round_trip_ns(budget));
    turns.ours.add(raw_message_trip_ns(budget));
  }
  report.add({"transport_bench", "raw", "round_trip" + placement, kSmallMessage, turns.ours.median(), "ns",
              turns.ours.median(), turns.ours.quantile(0.99), turns.limit.median(), "cache-line ping-pong"});
}

// Round trips of other sizes; no limit is known for them.
void measure_trips(Client& client, const std::string& transport, const Options& options, Report& report) {
  for (const std::size_t bytes : options.trip_sizes) {
    const ShortOperation trip = measure_short(0.2, [&] { client.round_trip(bytes); });
    report.add({"transport_bench", transport, "round_trip", bytes, trip.median_s * 1e9, "ns",
                trip.median_s * 1e9, trip.p99_s * 1e9, 0, ""});
  }
}

// Until the end that takes it has it all.
class BulkRows {
 public:
  BulkRows(Client& client, const std::string& transport, double budget, Report& report)
      : client_(client), transport_(transport), budget_(budget), report_(report) {}

  // The other way, memory that is not registered once, and streams with several payloads under way only where
  // it is another mechanism: one end's device reads and writes the other's memory.
  void measure(std::uint64_t bytes) {
    const bool one_sided = client_.one_sided();
    limit_ = bulk_limit(transport_, bytes, budget_);
    std::vector<std::byte> memory(bytes, std::byte{0x5a});
    if (one_sided) {
      row("bulk_send_pageable", bytes, 1, [&] { client_.send_bulk(memory, bytes); });
      row("bulk_receive_pageable", bytes, 1, [&] { client_.receive_bulk(memory, bytes); });
    }
    {
      const Client::Remembered remembered(client_, memory);
      row("bulk_send", bytes, 1, [&] { client_.send_bulk(memory, bytes); });
      if (one_sided) row("bulk_receive", bytes, 1, [&] { client_.receive_bulk(memory, bytes); });
    }
    if (!one_sided || bytes > kStreamBytesMax) return;
    memory.resize(bytes * kStreamWindow);
    const Client::Remembered remembered(client_, memory);
    row("bulk_send_stream", bytes, kStreamCount, [&] { client_.send_bulk(memory, bytes, kStreamCount); });
    row("bulk_receive_stream", bytes, kStreamCount,
        [&] { client_.receive_bulk(memory, bytes, kStreamCount); });
  }

 private:
  static constexpr std::uint64_t kStreamBytesMax = 4 << 20;
  static constexpr unsigned kStreamCount = 32;

  template <typename Transfer>
  void row(const std::string& metric, std::uint64_t bytes, unsigned count, Transfer&& transfer) {
    transfer();
    const Samples samples = repeat(budget_, 3, 500, transfer);
    const auto rate = [&](double seconds) { return static_cast<double>(bytes) * count / seconds / 1e9; };
    report_.add({"transport_bench", transport_, metric, bytes, rate(samples.median()), "GB/s",
                 rate(samples.median()), rate(samples.quantile(0.99)), limit_, limits_of(transport_).bulk});
  }

  Client& client_;
  const std::string& transport_;
  const double budget_;
  Report& report_;
  double limit_ = 0;
};

void measure_bulk(Client& client, const std::string& transport, const Options& options, Report& report) {
  std::vector<std::uint64_t> sizes(std::begin(kBulkSizes), std::end(kBulkSizes));
  if (options.quick) sizes.assign(std::begin(kQuickBulkSizes), std::end(kQuickBulkSizes));
  if (!options.bulk_sizes.empty()) sizes = options.bulk_sizes;
  if (options.bulk_sizes.empty() && !options.plot.empty()) {
    sizes.clear();
    for (std::uint64_t bytes = kPlotBulkBytesMin; bytes <= kPlotBulkBytesMax; bytes *= 4)
      sizes.push_back(bytes);
  }
  BulkRows rows(client, transport, options.quick ? 0.1 : 0.5, report);
  for (const std::uint64_t bytes : sizes) rows.measure(bytes);
}

int measure(Peer& peer, const Options& options, Report& report) {
  const KeepPlacement kept;
  const std::string& transport = peer.transport();
  const bool pin = peer.is_pinned();
  Result<std::unique_ptr<Endpoint>> endpoint = peer.connect();
  if (!endpoint) {
    std::fprintf(stderr, "transport_bench: %s: %s\n", transport.c_str(),
                 endpoint.status().to_string().c_str());
    return 1;
  }
  const std::string placement = pin || !options.both() ? "" : "_unpinned";
  Client client(**endpoint);
  if (options.wants("round_trip")) {
    if (transport == "shm") measure_raw_message(options, placement, report);
    measure_round_trip(client, transport, options, placement, report);
  }
  if (options.wants("posted")) measure_posted(client, transport, options, placement, report);
  if (pin || !options.both()) {
    measure_trips(client, transport, options, report);
    if (options.wants("bulk")) measure_bulk(client, transport, options, report);
  }
  client.quit();
  if (!client.failure().is_ok()) {  // then the peer has not been told to end, and ~Peer() sees to it
    std::fprintf(stderr, "transport_bench: %s: %s\n", transport.c_str(),
                 client.failure().to_string().c_str());
    return 1;
  }
  return peer.wait() ? 0 : 1;
}

// All of them before anything is measured: see Peer::start().
Result<std::vector<Peer>> start_peers(const Options& options) {
  std::vector<Peer> peers;
  for (const std::string& transport : options.transports) {
    for (const bool pin : {true, false}) {
      if (!options.both() && pin != (options.placement == "pinned")) continue;
      Result<Peer> peer = Peer::start(transport, pin, options.peer_environment);
      if (!peer) return peer.status();
      peers.push_back(std::move(*peer));
    }
  }
  return peers;
}

int measure_all(const Options& options, Report& report) {
  Result<std::vector<Peer>> peers = start_peers(options);
  if (!peers) {
    std::fprintf(stderr, "transport_bench: %s\n", peers.status().to_string().c_str());
    return 1;
  }
  int worst = 0;
  for (Peer& peer : *peers) worst = std::max(worst, measure(peer, options, report));
  return worst;
}

}  // namespace
}  // namespace tf::bench

int main(int argc, char** argv) {
  tf::bench::Options options;
  if (const std::optional<int> over = tf::bench::parse_options(argc, argv, options)) return *over;
  tf::bench::Report report(options.json);
  int worst = 0;
  if (options.memory) {
    tf::bench::measure_memory(options.quick, report);
  } else {
    worst = tf::bench::measure_all(options, report);
  }
  report.finish();
  if (!options.plot.empty() &&
      !tf::bench::write_plot(options.plot, {"Payload between two processes", {tf::bench::provenance()}},
                             report.rows())) {
    std::fprintf(stderr, "transport_bench: cannot write %s\n", options.plot.c_str());
    return 1;
  }
  return worst;
}
