// SPDX-License-Identifier: Apache-2.0
// Texture references: what kernels read through them, and what they say of themselves.
#include <climits>

#include "tests/api/array_fixture.h"
#include "tests/api/texture_kernels.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace tf::api_test {
namespace {

// What the two references of the program read there.
struct ReadReferences {
  explicit ReadReferences(const std::vector<Coordinate>& at) : line(at.size()), plane(at.size()) {
    const std::size_t bytes = at.size() * sizeof(float);
    DeviceBuffer coordinates(at.size() * sizeof(Coordinate)), of_line(bytes), of_plane(bytes);
    EXPECT_EQ(hipMemcpy(coordinates.get(), at.data(), at.size() * sizeof(Coordinate), hipMemcpyHostToDevice),
              hipSuccess);
    launch_read_references(coordinates.get<Coordinate>(), of_line.get<float>(), of_plane.get<float>(),
                           static_cast<int>(at.size()));
    EXPECT_EQ(hipMemcpy(line.data(), of_line.get(), bytes, hipMemcpyDeviceToHost), hipSuccess);
    EXPECT_EQ(hipMemcpy(plane.data(), of_plane.get(), bytes, hipMemcpyDeviceToHost), hipSuccess);
  }
  std::vector<float> line;
  std::vector<float> plane;
};

TEST(TextureReads, ReferencesReadWhatTheyAreBoundTo) {
  const auto values = ramp(512);
  DeviceBuffer memory(2048);
  HIP_OK(hipMemcpy(memory.get(), values.data(), 2048, hipMemcpyHostToDevice));
  std::vector<unsigned char> bytes(256 * 4);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i % 256 / 51 * 51);
  const FilledArray array(kByte, make_hipExtent(256, 4, 0), bytes.data());
  std::size_t offset = 77;
  HIP_OK(hipBindTexture(&offset, line_texture(), memory.get(), &kFloat, 2048));
  EXPECT_EQ(offset, 0u);
  HIP_OK(hipBindTextureToArray(plane_texture(), array.get(), &kByte));
  const ReadReferences first({{3, 0}, {51, 1}, {102, 2}, {255, 3}});
  EXPECT_EQ(first.line, (std::vector<float>{3, 51, 102, 255}));
  EXPECT_EQ(first.plane, (std::vector<float>{0, 0.2f, 0.4f, 1}));
  // Bound anew, to memory that does not begin on a boundary, with as much as there is.
  HIP_OK(hipBindTexture(&offset, line_texture(), memory.at(1028), &kFloat, UINT_MAX));
  EXPECT_EQ(offset, 4u);
  hipDeviceptr_t bound = nullptr;
  HIP_OK(hipTexRefGetAddress(&bound, line_texture()));
  EXPECT_EQ(bound, memory.at(1024));
  void* rows = nullptr;
  std::size_t pitch = 0;
  HIP_OK(hipMallocPitch(&rows, &pitch, 256, 4));
  HIP_OK(hipMemcpy2D(rows, pitch, bytes.data(), 256, 256, 4, hipMemcpyHostToDevice));
  HIP_OK(hipBindTexture2D(&offset, plane_texture(), rows, &kByte, 256, 4, pitch));
  const ReadReferences second({{1, 0}, {300, 1}});
  EXPECT_EQ(second.line, (std::vector<float>{257, 0})) << "the second is beyond the end";
  EXPECT_EQ(second.plane, (std::vector<float>{0, 1})) << "clamped";
  HIP_OK(hipUnbindTexture(line_texture()));
  HIP_OK(hipUnbindTexture(plane_texture()));
  EXPECT_EQ(line_texture()->textureObject, nullptr);
  HIP_OK(hipFree(rows));
}

TEST(TextureReference, WhatCannotBeBoundIsRefused) {
  DeviceBuffer memory(4096);
  const FilledArray array(kByte, make_hipExtent(16, 16, 0), std::vector<char>(256).data());
  textureReference* const known = line_texture();
  textureReference stranger{};
  std::size_t offset = 0;
  EXPECT_EQ(hipBindTexture(&offset, nullptr, memory.get(), &kFloat, 64), hipErrorInvalidValue);
  EXPECT_EQ(hipBindTexture(&offset, known, nullptr, &kFloat, 64), hipErrorInvalidValue);
  EXPECT_EQ(hipBindTexture(&offset, known, memory.get(), nullptr, 64), hipErrorInvalidValue);
  EXPECT_EQ(hipBindTexture(nullptr, known, memory.at(4), &kFloat, 64), hipErrorInvalidValue);
  EXPECT_EQ(hipBindTexture(&offset, &stranger, memory.get(), &kFloat, 64), hipErrorInvalidSymbol);
  EXPECT_EQ(hipBindTexture2D(&offset, known, memory.get(), &kFloat, 4, 4, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipBindTextureToArray(nullptr, array.get(), &kByte), hipErrorInvalidValue);
  EXPECT_EQ(hipBindTextureToArray(known, nullptr, &kByte), hipErrorInvalidValue);
  EXPECT_EQ(hipBindTextureToArray(known, array.get(), nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipBindTextureToArray(&stranger, array.get(), &kByte), hipErrorInvalidSymbol);
  EXPECT_EQ(hipBindTextureToMipmappedArray(known, nullptr, &kByte), hipErrorInvalidValue);
  EXPECT_EQ(hipUnbindTexture(nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipTexRefSetArray(known, array.get(), 0), hipErrorInvalidValue);
  EXPECT_EQ(hipTexRefSetArray(nullptr, array.get(), HIP_TRSA_OVERRIDE_FORMAT), hipErrorInvalidValue);
  EXPECT_EQ(hipTexRefSetMipmappedArray(known, nullptr, HIP_TRSA_OVERRIDE_FORMAT), hipErrorInvalidValue);
  EXPECT_EQ(hipTexRefSetAddress(&offset, nullptr, memory.get(), 64), hipErrorInvalidValue);
  EXPECT_EQ(hipTexRefSetAddress2D(known, nullptr, memory.get(), 64), hipErrorInvalidValue);
  hipDeviceptr_t bound = nullptr;
  EXPECT_EQ(hipTexRefGetAddress(&bound, &stranger), hipErrorInvalidValue);
  EXPECT_EQ(hipTexRefGetAddress(nullptr, known), hipErrorInvalidValue);
  textureReference* found = nullptr;
  EXPECT_EQ(hipModuleGetTexRef(nullptr, nullptr, "x"), hipErrorInvalidValue);
  EXPECT_EQ(hipModuleGetTexRef(&found, nullptr, nullptr), hipErrorInvalidValue);
}

TEST(TextureReference, ItSaysWhatItWasTold) {
  textureReference reference{};
  HIP_OK(hipTexRefSetAddressMode(&reference, 1, hipAddressModeMirror));
  HIP_OK(hipTexRefSetFilterMode(&reference, hipFilterModeLinear));
  HIP_OK(hipTexRefSetFlags(&reference, HIP_TRSF_NORMALIZED_COORDINATES | HIP_TRSF_SRGB));
  HIP_OK(hipTexRefSetFormat(&reference, HIP_AD_FORMAT_HALF, 2));
  HIP_OK(hipTexRefSetMaxAnisotropy(&reference, 4));
  HIP_OK(hipTexRefSetMipmapFilterMode(&reference, hipFilterModeLinear));
  HIP_OK(hipTexRefSetMipmapLevelBias(&reference, 0.5f));
  HIP_OK(hipTexRefSetMipmapLevelClamp(&reference, 1, 3));
  hipTextureAddressMode mode{};
  hipTextureFilterMode filter{};
  unsigned flags = 0;
  hipArray_Format format{};
  int channels = 0, anisotropy = 0;
  float bias = 0, low = 0, high = 0;
  std::size_t offset = 5;
  HIP_OK(hipTexRefGetAddressMode(&mode, &reference, 1));
  HIP_OK(hipTexRefGetFilterMode(&filter, &reference));
  HIP_OK(hipTexRefGetFlags(&flags, &reference));
  HIP_OK(hipTexRefGetFormat(&format, &channels, &reference));
  HIP_OK(hipTexRefGetMaxAnisotropy(&anisotropy, &reference));
  HIP_OK(hipTexRefGetMipmapLevelBias(&bias, &reference));
  HIP_OK(hipTexRefGetMipmapLevelClamp(&low, &high, &reference));
  HIP_OK(hipGetTextureAlignmentOffset(&offset, &reference));
  EXPECT_EQ(mode, hipAddressModeMirror);
  EXPECT_EQ(filter, hipFilterModeLinear);
  EXPECT_EQ(flags, unsigned{HIP_TRSF_NORMALIZED_COORDINATES | HIP_TRSF_SRGB});
  EXPECT_EQ(format, HIP_AD_FORMAT_HALF);
  EXPECT_EQ(channels, 2);
  EXPECT_EQ(anisotropy, 4);
  EXPECT_EQ(bias, 0.5f);
  EXPECT_EQ(low + high, 4);
  EXPECT_EQ(offset, 0u);
  HIP_OK(hipTexRefGetMipmapFilterMode(&filter, &reference));
  EXPECT_EQ(filter, hipFilterModeLinear);
  const textureReference* same = nullptr;
  HIP_OK(hipGetTextureReference(&same, line_texture()));
  EXPECT_EQ(same, line_texture());
  float color[4] = {};
  EXPECT_EQ(hipTexRefSetBorderColor(&reference, color), hipErrorNotSupported);
  EXPECT_EQ(hipTexRefSetAddressMode(&reference, 3, hipAddressModeWrap), hipErrorInvalidValue);
  EXPECT_EQ(hipTexRefGetAddressMode(&mode, &reference, 2), hipErrorInvalidValue);
  EXPECT_EQ(hipTexRefSetAddressMode(nullptr, 0, hipAddressModeWrap), hipErrorInvalidValue);
  EXPECT_EQ(hipTexRefSetFlags(nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipTexRefGetFlags(nullptr, &reference), hipErrorInvalidValue);
  EXPECT_EQ(hipTexRefSetFormat(nullptr, HIP_AD_FORMAT_HALF, 2), hipErrorInvalidValue);
  EXPECT_EQ(hipTexRefGetFormat(&format, nullptr, &reference), hipErrorInvalidValue);
  EXPECT_EQ(hipTexRefSetFilterMode(nullptr, hipFilterModeLinear), hipErrorInvalidValue);
  EXPECT_EQ(hipTexRefGetFilterMode(nullptr, &reference), hipErrorInvalidValue);
  EXPECT_EQ(hipTexRefSetMaxAnisotropy(nullptr, 1), hipErrorInvalidValue);
  EXPECT_EQ(hipTexRefSetMipmapLevelClamp(nullptr, 0, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipGetTextureAlignmentOffset(nullptr, &reference), hipErrorInvalidValue);
  EXPECT_EQ(hipGetTextureReference(nullptr, line_texture()), hipErrorInvalidValue);
}

}  // namespace
}  // namespace tf::api_test
