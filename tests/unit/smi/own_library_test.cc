// SPDX-License-Identifier: Apache-2.0
// A worker with the client's library in its library path.
#include <gtest/gtest.h>

#include "smi/runtime/amd.h"

namespace tf::smi {
namespace {

TEST(Vendors, OurOwnClientLibraryIsNoSource) {
  const Result<std::unique_ptr<Runtime>> amd = AmdRuntime::open(TF_CLIENT_ROCM_SMI);
  EXPECT_EQ(amd.code(), Code::kUnavailable);
  EXPECT_NE(amd.status().message().find("hip-remote's own"), std::string::npos) << amd.status().message();
}

}  // namespace
}  // namespace tf::smi
