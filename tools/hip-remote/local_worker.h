// SPDX-License-Identifier: Apache-2.0
// LocalWorker: a private hip-worker of this process. Ends with its owner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/hip-remote/layout.h"
#include "tools/hip-remote/process.h"

namespace tf::tools {

struct LocalWorkerOptions {
  std::string runtime;  // empty: the worker's own choice
  std::string transport;
  std::vector<std::string> readable = {};  // what sessions may read besides what the system has for all
  bool walls = true;                       // around sessions
  bool verbose = false;
};

class LocalWorker {
 public:
  // Starts hip-worker on a private Unix socket, for a transport (auto, shm, tcp, ...) that goes over TCP also
  // on a free port of loopback, and waits until it listens, or `ending` has something to take: then kClosed.
  static Result<LocalWorker> start(const Layout& layout, const LocalWorkerOptions& options,
                                   const Ending& ending);
  LocalWorker(LocalWorker&& other) noexcept;
  LocalWorker& operator=(LocalWorker&&) = delete;
  ~LocalWorker();

  // What a program needs to find this worker over the transport.
  EnvironmentChanges environment() const;

 private:
  LocalWorker() = default;

  pid_t pid_ = -1;
  std::string transport_;
  std::uint16_t port_ = 0;  // 0: none
  std::string socket_;
  std::string directory_;  // holds the socket; removed at the end
};

}  // namespace tf::tools
