// SPDX-License-Identifier: Apache-2.0
// Raises the limit of open descriptors.
#include "worker/supervisor/descriptor_limit.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

namespace tf::worker {

Result<std::size_t> raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return Status::from_errno("getrlimit", errno);
  if (limit.rlim_max < kDescriptorsMin)
    return Status(
        Code::kResourceExhausted,
        fmt::format("the limit of open files is {} here (ulimit -Hn), and a worker needs at least {}",
                    limit.rlim_max, kDescriptorsMin));
  const rlim_t wanted = std::min<rlim_t>(limit.rlim_max, kDescriptorsWanted);
  if (limit.rlim_cur >= wanted) return static_cast<std::size_t>(limit.rlim_cur);
  limit.rlim_cur = wanted;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return Status::from_errno("setrlimit", errno);
  return static_cast<std::size_t>(wanted);
}

}  // namespace tf::worker
