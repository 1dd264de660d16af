// SPDX-License-Identifier: Apache-2.0
// Files that the client passed and no request has taken yet.
#include "worker/memory/passed_files.h"

#include <utility>

#include "transport/base/mutex.h"

namespace tf::worker {

Status PassedFiles::deliver(std::uint64_t number, net::OwnedFd file) {
  const MutexLock lock(mutex_);
  if (waiting_.size() >= protocol::kPassedFilesMax)
    return {Code::kResourceExhausted, "the client passed too many unused files"};
  if (!waiting_.emplace(number, std::move(file)).second)
    return {Code::kProtocol, "the client passed two files with the same number"};
  return Status::ok();
}

net::OwnedFd PassedFiles::take(std::uint64_t number) {
  const MutexLock lock(mutex_);
  const auto found = waiting_.find(number);
  if (found == waiting_.end()) return {};
  net::OwnedFd file = std::move(found->second);
  waiting_.erase(found);
  return file;
}

}  // namespace tf::worker
