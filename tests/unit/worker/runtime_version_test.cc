// SPDX-License-Identifier: Apache-2.0
// What AMD's releases differ in, by their version.
#include "worker/base/runtime_version.h"

#include <gtest/gtest.h>

namespace tf::worker {
namespace {

template <int kVersion>
protocol::HipTable runtime_of() {
  protocol::HipTable hip;
  hip.hipRuntimeGetVersion = [](int* version) {
    *version = kVersion;
    return kVersion != 0 ? hipSuccess : hipErrorNotSupported;
  };
  return hip;
}

TEST(RuntimeVersion, TellsWhatHipIpcOpenMemHandleTakes) {
  EXPECT_EQ(ipc_open_flags(runtime_of<50'221'153>()), 0U);  // Debian 12
  EXPECT_EQ(ipc_open_flags(runtime_of<50'731'921>()), 0U);  // 5.7.1
  EXPECT_EQ(ipc_open_flags(runtime_of<60'000'000>()), 1U);
  EXPECT_EQ(ipc_open_flags(runtime_of<60'443'484>()), 1U);  // sid
  EXPECT_EQ(ipc_open_flags(runtime_of<0>()), 0U) << "it does not say";
}

}  // namespace
}  // namespace tf::worker
