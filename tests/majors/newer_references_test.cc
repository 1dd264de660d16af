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

}  // namespace
}  // namespace tf::majors
