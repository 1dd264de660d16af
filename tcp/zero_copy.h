// SPDX-License-Identifier: Apache-2.0
// Whether a lane's sends go without a copy (SEND_ZC): from what the kernel reports about those that did.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace tf::tcp {

// Smaller sends are copied: pages to pin and a second completion, in place of so short a copy. No link was
// here on which SEND_ZC does not copy (docs/performance-log.md, "sends without a copy"), so it is not
// measured.
inline constexpr std::size_t kZeroCopyBytesMin = 64 * 1024;

// Newer than the headers of Debian 12; probed by use: a kernel that does not know it answers EINVAL.
inline constexpr std::uint16_t kSendZcReportUsage = 1u << 3;
inline constexpr std::uint32_t kNotifyCopied = 1u << 31;

class ZeroCopyPolicy {
 public:
  explicit ZeroCopyPolicy(bool wanted) : on_(wanted) {}

  bool takes(std::size_t bytes) const { return on_ && bytes >= kZeroCopyBytesMin; }
  // The notification that ends such a send. Copied once, copied always: it is the route that needs it
  // (loopback, veth, a card without scatter-gather), and the pinning then comes on top.
  void on_notification(std::uint32_t result) {
    if ((result & kNotifyCopied) != 0) on_ = false;
  }
  // The result of such a send. True: refused (old kernels, Unix sockets, exhausted locked memory); it is to
  // be sent by copying, like all that come later.
  bool on_result(int result) {
    const bool refused =
        result == -EINVAL || result == -EOPNOTSUPP || result == -ENOBUFS || result == -ENOMEM;
    if (refused) on_ = false;
    return refused;
  }

 private:
  bool on_;
};

}  // namespace tf::tcp
