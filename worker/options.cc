// SPDX-License-Identifier: Apache-2.0
// See options.h.
#include "worker/options.h"

#include <CLI/CLI.hpp>

#include "net/io_timeout.h"
#include "worker/log.h"

namespace tf::worker {
namespace {

constexpr const char* kAbout =
    "hip-worker: runs the HIP calls of programs elsewhere on this machine's devices.\n"
    "\n"
    "Start it where the GPU is (or anywhere: without a GPU it offers the host's cores as a HIP device):\n"
    "  hip-worker\n"
    "then run any HIP program with hip-remote's libamdhip64 in its library path:\n"
    "  TF_WORKER_HOST=localhost LD_LIBRARY_PATH=.../lib ./program\n"
    "\n"
    "Same machine, through shared memory instead of TCP (several times faster):\n"
    "  hip-worker --socket /tmp/hip.sock\n"
    "  TF_WORKER_SOCKET=/tmp/hip.sock LD_LIBRARY_PATH=.../lib ./program\n"
    "\n"
    "TF_IO_TIMEOUT, TF_RDMA_DEVICE, TF_RDMA_GID_INDEX and TF_TCP_ENGINE count here too (hip-remote info).\n"
    "\n"
    "Every client gets a process of its own; SIGTERM or Ctrl-C ends the worker in order.";

void declare(CLI::App& app, Options& options) {
  app.add_option("-p,--port", options.port, "TCP port; 0 lets the system choose (it is logged)")
      ->envname("TF_WORKER_PORT")
      ->capture_default_str();
  app.add_option("--listen", options.listen,
                 "TCP address to listen on; loopback only, since there is no authentication yet")
      ->capture_default_str();
  app.add_flag("!--no-tcp", options.tcp, "Serve the Unix socket only");
  app.add_option(
         "--socket", options.socket,
         "Unix socket to listen on too, for clients on this host (shared memory); @name for an abstract one")
      ->envname("TF_WORKER_SOCKET");
  app.add_option("--runtime", options.runtime,
                 "HIP runtime: amd, cuda, cpu, the path of a library, or auto (the first that has a device)")
      ->envname("TF_RUNTIME")
      ->capture_default_str();
  app.add_option("-d,--device", options.device, "Offer this device only; default: all")
      ->envname("TF_DEVICE_ID")
      ->check(CLI::Range(-1, 63));
  app.add_option("--spares", options.spares, "Session processes kept warm for the next clients")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--sessions-max", options.sessions_max, "Clients served at the same time; more are refused")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.add_option("--ready-fd", options.ready_fd,
                 "When listening, write \"ready <tcp port> <socket>\" and a newline to this descriptor");
  app.add_flag("-v,--verbose", options.verbose, "Log every session's start and end")->envname("TF_DEBUG");
  app.add_flag("-q,--quiet", options.quiet, "Log only what goes wrong");
  app.add_flag("--session", options.is_session, "")->group("");  // internal
}

bool check(Options& options) {
  const Result<std::chrono::seconds> timeout = net::io_timeout_from_environment();
  if (!timeout) {
    log("{}", timeout.status().message());
    return false;
  }
  options.io_timeout = timeout.value();
  if (options.is_session) return true;
  if (!options.tcp && options.socket.empty()) {
    log("nothing to listen on: --no-tcp without --socket");
    return false;
  }
  if (options.tcp && !net::Address::tcp(options.listen, options.port).is_local()) {
    log("--listen {}: whoever reaches this address could run code here. Listening off loopback needs "
        "--key-file, which this release does not have; use an SSH tunnel to 127.0.0.1:{} instead.",
        options.listen, options.port);
    return false;
  }
  return true;
}

}  // namespace

ParseResult parse_options(int argc, char** argv, Options& options) {
  CLI::App app{kAbout, "hip-worker"};
  declare(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? ParseResult::kExitOk : ParseResult::kExitError;
  }
  return check(options) ? ParseResult::kRun : ParseResult::kExitError;
}

}  // namespace tf::worker
