// SPDX-License-Identifier: Apache-2.0
// hip-worker: supervisor or, started by one, session process.
#include <signal.h>
#include <unistd.h>

#include <exception>

#include "tools/hip-worker/options.h"
#include "transport/net/standard_descriptors.h"
#include "worker/base/log.h"
#include "worker/gen/dispatch.h"
#include "worker/session/session_process.h"
#include "worker/session/smi_process.h"
#include "worker/supervisor/supervisor.h"

namespace {

int run_supervisor(const tf::worker::Options& options) {
  tf::worker::Supervisor supervisor(options);
  tf::Status status = supervisor.open();
  if (status.is_ok()) status = supervisor.run();
  if (status.is_ok()) return 0;
  tf::worker::log(tf::worker::LogLevel::kError, "{}", status.message());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    tf::net::open_standard_descriptors();
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGHUP, SIG_IGN);  // sessions, compilers too; a supervisor hears of it (signalfd)
    tf::worker::Options options;
    switch (tf::worker::parse_options(argc, argv, options)) {
      case tf::worker::ParseResult::kExitOk: return 0;
      case tf::worker::ParseResult::kExitError: return 2;
      case tf::worker::ParseResult::kRun: break;
    }
    if (options.is_smi) ::_exit(tf::worker::run_smi_process(options));
    if (options.is_session) ::_exit(tf::worker::run_session_process(options, tf::worker::dispatch_table()));
    return run_supervisor(options);
  } catch (const std::exception& error) {
    tf::worker::log(tf::worker::LogLevel::kError, "ended by an unexpected failure: {}", error.what());
    return 1;
  }
}
