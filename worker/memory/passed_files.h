// SPDX-License-Identifier: Apache-2.0
// PassedFiles: what the client has passed on the control connection and no request has taken yet. Whoever
// reads the connection delivers, the executor takes.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "hipcore/wire/passed_file.h"
#include "transport/base/status.h"
#include "transport/net/fd.h"

namespace tf::worker {

class PassedFiles {
 public:
  // Not ok: a number that is in use, or too many wait.
  Status deliver(protocol::PassedFile passed);
  // Empty: it has not come yet.
  net::OwnedFd take(std::uint64_t number);

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, net::OwnedFd> waiting_;
};

}  // namespace tf::worker
