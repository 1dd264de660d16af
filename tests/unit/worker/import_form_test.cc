// SPDX-License-Identifier: Apache-2.0
// Runtimes that take a descriptor as a pointer to it, or as a number.
#include "worker/memory/import_form.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace tf::worker {
namespace {

constexpr int kDescriptor = 42;
int released = 0;

hipError_t import_what_is_pointed_to(hipMemGenericAllocationHandle_t*, void* handle,
                                     hipMemAllocationHandleType) {
  return *static_cast<int*>(handle) == kDescriptor ? hipSuccess : hipErrorInvalidValue;
}
hipError_t import_number(hipMemGenericAllocationHandle_t*, void* handle, hipMemAllocationHandleType) {
  return handle == reinterpret_cast<void*>(std::intptr_t{kDescriptor}) ? hipSuccess : hipErrorInvalidValue;
}

template <int kVersion = 70'253'211>
protocol::HipTable runtime_with(decltype(&::hipMemImportFromShareableHandle) import) {
  protocol::HipTable hip;
  hip.hipRuntimeGetVersion = [](int* version) {
    *version = kVersion;
    return hipSuccess;
  };
  hip.hipMemImportFromShareableHandle = import;
  hip.hipMemRelease = [](hipMemGenericAllocationHandle_t) {
    ++released;
    return hipSuccess;
  };
  return hip;
}

TEST(ImportForm, IsFoundWithGoodMemory) {
  hipMemGenericAllocationHandle_t memory{};
  for (const auto import : {import_what_is_pointed_to, import_number}) {
    const protocol::HipTable hip = runtime_with(import);
    released = 0;
    EXPECT_TRUE(find_import_form(hip, kDescriptor));
    EXPECT_EQ(released, 1);
    EXPECT_EQ(import_physical(hip, kDescriptor, memory), hipSuccess);
    // Of the other form it would be an address that nobody may read.
    EXPECT_EQ(import_physical(hip, kDescriptor + 1, memory), hipErrorInvalidValue);
  }
}

TEST(ImportForm, OldRuntimesGetNoNumber) {
  EXPECT_FALSE(find_import_form(runtime_with<60'443'484>(import_what_is_pointed_to), kDescriptor + 1));
}

TEST(ImportForm, OfWhoImportsNothingIsNone) {
  const auto refuse = [](hipMemGenericAllocationHandle_t*, void*, hipMemAllocationHandleType) {
    return hipErrorNotSupported;
  };
  EXPECT_FALSE(find_import_form(runtime_with(refuse), kDescriptor));
}

}  // namespace
}  // namespace tf::worker
