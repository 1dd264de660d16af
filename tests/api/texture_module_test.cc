// SPDX-License-Identifier: Apache-2.0
// Texture references of modules: how they are found, bound and read, and how they end.
#include <string>

#include "tests/api/module_fixture.h"
#include "tests/api/texture_fixture.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace tf::api_test {
namespace {

constexpr const char* kModule = TEXTURE_MODULE_FILE;  // from CMake

textureReference* reference_of(hipModule_t module, const char* name) {
  textureReference* found = nullptr;
  EXPECT_EQ(hipModuleGetTexRef(&found, module, name), hipSuccess) << name;
  return found;
}

class ModuleTextures : public ::testing::Test {
 protected:
  void SetUp() override {
    HIP_OK(hipModuleLoad(&module_, kModule));
    line_ = reference_of(module_, "module_line");
    plane_ = reference_of(module_, "module_plane");
    levels_ = reference_of(module_, "module_levels");
  }
  void TearDown() override {
    if (module_ == nullptr) return;
    HIP_OK(hipModuleUnload(module_));
  }
  struct Read {
    float line, plane, levels;
  };
  Read read(Coordinate at) const {
    DeviceBuffer where(sizeof at), out(256 * 3);
    EXPECT_EQ(hipMemcpy(where.get(), &at, sizeof at, hipMemcpyHostToDevice), hipSuccess);
    void* memory[] = {where.get(), out.at(0), out.at(256), out.at(512)};
    void* arguments[] = {&memory[0], &memory[1], &memory[2], &memory[3]};
    hipFunction_t kernel = nullptr;
    EXPECT_EQ(hipModuleGetFunction(&kernel, module_, "read_module"), hipSuccess);
    EXPECT_EQ(hipModuleLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), hipSuccess);
    float values[3] = {};
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_EQ(hipMemcpy(&values[i], out.at(256 * i), 4, hipMemcpyDeviceToHost), hipSuccess);
    return {values[0], values[1], values[2]};
  }
  // Kernels read every reference, so that all of them must be bound.
  void bind_all(void* memory) const {
    HIP_OK(hipTexRefSetFormat(line_, HIP_AD_FORMAT_FLOAT, 1));
    HIP_OK(hipTexRefSetAddress(nullptr, line_, memory, 1024));
    const HIP_ARRAY_DESCRIPTOR rows{32, 4, HIP_AD_FORMAT_FLOAT, 1};
    HIP_OK(hipTexRefSetAddress2D(plane_, &rows, memory, 256));
    HIP_OK(hipTexRefSetAddress2D(levels_, &rows, memory, 256));
  }

  hipModule_t module_ = nullptr;
  textureReference* line_ = nullptr;
  textureReference* plane_ = nullptr;
  textureReference* levels_ = nullptr;
};

TEST_F(ModuleTextures, AreFoundByName) {
  EXPECT_EQ(reference_of(module_, "module_line"), line_);
  EXPECT_NE(line_, plane_);
  textureReference* found = nullptr;
  EXPECT_EQ(hipModuleGetTexRef(&found, module_, "module_number"), hipErrorNotFound);
  EXPECT_NE(hipModuleGetTexRef(&found, module_, "nothing"), hipSuccess);
  EXPECT_EQ(hipModuleGetTexRef(&found, module_, ""), hipErrorInvalidValue);
}

TEST_F(ModuleTextures, ReadMemory) {
  const auto values = ramp(256);
  DeviceBuffer memory(1024);
  HIP_OK(hipMemcpy(memory.get(), values.data(), 1024, hipMemcpyHostToDevice));
  bind_all(memory.get());
  const Read first = read({7, 2});
  EXPECT_EQ(first.line, 7);
  EXPECT_EQ(first.plane, 2 * 64 + 7);
  std::size_t offset = 0;
  HIP_OK(hipTexRefSetAddress(&offset, line_, memory.at(516), 64));
  EXPECT_EQ(offset, 4u);
  EXPECT_EQ(read({1, 0}).line, 129);
  hipDeviceptr_t bound = nullptr;
  HIP_OK(hipTexRefGetAddress(&bound, line_));
  EXPECT_EQ(bound, memory.at(512));
  HIP_OK(hipTexRefSetFormat(line_, HIP_AD_FORMAT_FLOAT, 3));
  EXPECT_EQ(hipTexRefSetAddress(&offset, line_, memory.get(), 1024), hipErrorInvalidValue);
  const HIP_ARRAY_DESCRIPTOR three{32, 4, HIP_AD_FORMAT_FLOAT, 3};
  EXPECT_EQ(hipTexRefSetAddress2D(plane_, &three, memory.get(), 256), hipErrorInvalidValue);
}

TEST_F(ModuleTextures, ReadArrays) {
  const auto values = ramp(16);
  DeviceBuffer memory(1024);
  bind_all(memory.get());
  const FilledArray array(kFloat, make_hipExtent(4, 4, 0), values.data());
  HIP_OK(hipTexRefSetFormat(plane_, HIP_AD_FORMAT_HALF, 4));
  HIP_OK(hipTexRefSetArray(plane_, array.get(), HIP_TRSA_OVERRIDE_FORMAT));
  hipArray_Format format{};
  int channels = 0;
  HIP_OK(hipTexRefGetFormat(&format, &channels, plane_));
  EXPECT_EQ(format, HIP_AD_FORMAT_FLOAT);
  EXPECT_EQ(channels, 1);
  EXPECT_EQ(read({2, 3}).plane, 14);
  const FilledLevels levels(make_hipExtent(8, 8, 0), 4);
  HIP_OK(hipTexRefSetFlags(levels_, HIP_TRSF_NORMALIZED_COORDINATES));
  HIP_OK(hipTexRefSetMipmapLevelClamp(levels_, 0, 3));
  HIP_OK(hipTexRefSetMipmappedArray(levels_, levels.get(), HIP_TRSA_OVERRIDE_FORMAT));
  EXPECT_EQ(read({0.5f, 0.5f, 0, 0, 2}).levels, 20);
  HIP_OK(hipTexRefSetMipmapLevelClamp(levels_, 0, 1));
  HIP_OK(hipBindTextureToMipmappedArray(levels_, levels.get(), &kFloat));
  EXPECT_EQ(read({0.5f, 0.5f, 0, 0, 2}).levels, 10);
  EXPECT_EQ(hipBindTextureToMipmappedArray(levels_, levels.get(), &kByte), hipErrorInvalidValue);
  HIP_OK(hipUnbindTexture(plane_));  // before what they are bound to ends
  HIP_OK(hipUnbindTexture(levels_));
}

TEST_F(ModuleTextures, EndWithTheirModule) {
  DeviceBuffer memory(1024);
  bind_all(memory.get());
  HIP_OK(hipTexRefSetFilterMode(line_, hipFilterModeLinear));
  const hipTextureObject_t objects[] = {line_->textureObject, plane_->textureObject};
  hipResourceDesc resource{};
  for (const hipTextureObject_t object : objects) HIP_OK(hipGetTextureObjectResourceDesc(&resource, object));
  HIP_OK(hipModuleUnload(module_));
  for (const hipTextureObject_t object : objects)
    EXPECT_EQ(hipGetTextureObjectResourceDesc(&resource, object), hipErrorInvalidValue);
  HIP_OK(hipModuleLoad(&module_, kModule));
  hipTextureFilterMode filter = hipFilterModeLinear;
  HIP_OK(hipTexRefGetFilterMode(&filter, reference_of(module_, "module_line")));
  EXPECT_EQ(filter, hipFilterModePoint) << "what the last module's reference was told";
}

}  // namespace
}  // namespace tf::api_test
