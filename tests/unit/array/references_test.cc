// SPDX-License-Identifier: Apache-2.0
// Texture references of modules, on sides that only count.
#include "hipcore/array/references.h"

#include <gtest/gtest.h>

#include <set>

namespace tf::array {
namespace {

class CountedSide final : public Side, public TextureSide, public ReferenceSide {
 public:
  hipError_t create(const Shape& shape, unsigned levels, bool, std::vector<Place>& places) override {
    places = lay_out(shape, levels, 1 << 20, Layout::kDense);
    return hipSuccess;
  }
  hipError_t destroy(std::uint64_t) override { return hipSuccess; }
  hipError_t create_texture(const TextureWish& wish, hipTextureObject_t& texture) override {
    made = wish;
    texture = reinterpret_cast<hipTextureObject_t>(++next_);
    alive.insert(texture);
    return hipSuccess;
  }
  hipError_t destroy_texture(hipTextureObject_t texture) override {
    return alive.erase(texture) == 1 ? hipSuccess : hipErrorInvalidValue;
  }
  hipError_t create_surface(hipArray_const_t, hipSurfaceObject_t&) override { return hipErrorNotSupported; }
  hipError_t destroy_surface(hipSurfaceObject_t) override { return hipErrorNotSupported; }
  hipError_t find_variable(const textureReference*, std::uint64_t&) override { return hipErrorInvalidSymbol; }
  hipError_t write_variable(std::uint64_t address, const textureReference&) override {
    written = address;
    return hipSuccess;
  }
  std::size_t bytes_from(const void*) override { return 4096; }

  TextureWish made;
  std::set<hipTextureObject_t> alive;
  std::uint64_t written = 0;

 private:
  std::uintptr_t next_ = 0;
};

class ModuleReferences : public ::testing::Test {
 protected:
  textureReference* of(std::uint64_t module, std::uint64_t variable) {
    textureReference* found = nullptr;
    EXPECT_EQ(references_.of_module(&found, module, variable), hipSuccess);
    return found;
  }
  hipError_t bind(textureReference* reference) {
    return references_.set_address(nullptr, reference, reinterpret_cast<hipDeviceptr_t>(0x10000), 256);
  }

  CountedSide side_;
  Library arrays_{side_};
  Textures textures_{arrays_, side_};
  References references_{arrays_, textures_, side_};
};

TEST_F(ModuleReferences, EndWithTheirModule) {
  textureReference* const first = of(1, 0x100);
  textureReference* const second = of(1, 0x200);
  textureReference* const other = of(2, 0x300);
  EXPECT_EQ(of(1, 0x100), first);
  EXPECT_NE(first, second);
  EXPECT_EQ(bind(first), hipSuccess);
  EXPECT_EQ(side_.written, 0x100u);
  EXPECT_EQ(bind(second), hipSuccess);
  EXPECT_EQ(bind(other), hipSuccess);
  EXPECT_EQ(side_.alive.size(), 3u);
  first->filterMode = hipFilterModeLinear;
  references_.forget_module(1);
  EXPECT_EQ(side_.alive.size(), 1u);
  EXPECT_EQ(of(2, 0x300), other);
  EXPECT_EQ(bind(other), hipSuccess);
  textureReference* const again = of(3, 0x100);  // another module's variable at that address
  EXPECT_EQ(again->filterMode, hipFilterModePoint);
  EXPECT_EQ(again->textureObject, nullptr);
}

TEST_F(ModuleReferences, AreLimitedByThoseThatThereAre) {
  for (std::uint64_t module = 1; module <= 4; ++module) {
    for (std::uint64_t variable = 0; variable < kReferencesMax; ++variable) of(module, variable);
    textureReference* found = nullptr;
    EXPECT_EQ(references_.of_module(&found, module, kReferencesMax), hipErrorOutOfMemory);
    references_.forget_module(module);
  }
}

TEST_F(ModuleReferences, ReadAllFacesOfACubemap) {
  const Shape cube{4, 4, 6, HIP_AD_FORMAT_FLOAT, 1, hipArrayCubemap};
  const Shape cubes{4, 4, 12, HIP_AD_FORMAT_FLOAT, 1, hipArrayCubemap | hipArrayLayered};
  hipArray_t array = nullptr;
  ASSERT_EQ(arrays_.create(&array, cube), hipSuccess);
  EXPECT_EQ(references_.set_array(of(1, 1), array, HIP_TRSA_OVERRIDE_FORMAT), hipSuccess);
  EXPECT_EQ(side_.made.view->depth, 6u);
  EXPECT_EQ(side_.made.view->lastLayer, 0u) << "it has no layers";
  EXPECT_EQ(arrays_.destroy(array), hipSuccess);
  ASSERT_EQ(arrays_.create(&array, cubes), hipSuccess);
  EXPECT_EQ(references_.set_array(of(1, 1), array, HIP_TRSA_OVERRIDE_FORMAT), hipSuccess);
  EXPECT_EQ(side_.made.view->lastLayer, 11u);
  EXPECT_EQ(arrays_.destroy(array), hipSuccess);
}

TEST_F(ModuleReferences, RowsThatAreNotAlignedGoOnOutwards) {
  const hipChannelFormatDesc two{32, 32, 0, 0, hipChannelFormatKindFloat};
  std::size_t offset = 0;
  const auto bind = [&](std::uintptr_t memory, std::size_t width) {
    return references_.bind_2d(&offset, of(1, 1), reinterpret_cast<void*>(memory), &two, width, 4, 512);
  };
  ASSERT_EQ(bind(0x10010, 20), hipSuccess);
  EXPECT_EQ(offset, 0x10u);
  EXPECT_EQ(side_.made.resource.res.pitch2D.width, 22u);
  EXPECT_EQ(bind(0x10004, 20), hipErrorInvalidValue) << "no whole elements";
  EXPECT_EQ(bind(0x10010, SIZE_MAX), hipErrorInvalidValue);
}

}  // namespace
}  // namespace tf::array
