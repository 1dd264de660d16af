// SPDX-License-Identifier: Apache-2.0
// HIP's device language for programs that NVRTC compiles.
#include "worker/runtime/cuda/rtc/prelude.h"

namespace tf::cuda::rtc {
namespace {

// The platform is NVIDIA's: what programs have for AMD's alone is written in AMD's instructions.
//
// Shuffles name all lanes, so that a warp that diverged in a branch reconverges, which a reduction needs.
// Votes ask the active lanes, which is the purpose of __ballot in a branch. The fixed-width integers are
// those of AMD's hiprtc, with long long for 64 bits; programs define them again.
constexpr std::string_view kPrelude = R"(
#define __HIPCC_RTC__ 1
#define __HIPCC__ 1
#define __HIP__ 1
#define __HIP_DEVICE_COMPILE__ 1
#define __HIP_PLATFORM_NVIDIA__ 1
#define __HIP_PLATFORM_NVCC__ 1
#define HIP_VERSION_MAJOR 5
#define HIP_VERSION_MINOR 2
#define HIP_VERSION_PATCH 21153
#define HIP_VERSION 50221153
#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(symbol) symbol
#define HIP_DYNAMIC_SHARED(type, variable) extern __shared__ type variable[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE

typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef signed int int32_t;
typedef signed long long int64_t;
namespace std {
using ::uint32_t;
using ::uint64_t;
using ::int32_t;
using ::int64_t;
}

template <typename T>
__device__ __forceinline__ T __hip_shfl(T value, int lane, int width = 32) {
  return __shfl_sync(0xffffffffu, value, lane, width);
}
template <typename T>
__device__ __forceinline__ T __hip_shfl_up(T value, unsigned int delta, int width = 32) {
  return __shfl_up_sync(0xffffffffu, value, delta, width);
}
template <typename T>
__device__ __forceinline__ T __hip_shfl_down(T value, unsigned int delta, int width = 32) {
  return __shfl_down_sync(0xffffffffu, value, delta, width);
}
template <typename T>
__device__ __forceinline__ T __hip_shfl_xor(T value, int mask, int width = 32) {
  return __shfl_xor_sync(0xffffffffu, value, mask, width);
}
__device__ __forceinline__ unsigned long long __hip_ballot(int predicate) {
  return __ballot_sync(__activemask(), predicate);
}
__device__ __forceinline__ int __hip_any(int predicate) { return __any_sync(__activemask(), predicate); }
__device__ __forceinline__ int __hip_all(int predicate) { return __all_sync(__activemask(), predicate); }
__device__ __forceinline__ unsigned int __hip_lane() {
  unsigned int lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
__device__ __forceinline__ long long __hip_wall_clock() {
  long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
#define __shfl(...) __hip_shfl(__VA_ARGS__)
#define __shfl_up(...) __hip_shfl_up(__VA_ARGS__)
#define __shfl_down(...) __hip_shfl_down(__VA_ARGS__)
#define __shfl_xor(...) __hip_shfl_xor(__VA_ARGS__)
#define __ballot(predicate) __hip_ballot(predicate)
#define __ballot64(predicate) __hip_ballot(predicate)
#define __any(predicate) __hip_any(predicate)
#define __all(predicate) __hip_all(predicate)
#define __lane_id() __hip_lane()
#define __clock() clock()
#define __clock64() clock64()
#define wall_clock64() __hip_wall_clock()

template <typename T>
__device__ __forceinline__ T unsafeAtomicAdd(T* address, T value) { return atomicAdd(address, value); }
template <typename T>
__device__ __forceinline__ T safeAtomicAdd(T* address, T value) { return atomicAdd(address, value); }
template <typename T>
__device__ __forceinline__ void atomicAddNoRet(T* address, T value) { atomicAdd(address, value); }
)";

constexpr std::string_view kEmpty = "#pragma once\n";

constexpr std::string_view kIntegers = R"(#pragma once
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
namespace std {
using ::int8_t;
using ::uint8_t;
using ::int16_t;
using ::uint16_t;
using ::intptr_t;
using ::uintptr_t;
}
)";

constexpr std::string_view kSizes = R"(#pragma once
namespace std {
using ::size_t;
using ::ptrdiff_t;
}
)";

constexpr std::string_view kAssert = R"(#pragma once
#define assert(condition) ((condition) ? static_cast<void>(0) : __trap())
)";

constexpr std::string_view kHalf = "#pragma once\n#include <cuda_fp16.h>\n";
constexpr std::string_view kBrainFloat =
    "#pragma once\n#include <cuda_bf16.h>\ntypedef __nv_bfloat16 __hip_bfloat16;\n"
    "typedef __nv_bfloat162 __hip_bfloat162;\n";

}  // namespace

std::string_view prelude() { return kPrelude; }

const std::map<std::string, std::string>& headers() {
  static const std::map<std::string, std::string>* const all = [] {
    auto* const made = new std::map<std::string, std::string>;  // for ever
    for (const char* name :
         {"hip/hip_runtime.h", "hip/hip_runtime_api.h", "hip/hip_vector_types.h", "hip/device_functions.h",
          "hip/math_functions.h", "hip/hip_common.h", "math.h", "stdio.h", "cstdio"})
      made->emplace(name, kEmpty);
    made->emplace("stdint.h", kIntegers);
    made->emplace("cstdint", kIntegers);
    made->emplace("stddef.h", kSizes);
    made->emplace("cstddef", kSizes);
    made->emplace("assert.h", kAssert);
    made->emplace("cassert", kAssert);
    made->emplace("hip/hip_cooperative_groups.h", "#pragma once\n#include <cooperative_groups.h>\n");
    made->emplace("hip/hip_fp16.h", kHalf);
    made->emplace("hip/hip_bf16.h", kBrainFloat);
    return made;
  }();
  return *all;
}

}  // namespace tf::cuda::rtc
