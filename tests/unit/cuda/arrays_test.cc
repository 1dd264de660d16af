// SPDX-License-Identifier: Apache-2.0
// Arrays, textures and surfaces are the driver's own, on a driver that only remembers.
#include "tests/unit/cuda/fixture.h"

namespace tf::fake_cuda {
namespace {

constexpr hipChannelFormatDesc kFloat2{32, 32, 0, 0, hipChannelFormatKindFloat};

template <typename Handle>
std::uintptr_t number_of(Handle handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}

TEST_F(CudaRuntime, AnArrayIsTheDriversOwn) {
  hipArray_t array = nullptr;
  ASSERT_EQ(hipMalloc3DArray(&array, &kFloat2, make_hipExtent(16, 8, 4), hipArrayDefault), hipSuccess);
  EXPECT_EQ(driver_->array.width, 16u);
  EXPECT_EQ(driver_->array.depth, 4u);
  EXPECT_EQ(driver_->array.format, HIP_AD_FORMAT_FLOAT);
  EXPECT_EQ(driver_->array.channels, 2u);
  EXPECT_EQ(driver_->array.flags, unsigned{hipArraySurfaceLoadStore}) << "HIP lets every array be a surface";
  EXPECT_EQ(hipFreeArray(array), hipSuccess);
  EXPECT_EQ(calls("ArrayDestroy"), 1);
  ASSERT_EQ(hipMalloc3DArray(&array, &kFloat2, make_hipExtent(16, 8, 4), hipArrayLayered), hipSuccess);
  EXPECT_EQ(driver_->array.flags, unsigned{hipArrayLayered});
  EXPECT_EQ(hipFreeArray(array), hipSuccess);
}

TEST_F(CudaRuntime, ACopyNamesTheArrayAndThePosition) {
  hipArray_t array = nullptr;
  ASSERT_EQ(hipMalloc3DArray(&array, &kFloat2, make_hipExtent(16, 8, 4), hipArrayDefault), hipSuccess);
  hipMemcpy3DParms p{};
  p.dstArray = array;
  p.dstPos = make_hipPos(3, 2, 1);
  p.srcPtr = make_hipPitchedPtr(at(0x4000), 64, 64, 5);
  p.extent = make_hipExtent(6, 4, 2);
  p.kind = hipMemcpyDeviceToDevice;
  ASSERT_EQ(hipMemcpy3DAsync(&p, stream_), hipSuccess);
  const auto& copy = driver_->copy_3d;
  EXPECT_EQ(copy.target_type, cuda::driver::kMemoryArray);
  EXPECT_EQ(number_of(copy.target_array), State::kArray);
  EXPECT_EQ(copy.target_x_bytes, 24u);
  EXPECT_EQ(copy.target_y, 2u);
  EXPECT_EQ(copy.target_z, 1u);
  EXPECT_EQ(copy.source_device, at(0x4000));
  EXPECT_EQ(copy.source_height, 5u);
  EXPECT_EQ(copy.width_bytes, 48u);
  EXPECT_EQ(copy.depth, 2u);
  ASSERT_EQ(hipMemcpy2DFromArrayAsync(at(0x6000), 128, array, 8, 1, 120, 7, hipMemcpyDeviceToDevice, stream_),
            hipSuccess);
  EXPECT_EQ(copy.source_type, cuda::driver::kMemoryArray);
  EXPECT_EQ(copy.source_x_bytes, 8u);
  EXPECT_EQ(copy.target_pitch, 128u);
  EXPECT_EQ(copy.height, 7u);
  hipGraph_t graph = nullptr;
  hipGraphNode_t node = nullptr;
  ASSERT_EQ(hipGraphCreate(&graph, 0), hipSuccess);
  ASSERT_EQ(hipGraphAddMemcpyNode(&node, graph, nullptr, 0, &p), hipSuccess);
  EXPECT_EQ(copy.target_type, cuda::driver::kMemoryArray);
  EXPECT_EQ(hipGraphDestroy(graph), hipSuccess);
  EXPECT_EQ(hipFreeArray(array), hipSuccess);
  EXPECT_EQ(hipMemcpy3DAsync(&p, stream_), hipErrorInvalidValue);
}

TEST_F(CudaRuntime, LevelsOfMipmappedArrays) {
  hipMipmappedArray_t mipmapped = nullptr;
  ASSERT_EQ(hipMallocMipmappedArray(&mipmapped, &kFloat2, make_hipExtent(16, 8, 0), 3, 0), hipSuccess);
  EXPECT_EQ(calls("MipmappedArrayGetLevel"), 3);
  hipArray_t level = nullptr;
  ASSERT_EQ(hipGetMipmappedArrayLevel(&level, mipmapped, 2), hipSuccess);
  ASSERT_EQ(hipMemcpy2DToArrayAsync(level, 0, 0, at(0x4000), 32, 32, 2, hipMemcpyDeviceToDevice, stream_),
            hipSuccess);
  EXPECT_EQ(number_of(driver_->copy_3d.target_array), State::kMipmapped + 3);
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = mipmapped;
  hipTextureDesc how{};
  how.normalizedCoords = 1;
  hipTextureObject_t texture = nullptr;
  ASSERT_EQ(hipCreateTextureObject(&texture, &resource, &how, nullptr), hipSuccess);
  EXPECT_EQ(number_of(driver_->resource.res.mipmap.hMipmappedArray), State::kMipmapped);
  EXPECT_EQ(hipDestroyTextureObject(texture), hipSuccess);
  // A texture of one level keeps all of it.
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = level;
  ASSERT_EQ(hipCreateTextureObject(&texture, &resource, &how, nullptr), hipSuccess);
  EXPECT_EQ(number_of(driver_->resource.res.array.hArray), State::kMipmapped + 3);
  EXPECT_EQ(hipFreeMipmappedArray(mipmapped), hipSuccess);
  EXPECT_EQ(calls("MipmappedArrayDestroy"), 0);
  EXPECT_EQ(hipDestroyTextureObject(texture), hipSuccess);
  EXPECT_EQ(calls("MipmappedArrayDestroy"), 1);
  EXPECT_EQ(calls("ArrayDestroy"), 0);
}

TEST_F(CudaRuntime, ArraysThatAreTooLargeForSurfacesAreForTextures) {
  int images = 0;
  EXPECT_EQ(hipDeviceGetAttribute(&images, hipDeviceAttributeImageSupport, 0), hipSuccess);
  EXPECT_EQ(images, 1);
  for (const auto& [width, flags] : {std::pair{State::kSurfaceMax, unsigned{hipArraySurfaceLoadStore}},
                                     std::pair{State::kSurfaceMax + 1, unsigned{hipArrayDefault}}}) {
    hipArray_t array = nullptr;
    ASSERT_EQ(hipMallocArray(&array, &kFloat2, width, 0, hipArrayDefault), hipSuccess) << width;
    EXPECT_EQ(driver_->array.flags, flags);
    EXPECT_EQ(hipFreeArray(array), hipSuccess);
  }
  hipArray_t array = nullptr;
  EXPECT_EQ(hipMallocArray(&array, &kFloat2, State::kSurfaceMax + 1, 0, hipArraySurfaceLoadStore),
            hipErrorInvalidValue);
}

TEST_F(CudaRuntime, TexturesAndSurfacesAreTheDriversOwn) {
  hipArray_t array = nullptr;
  ASSERT_EQ(hipMallocArray(&array, &kFloat2, 16, 8, 0), hipSuccess);
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = array;
  hipTextureDesc how{};
  how.addressMode[1] = hipAddressModeMirror;
  how.filterMode = hipFilterModeLinear;
  how.normalizedCoords = 1;
  how.borderColor[3] = 2;
  hipTextureObject_t texture = nullptr;
  ASSERT_EQ(hipCreateTextureObject(&texture, &resource, &how, nullptr), hipSuccess);
  EXPECT_EQ(number_of(texture), State::kTexture) << "what kernels get";
  EXPECT_EQ(number_of(driver_->resource.res.array.hArray), State::kArray);
  EXPECT_EQ(driver_->sampling.addressMode[1], HIP_TR_ADDRESS_MODE_MIRROR);
  EXPECT_EQ(driver_->sampling.filterMode, HIP_TR_FILTER_MODE_LINEAR);
  EXPECT_EQ(driver_->sampling.flags, unsigned{HIP_TRSF_READ_AS_INTEGER | HIP_TRSF_NORMALIZED_COORDINATES});
  EXPECT_EQ(driver_->sampling.borderColor[3], 2);
  hipSurfaceObject_t surface = nullptr;
  ASSERT_EQ(hipCreateSurfaceObject(&surface, &resource), hipSuccess);
  // Above the driver's object: one layer, and elements of two floats (device/surface_form.h).
  EXPECT_EQ(number_of(surface), State::kTexture | UINT64_C(1) << 32 | UINT64_C(0xf2) << 56);
  EXPECT_EQ(hipFreeArray(array), hipSuccess);
  EXPECT_EQ(hipDestroySurfaceObject(surface), hipSuccess);
  EXPECT_EQ(calls("ArrayDestroy"), 0) << "the texture reads it";
  EXPECT_EQ(hipDestroyTextureObject(texture), hipSuccess);
  EXPECT_EQ(calls("TexObjectDestroy"), 1);
  EXPECT_EQ(calls("SurfObjectDestroy"), 1);
  EXPECT_EQ(calls("ArrayDestroy"), 1);
  resource.resType = hipResourceTypeLinear;
  resource.res.linear = {at(0x4000), kFloat2, 256};
  ASSERT_EQ(hipCreateTextureObject(&texture, &resource, &how, nullptr), hipSuccess);
  EXPECT_EQ(driver_->resource.res.linear.devPtr, at(0x4000));
  EXPECT_EQ(driver_->resource.res.linear.numChannels, 2u);
  EXPECT_EQ(hipDestroyTextureObject(texture), hipSuccess);
}

}  // namespace
}  // namespace tf::fake_cuda
