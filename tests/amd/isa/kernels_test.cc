// SPDX-License-Identifier: Apache-2.0
// Whole kernels: compiled for each processor and executed here, against the same source compiled for the
// host.
#include "tests/amd/isa/kernels.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/amd/isa/code_object.h"
#include "tests/amd/isa/executor.h"
#include "tests/amd/isa/kernels_path.h"

namespace tf::amd::isa {
namespace {

// What a kernel's arguments look like in memory: each at its natural alignment.
class Arguments {
 public:
  template <class... T>
  explicit Arguments(T... values) {
    (put(values), ...);
  }
  std::vector<std::uint8_t>& bytes() { return bytes_; }

 private:
  template <class T>
  void put(T value) {
    bytes_.resize((bytes_.size() + sizeof value - 1) / sizeof value * sizeof value);
    const auto* from = reinterpret_cast<const std::uint8_t*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof value);
  }
  std::vector<std::uint8_t> bytes_;
};

class Kernels : public ::testing::TestWithParam<KernelFile> {
 protected:
  void SetUp() override {
    code_ = CodeObject::load(GetParam().path, memory_);
    ASSERT_NE(code_, nullptr) << GetParam().path;
  }

  template <class T>
  void* shared(std::vector<T>& data) {
    memory_.add(data.data(), data.size() * sizeof(T));
    return data.data();
  }

  std::optional<Failure> run(const char* name, std::array<std::uint32_t, 3> grid,
                             std::array<std::uint32_t, 3> group, Arguments arguments) {
    arguments.bytes().resize(arguments.bytes().size() + 256);  // hidden arguments
    memory_.add(arguments.bytes().data(), arguments.bytes().size());
    packet_.assign(64, 0);  // hsa_kernel_dispatch_packet_t: sizes of work-groups at 4, of the grid at 12
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto size = static_cast<std::uint16_t>(group[axis]);
      std::memcpy(&packet_[4 + 2 * axis], &size, sizeof size);
      std::memcpy(&packet_[12 + 4 * axis], &grid[axis], sizeof grid[axis]);
    }
    memory_.add(packet_.data(), packet_.size());
    Dispatch dispatch;
    dispatch.descriptor = code_->kernel(name);
    dispatch.grid_size = grid;
    dispatch.workgroup_size = group;
    dispatch.kernarg = arguments.bytes().data();
    dispatch.dispatch_packet = packet_.data();
    dispatch.group_segment_bytes = size_of(dispatch.descriptor, 0);
    dispatch.private_segment_bytes = size_of(dispatch.descriptor, 4) + 1024;  // and what callees need
    dispatch.cancel = &cancel_;
    dispatch.cost = &cost_;
    const std::optional<Failure> failure = executor_.run(dispatch);
    memory_.remove(arguments.bytes().data());
    return failure;
  }

  static std::uint32_t size_of(const void* descriptor, std::size_t offset) {
    std::uint32_t size = 0;
    if (descriptor != nullptr)
      std::memcpy(&size, static_cast<const std::uint8_t*>(descriptor) + offset, sizeof size);
    return size;
  }

  TestMemory memory_;
  std::unique_ptr<CodeObject> code_;
  std::vector<std::uint8_t> packet_;
  std::atomic<bool> cancel_{false};
  Cost cost_;
  Executor executor_{memory_, 0, GetParam().processor};
};

INSTANTIATE_TEST_SUITE_P(Processors, Kernels, ::testing::ValuesIn(kKernelFiles),
                         [](const auto& each) { return std::string(each.param.name); });

#define EXPECT_RUNS(...)                                                 \
  do {                                                                   \
    const std::optional<Failure> failure = run(__VA_ARGS__);             \
    EXPECT_FALSE(failure.has_value()) << (failure ? failure->text : ""); \
  } while (false)

TEST_P(Kernels, SaxpyWithLanesThatTakeNoPart) {
  constexpr unsigned kItems = 1000;
  std::vector<float> x(kItems), y(kItems + 24, 2.0F);
  for (unsigned i = 0; i < kItems; ++i) x[i] = static_cast<float>(i) * 0.5F;
  EXPECT_RUNS("saxpy", {1024, 1, 1}, {256, 1, 1}, Arguments(3.0F, shared(x), shared(y), kItems));
  for (unsigned i = 0; i < kItems; ++i) ASSERT_EQ(y[i], __builtin_fmaf(3.0F, x[i], 2.0F)) << i;
  for (unsigned i = kItems; i < kItems + 24; ++i) EXPECT_EQ(y[i], 2.0F);
  const bool preloaded = std::string_view(GetParam().name).ends_with("_preloaded");
  const std::uint32_t last_word = size_of(code_->kernel("saxpy"), 56);  // of the descriptor's
  EXPECT_EQ((last_word >> 16 & 0x7f) != 0, preloaded) << "words that lie in registers at the start";
}

TEST_P(Kernels, FloatsDoublesAndIntegersAsOnTheHost) {
  constexpr unsigned kItems = 4096;
  std::vector<Record> out(kItems), expected(kItems);
  EXPECT_RUNS("records", {kItems, 1, 1}, {128, 1, 1}, Arguments(shared(out), kItems));
  for (unsigned n = 0; n < kItems; ++n) {
    floats_of(n, &expected[n]);
    doubles_of(n, &expected[n]);
    integers_of(n, &expected[n]);
    for (int k = 0; k < 12; ++k) ASSERT_EQ(out[n].f[k], expected[n].f[k]) << "f" << k << " of " << n;
    for (int k = 0; k < 8; ++k) ASSERT_EQ(out[n].d[k], expected[n].d[k]) << "d" << k << " of " << n;
    for (int k = 0; k < 16; ++k) ASSERT_EQ(out[n].u[k], expected[n].u[k]) << "u" << k << " of " << n;
    for (int k = 0; k < 8; ++k) ASSERT_EQ(out[n].l[k], expected[n].l[k]) << "l" << k << " of " << n;
    for (int k = 0; k < 8; ++k) ASSERT_EQ(out[n].i[k], expected[n].i[k]) << "i" << k << " of " << n;
  }
}

TEST_P(Kernels, Xorwow) {
  constexpr unsigned kItems = 1024;
  const char* wanted = std::getenv("AMD_ISA_TEST_STEPS");  // to measure
  const unsigned steps = wanted != nullptr ? static_cast<unsigned>(std::atoi(wanted)) : 500;
  std::vector<unsigned> out(kItems);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_RUNS("generate", {kItems, 1, 1}, {256, 1, 1}, Arguments(shared(out), steps));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  for (unsigned i = 0; i < kItems; ++i) ASSERT_EQ(out[i], xorwow(i, steps)) << i;
  RecordProperty("instructions", std::to_string(executor_.instructions()));
  if (wanted != nullptr) {
    const double millions = static_cast<double>(executor_.instructions()) / 1e6;
    std::printf("%.1f million wave instructions, %.2f s: %.1f million a second, %.1f of a core\n", millions,
                seconds.count(), millions / seconds.count(), millions / cost_.processor_seconds);
  }
}

TEST_P(Kernels, ReductionInLocalMemory) {
  constexpr unsigned kGroups = 33;
  std::vector<unsigned> in(kGroups * 256), out(kGroups), total(1);
  unsigned sum = 0;
  for (unsigned i = 0; i < in.size(); ++i) sum += in[i] = mix_bits(i) & 0xffff;
  EXPECT_RUNS("reduce", {kGroups * 256, 1, 1}, {256, 1, 1},
              Arguments(shared(in), shared(out), shared(total)));
  EXPECT_EQ(total[0], sum);
  EXPECT_EQ(out[0] != 0, true);
}

TEST_P(Kernels, NoWaveGetsFarAheadOfTheOthers) {
  std::vector<unsigned> out(256);
  EXPECT_RUNS("overtake", {256, 1, 1}, {256, 1, 1}, Arguments(shared(out), 100U));
  EXPECT_EQ(out, std::vector<unsigned>(256, 1));
}

TEST_P(Kernels, PrivateMemoryAndCalls) {
  constexpr unsigned kItems = 320;
  std::vector<unsigned> out(kItems);
  EXPECT_RUNS("scratch", {kItems, 1, 1}, {64, 1, 1}, Arguments(shared(out)));
  for (unsigned n = 0; n < kItems; ++n) {
    unsigned table[32];
    for (unsigned k = 0; k < 32; ++k) table[k] = mix_bits(n + k);
    unsigned sum = 0;
    for (unsigned k = 0; k < 64; ++k) {
      const unsigned i = table[k & 31] + k;
      sum += table[i & 31] * 3 + i;
    }
    ASSERT_EQ(out[n], sum) << n;
  }
}

TEST_P(Kernels, ItemsAndGroupsInThreeDimensions) {
  std::vector<unsigned> out(std::size_t{5} * 3 * 2 * 4);
  EXPECT_RUNS("groups", {5, 12, 2}, {5, 3, 2}, Arguments(shared(out)));
  for (unsigned at = 0; at < out.size(); ++at) {
    EXPECT_EQ(out[at], at % 5 | at / 5 % 3 << 8 | at / 15 % 2 << 16 | at / 30 << 24) << at;
  }
}

TEST_P(Kernels, LanesThatLeaveALoopOneByOne) {
  constexpr unsigned kItems = 256;
  std::vector<unsigned> table(1000), out(kItems);
  for (unsigned i = 0; i < table.size(); ++i) table[i] = mix_bits(i) % 7 == 0 ? 0 : mix_bits(i + 99);
  EXPECT_RUNS("wander", {kItems, 1, 1}, {64, 1, 1}, Arguments(shared(out), shared(table), 1000U));
  for (unsigned i = 0; i < kItems; ++i) {
    unsigned at = i, steps = 0;
    for (; table[at] != 0 && steps < 1000; ++steps) at = table[at] % 1000;
    ASSERT_EQ(out[i], steps) << i;
  }
}

TEST_P(Kernels, AWorkGroupThatWaitsForALaterOne) {
  std::vector<unsigned> flags(2);
  EXPECT_RUNS("handshake", {128, 1, 1}, {64, 1, 1}, Arguments(shared(flags)));
  EXPECT_EQ(flags[0], 7U);
}

TEST_P(Kernels, AddressesOutsideOfEveryAllocationAreFaults) {
  const std::optional<Failure> failure =
      run("fault", {64, 1, 1}, {64, 1, 1}, Arguments(reinterpret_cast<void*>(0x123400)));
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->kind, FailureKind::kMemoryFault);
  EXPECT_EQ(failure->address, 0x123400U);
  EXPECT_NE(failure->program_counter, 0U);
  EXPECT_NE(failure->text.find("global_store_"), std::string::npos) << failure->text;
}

TEST_P(Kernels, Traps) {
  const std::optional<Failure> failure = run("stop", {64, 1, 1}, {64, 1, 1}, Arguments());
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->kind, FailureKind::kTrap) << failure->text;
  EXPECT_EQ(failure->trap, 2U);
}

TEST_P(Kernels, CodeThatWasWrittenIsDecodedAnewOnceItIsForgotten) {
  ASSERT_TRUE(run("stop", {64, 1, 1}, {64, 1, 1}, Arguments()).has_value());
  const auto* descriptor = static_cast<const std::uint8_t*>(code_->kernel("stop"));
  std::int64_t entry = 0;
  std::memcpy(&entry, descriptor + 16, sizeof entry);
  const std::uint32_t kEndProgram =
      std::string_view(GetParam().processor) == "gfx1100" ? 0xbfb00000 : 0xbf810000;
  auto* code = const_cast<std::uint8_t*>(descriptor) + entry;
  std::memcpy(code, &kEndProgram, sizeof kEndProgram);
  executor_.forget(reinterpret_cast<std::uint64_t>(code), sizeof kEndProgram);
  EXPECT_RUNS("stop", {64, 1, 1}, {64, 1, 1}, Arguments());
}

TEST_P(Kernels, ADescriptorThatLiesNowhere) {
  const std::optional<Failure> failure = run("no_such_kernel", {64, 1, 1}, {64, 1, 1}, Arguments());
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->kind, FailureKind::kInvalidDispatch);
}

}  // namespace
}  // namespace tf::amd::isa
