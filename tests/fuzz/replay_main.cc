// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz entry without a fuzzer: every file of the given folder, then damaged copies of it
// (deterministic; the second argument says how many), then as many short made-up inputs. Ends with an error
// when there was nothing to run.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;
constexpr int kCopies = 2000;

void run(const Input& input) { LLVMFuzzerTestOneInput(input.data(), input.size()); }

void run_damaged(const Input& seed, int copies, std::mt19937& random) {
  for (int copy = 0; copy < copies && !seed.empty(); ++copy) {
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
  if (argc < 2 || !std::filesystem::is_directory(argv[1])) {
    std::fprintf(stderr, "usage: %s <folder of seeds> [copies]\n", argv[0]);
    return 1;
  }
  const int copies = argc > 2 ? std::atoi(argv[2]) : kCopies;
  std::mt19937 random(1);
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[1])) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const Input seed{std::istreambuf_iterator<char>(file), {}};
    run(seed);
    run_damaged(seed, copies, random);
    ++files;
  }
  for (int i = 0; i < copies; ++i) {
    Input input(random() % 300);
    for (auto& byte : input) byte = static_cast<std::uint8_t>(random());
    run(input);
  }
  std::printf("%d seeds replayed\n", files);
  return files == 0 ? 1 : 0;
}
