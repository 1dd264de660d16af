// SPDX-License-Identifier: Apache-2.0
// Decides whether a lane's sends use SEND_ZC, from what the kernel reports about earlier ones.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace tf::tcp {

// Smaller sends are copied: pinning pages and a second completion cost more than so short a copy. No link on
// which SEND_ZC avoids the copy was at hand (docs/performance-log.md, "sends without a copy"), so this value
// is not measured.
inline constexpr std::size_t kZeroCopyBytesMin = 64 * 1024;

// Newer than the headers of Debian 12. Probed by use: a kernel that does not know it answers EINVAL.
inline constexpr std::uint16_t kSendZcReportUsage = 1u << 3;
inline constexpr std::uint32_t kNotifyCopied = 1u << 31;

class ZeroCopyPolicy {
 public:
  explicit ZeroCopyPolicy(bool wanted) : on_(wanted) {}

  bool takes(std::size_t bytes) const { return on_ && bytes >= kZeroCopyBytesMin; }
  // The notification that ends such a send. If the kernel copied once, it always will: the route needs it
  // (loopback, veth, a card without scatter-gather), and the pinning then only adds cost.
  void on_notification(std::uint32_t result) {
    if ((result & kNotifyCopied) != 0) on_ = false;
  }
  // The result of such a send. True: refused (old kernels, Unix sockets, exhausted locked memory). Send it,
  // and all later ones, by copying.
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
