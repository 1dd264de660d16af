// SPDX-License-Identifier: Apache-2.0
// Functions on texture references since HIP 6 that are other functions of HIP.
#include "tests/majors/major.h"

namespace tf::majors {
namespace {

class NewerReferences : public Major {
 protected:
  void SetUp() override {
    Major::SetUp();
    if (major_ < 6) GTEST_SKIP() << "the functions are of HIP 6";
  }
};

TEST_F(NewerReferences, ReferencesThatAreBoundToNothing) {
  using GetArray = hipError_t(hipArray_t*, const textureReference*);
  using GetColor = hipError_t(float*, const textureReference*);
  const textureReference reference{};
  hipArray_t array = nullptr;
  float color[4] = {};
  EXPECT_EQ(get<GetArray>("hipTexRefGetArray")(&array, &reference), kInvalid);
  EXPECT_EQ(get<GetArray>("hipTexRefGetArray")(nullptr, &reference), kInvalid);
  EXPECT_EQ(get<GetArray>("hipTexRefGetArray")(&array, nullptr), kInvalid);
  EXPECT_EQ(get<GetColor>("hipTexRefGetBorderColor")(nullptr, &reference), kInvalid);
  EXPECT_EQ(get<GetColor>("hipTexRefGetBorderColor")(color, &reference), hipErrorNotSupported);
}

// A reference is bound if it has a texture object.
TEST_F(NewerReferences, SayWhatTheyAreBoundTo) {
  using GetArray = hipError_t(hipArray_t*, const textureReference*);
  using GetMipmapped = hipError_t(hipMipmappedArray_t*, const textureReference*);
  const hipChannelFormatDesc elements{32, 0, 0, 0, hipChannelFormatKindFloat};
  hipArray_t array = nullptr;
  hipMipmappedArray_t mipmapped = nullptr;
  ASSERT_EQ(get<decltype(hipMallocArray)>("hipMallocArray")(&array, &elements, 8, 8, 0), hipSuccess);
  ASSERT_EQ(get<decltype(hipMallocMipmappedArray)>("hipMallocMipmappedArray")(&mipmapped, &elements,
                                                                              hipExtent{8, 8, 0}, 2, 0),
            hipSuccess);
  const auto create = get<decltype(hipCreateTextureObject)>("hipCreateTextureObject");
  hipTextureDesc how{};
  how.normalizedCoords = 1;
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = array;
  textureReference of_array{}, of_mipmapped{};
  ASSERT_EQ(create(&of_array.textureObject, &resource, &how, nullptr), hipSuccess);
  resource.resType = hipResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = mipmapped;
  ASSERT_EQ(create(&of_mipmapped.textureObject, &resource, &how, nullptr), hipSuccess);
  hipArray_t got_array = nullptr;
  EXPECT_EQ(get<GetArray>("hipTexRefGetArray")(&got_array, &of_array), hipSuccess);
  EXPECT_EQ(got_array, array);
  EXPECT_EQ(get<GetArray>("hipTexRefGetArray")(&got_array, &of_mipmapped), kInvalid);
  std::vector<const char*> spellings{"hipTexRefGetMipMappedArray"};
  if (major_ == 6) spellings.push_back("hipTexRefGetMipmappedArray");  // as that one exports it too
  for (const char* const name : spellings) {
    hipMipmappedArray_t got = nullptr;
    EXPECT_EQ(get<GetMipmapped>(name)(&got, &of_mipmapped), hipSuccess) << name;
    EXPECT_EQ(got, mipmapped);
    EXPECT_EQ(get<GetMipmapped>(name)(&got, &of_array), kInvalid);
    EXPECT_EQ(get<GetMipmapped>(name)(nullptr, &of_mipmapped), kInvalid);
    EXPECT_EQ(get<GetMipmapped>(name)(&got, nullptr), kInvalid);
  }
  const auto destroy = get<decltype(hipDestroyTextureObject)>("hipDestroyTextureObject");
  EXPECT_EQ(destroy(of_array.textureObject), hipSuccess);
  EXPECT_EQ(destroy(of_mipmapped.textureObject), hipSuccess);
  EXPECT_EQ(get<decltype(hipFreeArray)>("hipFreeArray")(array), hipSuccess);
  EXPECT_EQ(get<decltype(hipFreeMipmappedArray)>("hipFreeMipmappedArray")(mipmapped), hipSuccess);
}

}  // namespace
}  // namespace tf::majors
