// SPDX-License-Identifier: Apache-2.0
// hip-remote: see what is there, run programs remotely, measure.
#include <CLI/CLI.hpp>

#include "tools/hip-remote/commands.h"

namespace {

constexpr const char* kFooter = R"(Examples:
  hip-remote info
  hip-remote run --local -- ./hello_hip                     a private worker, same host
  hip-remote run --worker gpuhost:18515 -- python3 train.py
  hip-remote run --local --stats -- ./app                   which calls wait for the worker, and how long
  hip-remote run --worker unix:/run/hip.sock --transport shm -- ./app
  hip-remote bench --plot bandwidth.svg
  hip-remote bench --rtt 5us,100us,1ms,30ms --rate 10Gbit   what distance costs
  hip-remote bench --compare --json > run.jsonl             then: tools/bench-gate run.jsonl)";

void add_run(CLI::App& app, tf::tools::RunOptions& options) {
  CLI::App* run = app.add_subcommand("run", "Run a program with its HIP calls sent to a worker");
  run->add_option(
      "-w,--worker", options.worker,
      "Worker: HOST:PORT or unix:PATH (default: TF_WORKER_SOCKET, else TF_WORKER_HOST:TF_WORKER_PORT)");
  run->add_option("-t,--transport", options.transport,
                  "auto, shm, rdma or tcp (default: TF_TRANSPORT, else auto)")
      ->check(CLI::IsMember({"auto", "shm", "rdma", "tcp"}));
  CLI::Option* local = run->add_flag("-l,--local", options.local, "Start a private worker for the program");
  run->add_option(
      "-r,--runtime", options.runtime,
      "With --local: runtime of the worker, auto, cpu, cuda, amd or a path; with --native: cpu or cuda");
  CLI::Option* native = run->add_flag("--native", options.native,
                                      "No worker: run on the runtime itself in the program's own process");
  native->excludes(local);
  run->add_flag(
      "!--no-preload", options.preload,
      "Without LD_PRELOAD: LD_LIBRARY_PATH alone finds the proxy (for programs with a sanitizer, which must "
      "be loaded first; not enough for programs with an RPATH to another libamdhip64)");
  run->add_flag(
         "--stats{-}", options.stats,
         "Tell at the end which HIP calls waited for the worker, how often and how long: --stats prints a "
         "table on standard error, --stats=FILE writes JSON")
      ->excludes(native);
  run->add_flag("-v,--verbose", options.verbose, "Log what the worker and the proxy do (standard error)");
  run->add_option("program", options.program, "Program and its arguments, after --")->required();
  run->positionals_at_end();
}

void add_bench(CLI::App& app, tf::tools::BenchOptions& options) {
  CLI::App* bench =
      app.add_subcommand("bench", "Measure calls and copies beside the physical limits, in one run");
  bench
      ->add_option("-t,--transport", options.transports,
                   "shm, rdma and/or tcp (default: all that this host can)")
      ->check(CLI::IsMember({"shm", "rdma", "tcp"}));
  bench->add_flag("--json", options.json, "One JSON object a line instead of tables");
  bench->add_flag("--quick", options.quick, "Fewer sizes and repetitions (about ten seconds)");
  CLI::Option* plot = bench->add_option("--plot", options.plot, "Write bandwidth over size as an SVG file");
  CLI::Option* compare = bench->add_flag(
      "--compare", options.compare,
      "Every target of the project beside its limit and the peers, pinned and unpinned (about 15 minutes)");
  CLI::Option* peers =
      bench->add_flag("--peers", options.peers,
                      "UCX, Open MPI and others beside our transports (about 5 minutes; uses apt-get)");
  compare->excludes(peers)->excludes(plot);
  CLI::Option* rtt =
      bench
          ->add_option("--rtt", options.rtts,
                       "What program steps cost as if the worker were as far away, and how many "
                       "round trips they have: 5us,100us,1ms,30ms (about a minute)")
          ->delimiter(',')
          ->excludes(peers)
          ->excludes(compare)
          ->excludes(plot);
  bench->add_option("--rate", options.rate, "With --rtt: of the network, as 10Gbit (default: without limit)")
      ->needs(rtt);
  bench->add_option("--lock", options.lock, "With --compare, --peers: hold this lock file during each step");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"hip-remote: HIP programs on machines without a GPU", "hip-remote"};
  app.set_version_flag("--version", "hip-remote 0.1.0");
  app.require_subcommand(1);
  app.footer(kFooter);
  tf::tools::InfoOptions info_options;
  tf::tools::RunOptions run_options;
  tf::tools::BenchOptions bench_options;
  app.add_subcommand("info", "Transports, runtimes, devices and environment variables of this machine")
      ->add_flag("--json", info_options.json, "One JSON object instead of text");
  add_run(app, run_options);
  add_bench(app, bench_options);
  CLI11_PARSE(app, argc, argv);
  const tf::tools::Layout layout = tf::tools::find_layout();
  if (app.got_subcommand("info")) return tf::tools::info(layout, info_options);
  if (app.got_subcommand("run")) return tf::tools::run(layout, run_options);
  return tf::tools::bench(layout, bench_options);
}
