// SPDX-License-Identifier: Apache-2.0
// Remote: a session with a worker that asks for the state of devices (smi/api/messages.h). Devices are those
// that a HIP program with the same environment sees, in the same order. Any thread.
#pragma once

#include <memory>
#include <vector>

#include "hipcore/smi/values.h"
#include "proxy/base/environment.h"
#include "proxy/session/connect.h"
#include "proxy/session/connection.h"
#include "transport/base/status.h"

namespace tf::smi {

inline constexpr std::size_t kSessionsMax = 8192;  // that are listed

class Remote final : private proxy::ConnectionObserver {
 public:
  // Blocks for at most the connect timeout. The Status says what was tried.
  static Result<std::unique_ptr<Remote>> connect(proxy::Settings settings);
  // The worker that the environment names.
  static Result<std::unique_ptr<Remote>> connect();
  Remote(const Remote&) = delete;
  Remote& operator=(const Remote&) = delete;
  ~Remote();

  int device_count() const { return connection_.device_count(); }
  // kInvalidArgument: there is no such device. kPeerLost: the worker is gone, for good.
  Status describe(int device, Facts& facts);
  Status sample(int device, Sample& sample);
  Status find_link(int from, int to, Link& link);
  // The tenant's other sessions. Memory is that of our devices, in our order, and zeros behind them.
  Result<std::vector<Session>> sessions();

  const std::string& worker() const { return worker_; }
  bool lost() const { return connection_.lost(); }
  // In the child of fork(), which never uses it again. Async-signal-safe.
  void after_fork_in_child() const { connection_.after_fork_in_child(); }

 private:
  Remote(proxy::Connected&& connected, const std::vector<int>& seen, std::string worker);
  template <typename Request, typename Reply>
  Status ask(const Request& request, Reply& reply);
  bool has(int device) const { return device >= 0 && device < device_count(); }

  // A session that only asks posts nothing.
  std::optional<hipError_t> before_post(protocol::OpTraits, int, std::span<const std::byte>,
                                        std::span<const std::byte>) override {
    return std::nullopt;
  }
  void after_post(protocol::OpTraits) override {}
  hipError_t stream_waited(int, std::uint64_t) override { return hipSuccess; }
  hipError_t device_waited(int) override { return hipSuccess; }
  void callback_due(std::uint64_t, hipError_t, std::uint32_t) override {}
  void callback_refused(std::uint64_t) override {}
  bool seen_by_others(std::uint64_t) override { return false; }  // it fills nothing

  const std::string worker_;
  proxy::Connection connection_;
};

}  // namespace tf::smi
