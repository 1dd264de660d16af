// SPDX-License-Identifier: Apache-2.0
// The kinds of memory that host and kernels use, for tests that try all of them.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tests/api/hip_test.h"

namespace tf::api_test {

inline constexpr int kHostInts = 50'000;  // of each, unless a test says otherwise

// Each way to get memory that host and kernels use, with the address that kernels get.
enum class Kind { kManaged, kPinned, kMapped, kRegistered, kFineGrained };
inline constexpr Kind kKinds[] = {Kind::kManaged, Kind::kPinned, Kind::kMapped, Kind::kRegistered,
                                  Kind::kFineGrained};

class Shared {
 public:
  explicit Shared(Kind kind, std::size_t bytes = kHostInts * sizeof(int)) : kind_(kind) {
    void* memory = nullptr;
    switch (kind) {
      case Kind::kManaged: EXPECT_EQ(hipMallocManaged(&memory, bytes, hipMemAttachGlobal), hipSuccess); break;
      case Kind::kPinned: EXPECT_EQ(hipHostMalloc(&memory, bytes, hipHostMallocDefault), hipSuccess); break;
      case Kind::kMapped: EXPECT_EQ(hipHostMalloc(&memory, bytes, hipHostMallocMapped), hipSuccess); break;
      case Kind::kFineGrained:
        EXPECT_EQ(hipExtMallocWithFlags(&memory, bytes, hipDeviceMallocFinegrained), hipSuccess);
        break;
      case Kind::kRegistered:
        own_.resize(bytes / sizeof(int) + 100);
        memory = own_.data() + 7;  // neither ends of the range are ends of pages
        EXPECT_EQ(hipHostRegister(memory, bytes, hipHostRegisterMapped), hipSuccess);
        break;
    }
    host_ = static_cast<int*>(memory);
    device_ = memory;
    if (kind != Kind::kRegistered) return;
    int mapped = 0;
    EXPECT_EQ(hipDeviceGetAttribute(&mapped, hipDeviceAttributeCanMapHostMemory, 0), hipSuccess);
    works_ = mapped != 0;
    EXPECT_EQ(hipHostGetDevicePointer(&device_, memory, 0) == hipSuccess, works_);
  }
  ~Shared() {
    if (kind_ == Kind::kRegistered)
      EXPECT_EQ(hipHostUnregister(host_), hipSuccess);
    else if (kind_ == Kind::kManaged || kind_ == Kind::kFineGrained)
      EXPECT_EQ(hipFree(host_), hipSuccess);
    else
      EXPECT_EQ(hipHostFree(host_), hipSuccess);
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  // False: registered memory, and the device says that it maps none.
  bool works() const { return works_; }
  int* host() const { return host_; }
  void* device() const { return device_; }
  std::vector<int> seen(std::size_t count = kHostInts) const { return {host_, host_ + count}; }

 private:
  Kind kind_;
  bool works_ = true;
  std::vector<int> own_;
  int* host_ = nullptr;
  void* device_ = nullptr;
};

// Whether the host reaches memory of hipExtMallocWithFlags. Not that of NVIDIA's driver, which has no such
// kind; remotely only where the client maps it, or has host memory in its place (TF_FINE_GRAINED).
inline bool host_reaches_fine_grained() {
  if (!is_remote()) return !is_nvidia();
  hipDeviceProp_t properties = {};
  EXPECT_EQ(hipGetDeviceProperties(&properties, 0), hipSuccess);
  if (properties.isLargeBar != 0) return true;
  const char* const variable = std::getenv("TF_FINE_GRAINED");
  const std::string_view told = variable != nullptr ? variable : "auto";
  return told == "host" ||
         ((told.empty() || told == "auto") && std::strstr(properties.gcnArchName, "-cpu") != nullptr);
}

// Whether host and kernels use the same memory of this kind at all (not with TF_MIRROR=0 and a worker
// elsewhere).
inline bool is_offered(Kind kind) {
  if (kind == Kind::kFineGrained && !host_reaches_fine_grained()) return false;
  int offered = 0;
  const auto what =
      kind == Kind::kManaged ? hipDeviceAttributeManagedMemory : hipDeviceAttributeCanMapHostMemory;
  EXPECT_EQ(hipDeviceGetAttribute(&offered, what, 0), hipSuccess);
  return offered != 0;
}

inline std::string name_of_kind(const ::testing::TestParamInfo<Kind>& tested) {
  constexpr const char* kNames[] = {"Managed", "Pinned", "Mapped", "Registered", "FineGrained"};
  return kNames[static_cast<int>(tested.param)];
}

}  // namespace tf::api_test
