// SPDX-License-Identifier: Apache-2.0
// Images: descriptors, elements of every format, samplers, and instructions of gfx90a and gfx1100.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "tests/amd/isa/image_descriptor.h"
#include "tests/amd/isa/instruction_machine.h"
#include "tests/amd/isa/sampling.h"

namespace tf::amd::isa {
namespace {

constexpr TexelFormat kFloats{1, 32, Number::kFloat};
constexpr TexelFormat kBytes{4, 8, Number::kUint};

struct Kind {
  const char* processor;
  int lanes;
};
class Images : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (!known(GetParam().processor)) GTEST_SKIP() << "no clang 15";
    ASSERT_EQ(Machine::code_of(GetParam().processor, GetParam().lanes).problem(), "");
  }
  const Processor& processor() const { return *find_processor(GetParam().processor); }
  bool newer() const { return processor().images == ImageLayout::kGfx11; }
  // An instruction's text with "dim" behind dmask, or "da" at the end, as the processor has it.
  std::string text(std::string instruction, const std::string& dimensions) const {
    if (!newer()) return instruction + (dimensions.ends_with("ARRAY") ? " da" : "");
    const std::size_t behind = instruction.find(' ', instruction.find("dmask"));
    return instruction.insert(std::min(behind, instruction.size()), " dim:SQ_RSRC_IMG_" + dimensions);
  }
};
INSTANTIATE_TEST_SUITE_P(Processors, Images,
                         ::testing::Values(Kind{"gfx90a", 64}, Kind{"gfx1100", 32}, Kind{"gfx1100", 64}),
                         [](const auto& each) {
                           return std::string(each.param.processor) + "_" + std::to_string(each.param.lanes);
                         });

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }
float number(std::uint32_t word) { return std::bit_cast<float>(word); }

// A machine whose memory is an image; descriptors of it in s[0:7], of a sampler in s[8:11].
class ImageMachine : public Machine {
 public:
  ImageMachine(const Kind& kind, ImageType type, const TexelFormat& format, std::uint32_t width,
               std::uint32_t height = 1, std::uint32_t depth = 1)
      : Machine(kind.processor, kind.lanes), kind_(kind) {
    void* const at = bytes_.data() + (0 - reinterpret_cast<std::uintptr_t>(bytes_.data())) % kImageAlignment;
    texels_ = static_cast<std::uint8_t*>(at);
    memory_.add(texels_, kTexels);
    image_.base = reinterpret_cast<std::uint64_t>(texels_);
    image_.type = type;
    image_.format = format;
    image_.select = usual_selects(format.channels);
    image_.width = width;
    image_.height = height;
    image_.depth = depth;
    image_.pitch = least_pitch(width, format);
    set_image();
    sampler({});
  }
  void set_image() { EXPECT_TRUE(encode(*wave_.processor, image_, &wave_.s[0])); }
  void sampler(const SamplerDescriptor& sampler) {
    EXPECT_TRUE(encode(*wave_.processor, sampler, &wave_.s[8]));
  }
  std::uint8_t* at(std::uint32_t x, std::uint32_t y = 0, std::uint32_t z = 0) {
    return texels_ + z * image_.slice_bytes() + y * image_.row_bytes() + x * image_.format.bytes();
  }
  void put(float value, std::uint32_t x, std::uint32_t y = 0, std::uint32_t z = 0) {
    std::memcpy(at(x, y, z), &value, sizeof value);
  }
  void run(const std::string& text) {
    static std::map<std::string, std::vector<std::uint8_t>> known;  // the assembler takes long to start
    auto& bytes = known[kind_.processor + std::to_string(kind_.lanes) + text];
    if (bytes.empty()) bytes = one(text.c_str(), kind_.processor, kind_.lanes);
    execute(bytes);
  }
  std::string refusal(const std::string& text) {
    return refusal_of([&] { run(text); });
  }
  // Of what the assembler does not write.
  std::string refusal_of_text(const std::string& text) {
    return refusal_of([&] { execute_text(text); });
  }
  std::uint32_t result(int at, int lane = 3) const { return registers_[20 + at].lane[lane]; }

  ImageDescriptor image_;

 private:
  template <class Run>
  static std::string refusal_of(Run&& run) {
    try {
      run();
    } catch (const Stop& stop) {
      return stop.text;
    }
    return "nothing";
  }

  static constexpr std::size_t kTexels = 1 << 16;
  Kind kind_;
  std::vector<std::uint8_t> bytes_ = std::vector<std::uint8_t>(kTexels + kImageAlignment);
  std::uint8_t* texels_ = nullptr;
};

// Fields that the device library reads, and all of them back.
TEST_P(Images, DescriptorsComeBack) {
  ImageDescriptor image;
  image.base = 0x123456789a00;
  image.width = 1000;
  image.height = 77;
  image.format = kBytes;
  std::uint32_t words[kImageWords] = {};
  std::string why;
  for (const ImageType type :
       {ImageType::k1D, ImageType::k2D, ImageType::k3D, ImageType::k1DArray, ImageType::k2DArray}) {
    image.type = type;
    const bool line = type == ImageType::k1D || type == ImageType::k1DArray;
    image.height = line ? 1 : 77;
    image.depth = type == ImageType::k1D || type == ImageType::k2D ? 1 : 5;
    image.pitch = least_pitch(image.width, image.format);
    ASSERT_TRUE(encode(processor(), image, words));
    EXPECT_EQ((words[2] >> 14 & 0x3fff) + 1, image.height);
    EXPECT_EQ(words[3] >> 28, static_cast<std::uint32_t>(type));
    const auto back = decode_image(processor(), words, why);
    ASSERT_TRUE(back) << why;
    EXPECT_EQ(back->base, image.base);
    EXPECT_EQ(back->width, 1000U);
    EXPECT_EQ(back->height, image.height);
    EXPECT_EQ(back->depth, image.depth);
    EXPECT_EQ(back->pitch, 1024U);
    EXPECT_EQ(back->format, kBytes);
    if (image.depth > 1) {
      EXPECT_EQ((words[4] & 0x1fff) + 1, 5U);  // layers, as the device library reads them
    }
  }
  std::uint32_t of_sampler[kSamplerWords] = {};
  ASSERT_TRUE(encode(processor(), SamplerDescriptor{{}, false, true}, of_sampler));
  EXPECT_EQ(of_sampler[0] >> 15 & 1, 1U);  // not normalized
  EXPECT_EQ(of_sampler[2] >> 20 & 1, 1U);  // linear
}

TEST_P(Images, WhatNoDescriptorHas) {
  ImageDescriptor image;
  image.base = kImageAlignment;
  image.format = kBytes;
  image.pitch = 64;
  std::uint32_t words[kImageWords] = {};
  EXPECT_TRUE(encode(processor(), image, words));
  const auto refused = [&](auto change) {
    ImageDescriptor wrong = image;
    change(wrong);
    return !encode(processor(), wrong, words);
  };
  EXPECT_TRUE(refused([](auto& wrong) { wrong.base += 4; }));
  EXPECT_TRUE(refused([](auto& wrong) { wrong.width = 16385, wrong.pitch = 16448; }));
  EXPECT_TRUE(refused([](auto& wrong) { wrong.height = 16385; }));
  EXPECT_TRUE(refused([](auto& wrong) { wrong.type = ImageType::k3D, wrong.depth = 8193; }));
  EXPECT_TRUE(refused([](auto& wrong) { wrong.width = 65; })) << "a pitch below the width";
  EXPECT_TRUE(refused([](auto& wrong) { wrong.format = {3, 8, Number::kUint}; }));
  EXPECT_EQ(refused([](auto& wrong) { wrong.type = ImageType::k2DArray, wrong.pitch = 128; }), newer());
  EXPECT_FALSE(encode(*find_processor("gfx940"), image, words));
  std::string why;
  ASSERT_TRUE(encode(processor(), image, words));
  words[3] |= 1 << 16;
  EXPECT_FALSE(decode_image(processor(), words, why));
  EXPECT_EQ(why, "an image of several levels");
}

TEST_P(Images, ElementsOfEveryFormat) {
  struct Case {
    TexelFormat format;
    std::uint32_t memory;  // the first channel, and as much behind it
    std::uint32_t read;
  };
  const Case cases[] = {
      {{1, 8, Number::kUnorm}, 51, bits(0.2F)},
      {{1, 8, Number::kSnorm}, 0x80, bits(-1)},
      {{1, 8, Number::kSnorm}, 0x7f, bits(1)},
      {{2, 8, Number::kUint}, 0xfe, 0xfe},
      {{4, 8, Number::kSint}, 0xfe, 0xfffffffe},
      {{1, 16, Number::kUnorm}, 13107, bits(0.2F)},
      {{2, 16, Number::kSnorm}, 0x8001, bits(-1)},
      {{4, 16, Number::kUint}, 0xfffe, 0xfffe},
      {{1, 16, Number::kSint}, 0xfffe, 0xfffffffe},
      {{2, 16, Number::kFloat}, 0xc000, bits(-2)},
      {{4, 32, Number::kUint}, 0xfffffffe, 0xfffffffe},
      {{2, 32, Number::kSint}, 0xfffffffe, 0xfffffffe},
      {kFloats, bits(1.5F), bits(1.5F)},
  };
  for (const Case& each : cases) {
    ImageMachine machine(GetParam(), ImageType::k2D, each.format, 5, 3);
    std::memcpy(machine.at(2, 1), &each.memory, each.format.bits / 8U);
    machine.vectors({2, 1});
    machine.run(text("image_load v[20:23], v[0:1], s[0:7] dmask:0xf unorm", "2D"));
    const std::string what = std::to_string(each.format.channels) + " of " + std::to_string(each.format.bits);
    EXPECT_EQ(machine.result(0), each.read) << what;
    EXPECT_EQ(machine.result(3), each.format.channels == 4  ? 0
                                 : each.format.is_integer() ? 1
                                                            : bits(1))
        << what;
    machine.vectors({4, 2});
    machine.run(text("image_store v[20:23], v[0:1], s[0:7] dmask:0xf unorm", "2D"));
    std::uint32_t written = 0;
    std::memcpy(&written, machine.at(4, 2), each.format.bits / 8U);
    const bool two = each.format.number == Number::kSnorm && each.memory == 0x80;  // of -1
    EXPECT_EQ(written, two ? 0x81 : each.memory) << what;
  }
}

TEST_P(Images, StoresRoundAndKeepToTheirRange) {
  struct Case {
    TexelFormat format;
    std::uint32_t value, stored;
  };
  for (const auto& [format, value, stored] :
       {Case{{1, 8, Number::kUnorm}, bits(0.5F), 128},  // 127.5, to even
        Case{{1, 8, Number::kUnorm}, bits(7), 255}, Case{{1, 8, Number::kUnorm}, bits(-7), 0},
        Case{{1, 8, Number::kUnorm}, bits(NAN), 0}, Case{{1, 16, Number::kSnorm}, bits(-7), 0x8001},
        Case{{1, 8, Number::kUint}, 300, 255}, Case{{1, 8, Number::kSint}, 0xffffff00, 0x80},
        Case{{1, 16, Number::kSint}, 40000, 0x7fff}, Case{{1, 16, Number::kFloat}, bits(65536), 0x7c00}}) {
    ImageMachine machine(GetParam(), ImageType::k1D, format, 5);
    machine.vectors({3, value});
    machine.run(text("image_store v1, v0, s[0:7] dmask:0x1 unorm", "1D"));
    std::uint32_t written = 0;
    std::memcpy(&written, machine.at(3), format.bits / 8U);
    EXPECT_EQ(written, stored);
  }
}

TEST_P(Images, OutsideLoadsAreZeroAndStoresAreDropped) {
  ImageMachine machine(GetParam(), ImageType::k2DArray, kFloats, 4, 3, 2);
  for (std::uint32_t i = 0; i < 8; ++i) machine.put(7, i, 5, 1);  // what lies behind the image
  const int places[][3] = {{4, 0, 0}, {-1, 0, 0}, {0, 3, 0}, {0, -1, 1}, {0, 0, 2}, {0, 0, -1}, {3, 2, 1}};
  for (int lane = 0; lane < 7; ++lane) {
    for (int axis = 0; axis < 3; ++axis) {
      machine.registers_[axis].lane[lane] = static_cast<std::uint32_t>(places[lane][axis]);
    }
    machine.registers_[3].lane[lane] = bits(9);
  }
  machine.wave_.set_pair(kExecLo, 0x7f);
  machine.registers_[20].lane[8] = 42;
  machine.run(text("image_store v3, v[0:2], s[0:7] dmask:0x1 unorm", "2D_ARRAY"));
  machine.run(text("image_load v20, v[0:2], s[0:7] dmask:0x1 unorm", "2D_ARRAY"));
  for (int lane = 0; lane < 7; ++lane) EXPECT_EQ(number(machine.result(0, lane)), lane == 6 ? 9 : 0) << lane;
  EXPECT_EQ(machine.result(0, 8), 42U) << "a lane that takes no part";
  float behind = 0;
  std::memcpy(&behind, machine.at(3, 5, 1), 4);
  EXPECT_EQ(behind, 7);
}

TEST_P(Images, ComponentsThatAreAskedFor) {
  ImageMachine machine(GetParam(), ImageType::k2D, kBytes, 4, 3);
  std::memcpy(machine.at(1, 2), "\1\2\3\4", 4);
  machine.vectors({1, 2, 8, 9});
  machine.run(text("image_load v[20:21], v[0:1], s[0:7] dmask:0xa unorm", "2D"));
  EXPECT_EQ(machine.result(0), 2U);
  EXPECT_EQ(machine.result(1), 4U);
  machine.run(text("image_store v[2:3], v[0:1], s[0:7] dmask:0x5 unorm", "2D"));
  EXPECT_EQ(std::memcmp(machine.at(1, 2), "\10\0\11\0", 4), 0) << "what is not asked for becomes 0";
  // Halves: two in a register.
  machine.run(text("image_load v[20:21], v[0:1], s[0:7] dmask:0xf unorm d16", "2D"));
  EXPECT_EQ(machine.result(0), 8U);
  EXPECT_EQ(machine.result(1), 9U);
  ImageMachine floats(GetParam(), ImageType::k2D, {2, 32, Number::kFloat}, 4, 3);
  floats.vectors({1, 2, 0x40003c00});
  floats.run(text("image_store v2, v[0:1], s[0:7] dmask:0x3 unorm d16", "2D"));
  floats.run(text("image_load v[20:21], v[0:1], s[0:7] dmask:0x3 unorm", "2D"));
  EXPECT_EQ(number(floats.result(0)), 1);
  EXPECT_EQ(number(floats.result(1)), 2);
}

TEST_P(Images, EveryDimension) {
  struct Case {
    ImageType type;
    const char* dimensions;
    int coordinates;
    std::uint32_t height, depth;
  };
  for (const auto& [type, dimensions, count, height, depth] :
       {Case{ImageType::k1D, "1D", 1, 1, 1}, Case{ImageType::k2D, "2D", 2, 3, 1},
        Case{ImageType::k3D, "3D", 3, 3, 5}, Case{ImageType::k1DArray, "1D_ARRAY", 2, 1, 5},
        Case{ImageType::k2DArray, "2D_ARRAY", 3, 3, 5}}) {
    ImageMachine machine(GetParam(), type, kFloats, 4, height, depth);
    const std::uint32_t y = height > 1 ? 2 : 0, z = depth > 1 ? 4 : 0;
    machine.put(5, 3, y, z);
    const std::uint32_t second = height > 1 ? y : z;
    machine.vectors({3, second, z});
    const std::string addresses = count == 1 ? "v0" : "v[0:" + std::to_string(count - 1) + "]";
    machine.run(text("image_load v20, " + addresses + ", s[0:7] dmask:0x1 unorm", dimensions));
    EXPECT_EQ(number(machine.result(0)), 5) << dimensions;
    machine.vectors({bits(3.5F), bits(height > 1 ? 2.5F : 4.0F), bits(type == ImageType::k3D ? 4.5F : 4.0F)});
    machine.sampler({{AddressMode::kClamp, AddressMode::kClamp, AddressMode::kClamp}, false, false});
    const std::string sample = newer() ? "image_sample_lz" : "image_sample";
    machine.run(text(sample + " v20, " + addresses + ", s[0:7], s[8:11] dmask:0x1", dimensions));
    EXPECT_EQ(number(machine.result(0)), 5) << dimensions;
  }
}

// AMD's runtime copies images of all types with code for arrays of planes.
TEST_P(Images, PlanesOfAnArrayReachEveryType) {
  for (const ImageType type : {ImageType::k1D, ImageType::k2D, ImageType::k3D, ImageType::k1DArray}) {
    const bool line = type == ImageType::k1D || type == ImageType::k1DArray;
    const bool deep = type == ImageType::k3D || type == ImageType::k1DArray;
    ImageMachine machine(GetParam(), type, kFloats, 4, line ? 1 : 3, deep ? 5 : 1);
    machine.put(5, 3, line ? 0 : 2, deep ? 4 : 0);
    const bool second = type == ImageType::k1DArray && !newer();  // where the layer stands
    machine.vectors({3, line ? (second ? 4U : 0U) : 2U, deep && !second ? 4U : 0U});
    machine.run(text("image_load v20, v[0:2], s[0:7] dmask:0x1 unorm", "2D_ARRAY"));
    EXPECT_EQ(number(machine.result(0)), 5) << static_cast<int>(type);
  }
}

TEST_P(Images, AddressModesAndFilters) {
  ImageMachine machine(GetParam(), ImageType::k1D, kFloats, 4);
  for (std::uint32_t x = 0; x < 4; ++x) machine.put(static_cast<float>(x) * 10, x);
  struct Case {
    AddressMode mode;
    bool normalized, linear;
    float at, value;
  };
  const float below = std::nextafter(3.0F, 0.0F);
  for (const Case& each :
       {Case{AddressMode::kClamp, false, false, -9, 0}, Case{AddressMode::kClamp, false, false, 1e30F, 30},
        Case{AddressMode::kClamp, false, false, below, 30},  // as exact as 1 / 256
        Case{AddressMode::kClamp, false, false, 2.99F, 20}, Case{AddressMode::kBorder, false, false, 4, 0},
        Case{AddressMode::kWrap, true, false, -0.25F, 30}, Case{AddressMode::kWrap, true, false, 1.3F, 10},
        Case{AddressMode::kMirror, true, false, -0.3F, 10}, Case{AddressMode::kMirror, true, false, 1.1F, 30},
        Case{AddressMode::kClamp, false, true, 2.25F, 17.5F}, Case{AddressMode::kClamp, false, true, 0.2F, 0},
        Case{AddressMode::kClamp, false, true, 2.0F + 0.3F / 256, 15},
        Case{AddressMode::kClamp, true, true, 0.5F, 15}, Case{AddressMode::kWrap, true, true, 0, 15},
        Case{AddressMode::kMirror, true, true, 1, 30}, Case{AddressMode::kBorder, true, true, 1, 15},
        Case{AddressMode::kClamp, true, true, NAN, 0}}) {
    machine.sampler({{each.mode, each.mode, each.mode}, each.normalized, each.linear});
    machine.vectors({bits(each.at)});
    machine.run(text("image_sample v20, v0, s[0:7], s[8:11] dmask:0x1", "1D"));
    EXPECT_EQ(number(machine.result(0)), each.value)
        << "mode " << static_cast<int>(each.mode) << ", linear " << each.linear << ", at " << each.at;
  }
}

TEST_P(Images, PlanesAreFilteredInBothAxes) {
  ImageMachine machine(GetParam(), ImageType::k2D, {4, 8, Number::kUnorm}, 2, 2);
  std::memcpy(machine.at(0, 0), "\xff\x00\x00\xff", 4);
  std::memcpy(machine.at(1, 1), "\x00\xff\x00\x00", 4);
  machine.sampler({{AddressMode::kClamp, AddressMode::kClamp, AddressMode::kClamp}, false, true});
  machine.vectors({bits(1.25F), bits(1.0F)});  // a quarter of column 0, half of each row
  machine.run(text("image_sample v[20:23], v[0:1], s[0:7], s[8:11] dmask:0xf", "2D"));
  EXPECT_EQ(number(machine.result(0)), 0.125F);
  EXPECT_EQ(number(machine.result(1)), 0.375F);
  EXPECT_EQ(number(machine.result(2)), 0);
  EXPECT_EQ(number(machine.result(3)), 0.125F);
}

TEST_P(Images, ColorsOfSrgb) {
  ImageMachine machine(GetParam(), ImageType::k1D, {4, 8, Number::kSrgb}, 2);
  std::memcpy(machine.at(1), "\x00\x0a\xbc\x80", 4);
  machine.vectors({1});
  machine.run(text("image_load v[20:23], v0, s[0:7] dmask:0xf unorm", "1D"));
  EXPECT_EQ(number(machine.result(0)), 0);
  EXPECT_NEAR(number(machine.result(1)), 0.00303527F, 1e-8F);
  EXPECT_NEAR(number(machine.result(2)), 0.502886F, 1e-6F);
  EXPECT_EQ(number(machine.result(3)), 128 / 255.0F);
  EXPECT_NE(machine.refusal(text("image_store v[20:23], v0, s[0:7] dmask:0xf unorm", "1D")).find("sRGB"),
            std::string::npos);
}

TEST_P(Images, WhatIsNotKnownIsRefused) {
  const auto load = text("image_load v20, v[0:2], s[0:7] dmask:0x1 unorm", "2D_ARRAY");
  ImageMachine machine(GetParam(), ImageType::k2DArray, kFloats, 4, 3, 2);
  EXPECT_EQ(machine.refusal(load), "nothing");
  const std::uint32_t before = machine.wave_.s[3];
  machine.wave_.s[3] = before | 1 << 20;
  EXPECT_NE(machine.refusal(load).find("an image of tiles"), std::string::npos);
  machine.wave_.s[3] = (before & 0xfffffff) | 0xb0000000;
  EXPECT_NE(machine.refusal(load).find("cubemap"), std::string::npos);
  machine.wave_.s[3] = before;
  const auto flat = text("image_load v20, v[0:1], s[0:7] dmask:0x1 unorm", "2D");
  EXPECT_NE(machine.refusal(flat), "nothing") << "layers that the instruction does not name";
  const auto halves = text("image_load v[20:21], v[0:2], s[0:7] dmask:0x7 unorm d16", "2D_ARRAY");
  EXPECT_NE(machine.refusal_of_text(halves).find("an odd number of halves"), std::string::npos);
  for (const char* modifier : {"lwe", "tfe", "a16"}) {
    EXPECT_NE(machine.refusal_of_text(load + " " + modifier).find("modifier"), std::string::npos) << modifier;
  }
  const auto sample = text("image_sample v20, v[0:2], s[0:7], s[8:11] dmask:0x1", "2D_ARRAY");
  machine.sampler({{AddressMode::kWrap, AddressMode::kWrap, AddressMode::kWrap}, false, false});
  EXPECT_NE(machine.refusal(sample).find("not normalized"), std::string::npos);
  machine.wave_.s[8] = 1 << 9;
  EXPECT_NE(machine.refusal(sample).find("fields that are not known"), std::string::npos);
  ImageMachine integers(GetParam(), ImageType::k2DArray, kBytes, 4, 3, 2);
  integers.sampler({{AddressMode::kClamp, AddressMode::kClamp, AddressMode::kClamp}, false, true});
  EXPECT_NE(integers.refusal(sample).find("integers"), std::string::npos);
  ImageMachine box(GetParam(), ImageType::k3D, kFloats, 4, 3, 2);
  box.sampler({{AddressMode::kClamp, AddressMode::kClamp, AddressMode::kClamp}, false, true});
  EXPECT_EQ(box.refusal(text("image_sample v20, v[0:2], s[0:7], s[8:11] dmask:0x1", "3D")) == "nothing",
            newer());
}

TEST_P(Images, BuffersOfElements) {
  ImageMachine machine(GetParam(), ImageType::k1D, {2, 16, Number::kSnorm}, 4);
  const std::int16_t values[] = {32767, -32767, 0, -32768};
  std::memcpy(machine.at(1), values, sizeof values);
  TexelBuffer buffer{machine.image_.base, 3, machine.image_.format, usual_selects(2)};
  ASSERT_TRUE(encode(processor(), buffer, &machine.wave_.s[12]));
  for (std::uint32_t lane = 0; lane < 5; ++lane) machine.registers_[0].lane[lane] = lane;
  machine.registers_[0].lane[4] = 0xffffffff;
  machine.run("buffer_load_format_xyzw v[20:23], v0, s[12:15], 0 idxen");
  const float expected[5][4] = {{0, 0, 0, 1}, {1, -1, 0, 1}, {0, -1, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}};
  for (int lane = 0; lane < 5; ++lane) {
    for (int k = 0; k < 4; ++k)
      EXPECT_EQ(number(machine.result(k, lane)), expected[lane][k]) << lane << ", " << k;
  }
  machine.vectors({2, 0, bits(0.5F), bits(-2)});
  machine.run("buffer_store_format_xy v[2:3], v0, s[12:15], 0 idxen");
  std::int16_t written[2] = {};
  std::memcpy(written, machine.at(2), sizeof written);
  EXPECT_EQ(written[0], 16384);
  EXPECT_EQ(written[1], -32767);
  buffer.format = {4, 8, Number::kSrgb};
  EXPECT_FALSE(encode(processor(), buffer, &machine.wave_.s[12])) << "buffers have no sRGB";
}

TEST(ImagesOfGfx1100, LevelsGradientsAndGathering) {
  if (!known("gfx1100")) GTEST_SKIP() << "no clang 15";
  ImageMachine machine({"gfx1100", 32}, ImageType::k2D, kFloats, 4, 4);
  for (std::uint32_t i = 0; i < 16; ++i) machine.put(static_cast<float>(i), i % 4, i / 4);
  machine.sampler({{AddressMode::kClamp, AddressMode::kClamp, AddressMode::kClamp}, false, false});
  machine.vectors({bits(9), bits(9), bits(9), bits(9), bits(1.5F), bits(2.5F)});
  machine.run("image_sample_d v20, v[0:5], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D");
  EXPECT_EQ(number(machine.result(0)), 9);
  machine.run("image_sample_l v20, [v5, v4, v0], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D");
  EXPECT_EQ(number(machine.result(0)), 6);
  machine.run("image_sample_b v20, v[3:5], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D");
  EXPECT_EQ(number(machine.result(0)), 9);
  machine.vectors({bits(2), bits(2)});
  machine.run("image_gather4_lz v[20:23], v[0:1], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D");
  const float four[] = {9, 10, 6, 5};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(number(machine.result(i)), four[i]) << i;
  machine.vectors({1, 2, 0});
  machine.run("image_load_mip v20, v[0:2], s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm");
  EXPECT_EQ(number(machine.result(0)), 9);
  machine.vectors({1, 2, 1});
  machine.run("image_load_mip v20, v[0:2], s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm");
  EXPECT_EQ(number(machine.result(0)), 0) << "a level that there is not";
  EXPECT_NE(
      machine.refusal("image_load v20, v[0:2], s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_CUBE unorm").find("cubemap"),
      std::string::npos);
  EXPECT_NE(machine.refusal("image_load v20, v0, s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_1D unorm").find("fewer"),
            std::string::npos);
}

// Addresses that do not follow each other, as newer disassemblers write more than five.
TEST(ImagesOfGfx1100, ListsOfAddresses) {
  ImageMachine machine({"gfx1100", 32}, ImageType::k2D, kFloats, 4, 4);
  machine.put(5, 3, 2);
  machine.sampler({{AddressMode::kClamp, AddressMode::kClamp, AddressMode::kClamp}, false, false});
  machine.vectors({0, 0, 0, 0, 0, 0, 0, bits(3), bits(2)});
  machine.execute_text(
      "image_sample_d v20, [v0, v5, v1, v2, v[7:8]], s[0:7], s[8:11] dmask:0x1 "
      "dim:SQ_RSRC_IMG_2D");
  EXPECT_EQ(number(machine.result(0)), 5);
  for (const char* wrong : {"[v0, v5, v[7:8], v1, v2]", "[v0, s5, v1]", "[v0, v1, v2, v3, v4, v5]", "[]"}) {
    EXPECT_THROW(machine.execute_text("image_sample_d v20, " + std::string(wrong) +
                                      ", s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D"),
                 Stop)
        << wrong;
  }
}

}  // namespace
}  // namespace tf::amd::isa
