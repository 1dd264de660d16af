// SPDX-License-Identifier: Apache-2.0
// PassedFiles: files that the client passed on the control connection and that no request has taken yet. The
// thread that reads the connection delivers them; the executor takes them.
#pragma once

#include <cstdint>
#include <map>

#include "hipcore/wire/control_message.h"
#include "transport/base/mutex.h"
#include "transport/base/status.h"
#include "transport/net/fd.h"

namespace tf::worker {

class PassedFiles {
 public:
  // Fails if the number is in use, or too many files are waiting.
  Status deliver(std::uint64_t number, net::OwnedFd file);
  // Empty: it has not arrived yet.
  net::OwnedFd take(std::uint64_t number);

 private:
  Mutex mutex_;
  std::map<std::uint64_t, net::OwnedFd> waiting_ TF_GUARDED_BY(mutex_);
};

}  // namespace tf::worker
