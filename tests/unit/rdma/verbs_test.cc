// SPDX-License-Identifier: Apache-2.0
#include "rdma/verbs.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace tf::rdma {
namespace {

const bool linked = ::dlopen("libibverbs.so.1", RTLD_NOW | RTLD_NOLOAD) != nullptr;

TEST(VerbsTest, NothingIsLoadedBeforeSomebodyAsks) { EXPECT_FALSE(linked); }

// The library may be missing here; then the reason names it. With it every function is there.
TEST(VerbsTest, LoadsOrSaysWhatIsMissing) {
  const Result<const Verbs*> loaded = load_verbs();
  if (!loaded) {
    EXPECT_EQ(loaded.code(), Code::kUnavailable);
    EXPECT_NE(loaded.status().message().find("libibverbs.so.1"), std::string::npos);
    GTEST_SKIP() << loaded.status().message();
  }
  std::array<void*, sizeof(Verbs) / sizeof(void*)> functions;
  static_assert(sizeof(functions) == sizeof(Verbs), "nothing but functions");
  std::memcpy(functions.data(), loaded.value(), sizeof(Verbs));
  EXPECT_EQ(std::count(functions.begin(), functions.end(), nullptr), 0);
  EXPECT_EQ(load_verbs().value(), loaded.value());
  EXPECT_STREQ(loaded.value()->wc_status_str(IBV_WC_SUCCESS), "success");
  int count = -1;
  ibv_device** const list = loaded.value()->get_device_list(&count);
  if (list == nullptr) GTEST_SKIP() << "no verbs in this kernel";
  EXPECT_GE(count, 0);
  loaded.value()->free_device_list(list);
}

}  // namespace
}  // namespace tf::rdma
