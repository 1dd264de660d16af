// SPDX-License-Identifier: Apache-2.0
// LocalWorker: a private hip-worker of this process, on loopback. Ends with its owner.
#pragma once

#include <cstdint>
#include <string>

#include "tools/hip-remote/layout.h"
#include "tools/hip-remote/process.h"

namespace tf::tools {

class LocalWorker {
 public:
  // Starts hip-worker on a free port and a private Unix socket and waits until it listens, or `ending` has
  // something to take: then kClosed.
  static Result<LocalWorker> start(const Layout& layout, const std::string& runtime, bool verbose,
                                   const Ending& ending);
  LocalWorker(LocalWorker&& other) noexcept;
  LocalWorker& operator=(LocalWorker&&) = delete;
  ~LocalWorker();

  std::uint16_t port() const { return port_; }
  const std::string& socket() const { return socket_; }
  // What a program needs to find this worker over `transport` (auto, shm, tcp, ...).
  EnvironmentChanges environment(const std::string& transport) const;

 private:
  LocalWorker() = default;

  pid_t pid_ = -1;
  std::uint16_t port_ = 0;
  std::string socket_;
  std::string directory_;  // holds the socket; removed at the end
};

}  // namespace tf::tools
