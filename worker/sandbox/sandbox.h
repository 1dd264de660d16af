// SPDX-License-Identifier: Apache-2.0
// Sandbox: the walls between a session process and all others. The process gives up what it will not need
// before it reads the client's first byte: clients run native code in it. Three steps, since drivers start
// threads when they are loaded, and some walls are only for threads that are started later, while others hold
// for all that there are.
//
// Everything is tried; what cannot be had on this machine is said, and a worker that must have it
// (--require-sandbox) does not start.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "transport/base/status.h"
#include "worker/base/options.h"
#include "worker/sandbox/compiler_walls.h"

namespace tf::worker {

// Whether the walls stay down because the runtime may load AMD's driver, whose device is among `devices`
// (files), and nobody has asked for walls: that driver has not been tried behind them yet.
bool spares_drivers(const SandboxOptions& options, const std::string& runtime,
                    const std::vector<std::string>& devices);

class Sandbox {
 public:
  explicit Sandbox(const SandboxOptions& options) : options_(options), off_(options.off) {}

  // Descriptors, namespaces, user, capabilities, files. REQUIRES: the process has one thread, and of
  // descriptors none but the standard ones, the channel and the last words. `runtime`: the name or path of
  // the runtime that it will load.
  void enter(const std::string& runtime);
  // System calls, and the process's own memory. Once the runtime is loaded, before there is a client.
  void close();
  // What it took to set up the lanes. Before the client's first request.
  Status seal() const;

  // Around what compiles for the client, besides those around the session; null: there are none.
  const std::shared_ptr<const CompilerWalls>& compilers() const { return compilers_; }
  // Whether all walls stand that a worker can require: namespaces are not among them.
  bool complete() const { return !off_ && missing_.empty(); }
  // Which, in words: "files, signals, ...; missing: network (why)". For the log and for users.
  std::string text() const;

  // What it may have of the host: "disk 16 MiB, ...; not limited: memory (why)".
  std::string limits() const;

 private:
  void note(const char* wall, const Status& status);
  Status close_files(const std::string& runtime);
  Status wall_compilers(const std::string& runtime);
  void separate(const std::string& runtime);
  void share(const char* what, const Status& why);
  std::vector<std::string> needed(const std::string& runtime) const;

  const SandboxOptions& options_;
  bool off_;
  std::string standing_;
  std::string missing_;
  Status disk_{Code::kUnavailable, "no mounts of its own"};  // whether its files are limited
  std::shared_ptr<const CompilerWalls> compilers_;
  std::string shared_;  // namespaces that it does not have; they are no walls that can be required
};

}  // namespace tf::worker
