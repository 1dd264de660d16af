// SPDX-License-Identifier: Apache-2.0
// The commands of hip-remote. Each returns the process's exit code.
#pragma once

#include <string>
#include <vector>

#include "tools/hip-remote/layout.h"
#include "tools/hip-remote/process.h"

namespace tf::tools {

struct InfoOptions {
  std::string worker;  // ask this one too; empty: as in TF_WORKER_*
  bool json = false;
  std::string list;  // only devices, transports, runtimes or variables; empty: everything
};
int info(const Layout& layout, const InfoOptions& options);

struct RunOptions {
  std::string worker;     // HOST:PORT or unix:PATH; empty: as TF_WORKER_* say
  std::string transport;  // empty: TF_TRANSPORT, else auto
  std::string runtime;    // of the private worker; with `native` of the program
  bool local = false;
  std::vector<std::string> readable;  // by the private worker's sessions, besides what the system has for all
  bool walls = true;                  // around the private worker's sessions
  bool native = false;                // run on the runtime itself, without a worker
  bool preload = true;                // false: the program finds our library by its search path only
  std::string preload_major;          // of HIP; empty: as the program's file says
  bool verbose = false;
  std::string trace;  // when the calls began and ended: a JSON file; empty: not traced
  std::string stats;  // what the calls cost: a JSON file; "-": a table on standard error; empty: not counted
  std::vector<std::string> program;
};
int run(const Layout& layout, const RunOptions& options, Ending& ending);

struct TopOptions {
  std::string worker;  // empty: as TF_WORKER_* say
  long interval_s = 1;
};
// Becomes smi-remote, unless that cannot be started.
int top(const Layout& layout, const TopOptions& options);

struct KeygenOptions {
  std::string file;  // empty: the usual one
  std::string name;  // empty: USER@HOST
  bool show = false;
  bool too_many = false;  // files
};
int keygen(const KeygenOptions& options);

struct BenchOptions {
  std::vector<std::string> transports;  // shm, rdma, tcp; empty: all that are possible
  bool json = false;
  bool quick = false;
  std::string plot;               // SVG file; empty: none
  bool compare = false;           // every target with its limit and the peers
  bool peers = false;             // other people's transports beside ours
  std::vector<std::string> rtts;  // measure cost against these distances, and nothing else
  std::string rate;               // of the network between
  std::string lock;               // for a shared machine: held during each step of --compare and --peers
};
int bench(const Layout& layout, const BenchOptions& options, Ending& ending);

// The variables that point our library at a worker, from HOST:PORT or unix:PATH.
Status point_at_worker(const std::string& worker, EnvironmentChanges& environment);

}  // namespace tf::tools
