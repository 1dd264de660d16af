// SPDX-License-Identifier: Apache-2.0
// RdmaProvider: a strict verbs provider in this process, the transport over it, and a limit of what may be
// pinned. Any thread.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rdma/transport.h"
#include "tests/support/verbs/fake_fabric.h"

namespace tf::conformance {

inline std::vector<test::FakeDevice> two_devices() {
  return {test::FakeDevice::make(0), test::FakeDevice::make(1)};
}

// Of one request, in bytes: as the ring of messages has, and less than what is registered once goes by.
inline constexpr std::uint32_t kPagingMessage = 1u << 20;

// They offer on-demand paging, and move little by one request.
inline std::vector<test::FakeDevice> two_paging_devices() {
  std::vector<test::FakeDevice> devices = two_devices();
  for (test::FakeDevice& device : devices) {
    device.ports[0].max_message = kPagingMessage;
    device.attributes.odp_caps.general_caps = IBV_ODP_SUPPORT;
    device.attributes.odp_caps.per_transport_caps.rc_odp_caps = IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;
  }
  return devices;
}

class RdmaProvider {
 public:
  explicit RdmaProvider(std::vector<test::FakeDevice> devices)
      : fabric_(std::move(devices)), transport_(rdma::make_transport(*fabric_.verbs(), {})) {}

  const net::Transport& transport() const { return *transport_; }
  const test::FakeFabric& fabric() const { return fabric_; }

  // No more is pinned than is now: endpoints that are there have their rings and slots, and get nothing else.
  void limit() { fabric_.set_memory_limit(fabric_.registered_bytes()); }
  void lift_limit() { fabric_.set_memory_limit(std::numeric_limits<std::size_t>::max()); }

  // Says each violation once. One thread at a time.
  void check_rules() {
    const std::vector<std::string> violations = fabric_.violations();
    for (; told_ < violations.size(); ++told_) ADD_FAILURE() << violations[told_];
    EXPECT_EQ(fabric_.counters().rnr, 0u);
  }

 private:
  test::FakeFabric fabric_;
  const std::unique_ptr<net::Transport> transport_;
  std::size_t told_ = 0;
};

}  // namespace tf::conformance
