// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz entry without a fuzzer: every file of the given folders, then damaged copies of it
// (deterministic), then short made-up inputs. Ends with an error when there was nothing to run.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;
constexpr int kDamagedCopies = 2000;
constexpr int kMadeUp = 2000;

void run(const Input& input) { LLVMFuzzerTestOneInput(input.data(), input.size()); }

void run_damaged(const Input& seed, std::mt19937& random) {
  for (int copy = 0; copy < kDamagedCopies && !seed.empty(); ++copy) {
    Input input = seed;
    for (unsigned hits = 1 + random() % 8; hits > 0; --hits) {
      input[random() % input.size()] = static_cast<std::uint8_t>(random());
    }
    if (random() % 4 == 0) input.resize(random() % input.size());
    run(input);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::mt19937 random(1);
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      const Input seed{std::istreambuf_iterator<char>(file), {}};
      run(seed);
      run_damaged(seed, random);
      ++files;
    }
  }
  for (int i = 0; i < kMadeUp; ++i) {
    Input input(random() % 300);
    for (auto& byte : input) byte = static_cast<std::uint8_t>(random());
    run(input);
  }
  std::printf("%d seeds replayed\n", files);
  return files == 0 ? 1 : 0;
}
