// SPDX-License-Identifier: Apache-2.0
// Two waves at the same words: none sees a part of what the other one has stored.
#include <array>
#include <atomic>
#include <thread>

#include "tests/amd/isa/instruction_machine.h"

namespace tf::amd::isa {
namespace {

constexpr int kWordsMax = 4;
constexpr int kStores = 20'000;

struct Form {
  const char* store;
  const char* load;
  int words;
};
constexpr Form kForms[] = {
    {"global_store_dwordx2 v[0:1], v[4:5], off", "global_load_dwordx2 v[4:5], v[0:1], off", 2},
    {"global_store_dwordx4 v[0:1], v[4:7], off", "global_load_dwordx4 v[4:7], v[0:1], off", 4},
};

// One place for each lane.
struct SharedWords {
  alignas(16) std::array<std::array<std::uint32_t, kWordsMax>, kLanes> word{};
};

void point_at(Machine& machine, SharedWords& shared) {
  machine.memory_.add(shared.word.data(), sizeof shared.word);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const auto address = reinterpret_cast<std::uint64_t>(&shared.word[lane]);
    machine.registers_[0].lane[lane] = static_cast<std::uint32_t>(address);
    machine.registers_[1].lane[lane] = static_cast<std::uint32_t>(address >> 32);
  }
}

int count_mixed(const Machine& machine, int words) {
  int mixed = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int word = 1; word < words; ++word)
      mixed += machine.registers_[4].lane[lane] != machine.registers_[4 + word].lane[lane] ? 1 : 0;
  }
  return mixed;
}

class WholeWords : public ::testing::TestWithParam<Form> {};
INSTANTIATE_TEST_SUITE_P(Forms, WholeWords, ::testing::ValuesIn(kForms),
                         [](const auto& info) { return std::to_string(4 * info.param.words) + "Bytes"; });

TEST_P(WholeWords, AreStoredAndLoadedAtOnce) {
  const Form form = GetParam();
  SharedWords shared;
  Machine writer, reader;
  point_at(writer, shared);
  point_at(reader, shared);
  const Instruction store = Machine::code_of("gfx90a", 64).decode_written(form.store);
  const Instruction load = Machine::code_of("gfx90a", 64).decode_written(form.load);
  std::atomic<bool> done{false};
  std::thread other([&] {
    for (std::uint32_t value = 1; value <= kStores; ++value) {
      for (int word = 0; word < form.words; ++word) {
        for (std::uint32_t& lane : writer.registers_[static_cast<std::size_t>(4 + word)].lane) lane = value;
      }
      store.handler(writer.wave_, store);
    }
    done.store(true);
  });
  int mixed = 0;
  while (!done.load()) {
    load.handler(reader.wave_, load);
    mixed += count_mixed(reader, form.words);
  }
  other.join();
  EXPECT_EQ(mixed, 0);
  load.handler(reader.wave_, load);
  EXPECT_EQ(reader.registers_[4].lane[63], std::uint32_t{kStores});
}

}  // namespace
}  // namespace tf::amd::isa
