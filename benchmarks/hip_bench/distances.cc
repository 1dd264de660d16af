// SPDX-License-Identifier: Apache-2.0
// Cost against distance. A process has one session, so each distance is a process of its own: this program
// with TF_SHAPE and --steps. Distance 0 goes through the shaper too: the difference is the round trips alone.
#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "benchmarks/hip_bench/bench.h"
#include "transport/shaper/shape.h"

extern char** environ;

namespace tf::bench {
namespace {

struct Distance {
  std::string name;
  double rtt_ns = 0;
  std::vector<Row> rows;
};

// What a child of this program wrote to its standard output. Empty: it failed, and has said why.
std::string output_of(const std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  int ends[2];
  if (::pipe(ends) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  pid_t child = -1;
  const int error = ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; error == 0 && (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  if (error != 0 || ::waitpid(child, &status, 0) != child || status != 0) return {};
  return text;
}

bool measure(const Options& options, Distance& distance) {
  const std::string rate = options.rate.empty() ? "" : ",rate=" + options.rate;
  const std::string text = "rtt=" + distance.name + rate;
  const Result<shaper::Shape> shape = shaper::parse_shape(text);
  if (!shape) {
    std::fprintf(stderr, "hip_bench: --rtt, --rate: %s\n", shape.status().message().c_str());
    return false;
  }
  distance.rtt_ns = static_cast<double>(shape.value().rtt.count());
  std::fprintf(stderr, "hip_bench over %s at a round trip of %s ...\n", options.transport.c_str(),
               distance.name.c_str());
  ::setenv("TF_SHAPE", text.c_str(), 1);
  std::vector<std::string> arguments = {"hip_bench", "--steps", "--json", "--label", options.transport};
  if (options.quick) arguments.push_back("--quick");
  for (const std::string& metric : options.metrics) arguments.insert(arguments.end(), {"--metric", metric});
  std::istringstream lines(output_of(arguments));
  distance.rows = read_rows(lines);
  return !distance.rows.empty();
}

std::string time_text(double ns) {
  char text[32];
  if (ns < 1e3)
    std::snprintf(text, sizeof text, "%.0f ns", ns);
  else if (ns < 1e6)
    std::snprintf(text, sizeof text, "%.1f us", ns / 1e3);
  else
    std::snprintf(text, sizeof text, "%.2f ms", ns / 1e6);
  return text;
}

// From the longest distance, whose difference stands out most.
double round_trips(const std::vector<Distance>& distances, std::size_t row) {
  const Distance* longest = &distances.front();
  for (const Distance& distance : distances)
    if (distance.rtt_ns > longest->rtt_ns) longest = &distance;
  if (longest->rtt_ns <= 0) return 0;
  return (longest->rows[row].value - distances.front().rows[row].value) / longest->rtt_ns;
}

void print_table(const std::vector<Distance>& distances) {
  std::printf("%-10s %-26s %8s", "transport", "step", "size");
  for (const Distance& distance : distances) std::printf(" %11s", distance.name.c_str());
  std::printf(" %12s\n", "round trips");
  for (std::size_t row = 0; row < distances.front().rows.size(); ++row) {
    const Row& first = distances.front().rows[row];
    std::printf("%-10s %-26s %8s", first.transport.c_str(), first.metric.c_str(),
                bytes_text(first.bytes).c_str());
    for (const Distance& distance : distances)
      std::printf(" %11s", time_text(distance.rows[row].value).c_str());
    std::printf(" %12.2f\n", round_trips(distances, row));
  }
}

void print_json(const Options& options, const std::vector<Distance>& distances) {
  for (std::size_t row = 0; row < distances.front().rows.size(); ++row) {
    const Row& first = distances.front().rows[row];
    std::printf("{\"bench\":\"hip_bench\",\"transport\":\"%s\",\"metric\":\"%s\",\"bytes\":%" PRIu64
                ",\"rate\":\"%s\",\"cost_ns\":{",
                first.transport.c_str(), first.metric.c_str(), first.bytes, options.rate.c_str());
    const char* separator = "";
    for (const Distance& distance : distances) {
      std::printf("%s\"%s\":%.6g", separator, distance.name.c_str(), distance.rows[row].value);
      separator = ",";
    }
    std::printf("},\"round_trips\":%.4g}\n", round_trips(distances, row));
  }
}

}  // namespace

int measure_distances(const Options& options) {
  if (::dlsym(RTLD_DEFAULT, "hip_remote_proxy_version") == nullptr) {
    std::fprintf(stderr,
                 "hip_bench: --rtt needs hip-remote's libamdhip64: without a worker there is no distance\n");
    return 1;
  }
  std::vector<Distance> distances = {{.name = "0us", .rtt_ns = 0, .rows = {}}};
  for (const std::string& rtt : options.rtts) distances.push_back({.name = rtt, .rtt_ns = 0, .rows = {}});
  for (Distance& distance : distances) {
    if (!measure(options, distance)) return 1;
    if (distance.rows.size() == distances.front().rows.size()) continue;
    std::fprintf(stderr, "hip_bench: the run at %s has other rows than the first\n", distance.name.c_str());
    return 1;
  }
  if (options.json)
    print_json(options, distances);
  else
    print_table(distances);
  return 0;
}

}  // namespace tf::bench
