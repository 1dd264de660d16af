// SPDX-License-Identifier: Apache-2.0
// Converts hiprtc's options to NVRTC's.
#include "worker/runtime/cuda/rtc/options.h"

#include <array>
#include <cstddef>
#include <optional>
#include <utility>

namespace tf::cuda::rtc {
namespace {

// What one word becomes; an empty text: nothing, and nothing is lost by that.
constexpr std::pair<std::string_view, std::string_view> kSame[] = {
    {"-ffast-math", "--use_fast_math"},
    {"-Ofast", "--use_fast_math"},
    {"-ffp-contract=off", "--fmad=false"},
    {"-ffp-contract=on", "--fmad=true"},
    {"-ffp-contract=fast", "--fmad=true"},
    {"-fgpu-flush-denormals-to-zero", "--ftz=true"},
    {"-fcuda-flush-denormals-to-zero", "--ftz=true"},
    {"-fno-gpu-flush-denormals-to-zero", "--ftz=false"},
    {"-g", "--generate-line-info"},
    {"-w", "--disable-warnings"},
    {"-O", ""},
    {"-O0", ""},
    {"-O1", ""},
    {"-O2", ""},
    {"-O3", ""},
    {"-munsafe-fp-atomics", ""},
    {"-fgpu-rdc", "--relocatable-device-code=true"},
    {"-fno-gpu-rdc", ""},
};

constexpr std::string_view kStandards[] = {"--std=", "-std="};
constexpr std::string_view kArchitectures[] = {
    "--gpu-architecture=", "--offload-arch=", "--cuda-gpu-arch=", "-arch="};
// NVRTC's own that programs may give, and what both know.
constexpr std::string_view kKnown[] = {"-D",
                                       "-U",
                                       "-I",
                                       "--define-macro",
                                       "--undefine-macro",
                                       "--include-path",
                                       "--use_fast_math",
                                       "-use_fast_math",
                                       "--fmad",
                                       "-fmad",
                                       "--ftz",
                                       "-ftz",
                                       "--prec-div",
                                       "-prec-div",
                                       "--prec-sqrt",
                                       "-prec-sqrt",
                                       "--maxrregcount",
                                       "-maxrregcount",
                                       "--extra-device-vectorization",
                                       "-default-device",
                                       "--device-as-default-execution-space",
                                       "--generate-line-info",
                                       "-lineinfo",
                                       "--disable-warnings",
                                       "--restrict",
                                       "--device-debug",
                                       "--pre-include",
                                       "--relocatable-device-code",
                                       "--device-int128",
                                       "--builtin-",
                                       "--ptxas-options",
                                       "--dopt",
                                       "--minimal",
                                       "--diag-"};
// Words of clang's that have their value in the next one.
constexpr std::string_view kPairs[] = {"-mllvm", "-Xclang", "-x", "-target", "-isystem", "-Xlinker"};

template <std::size_t Count>
std::optional<std::string_view> after(std::string_view word, const std::string_view (&starts)[Count]) {
  for (const std::string_view start : starts)
    if (word.starts_with(start)) return word.substr(start.size());
  return std::nullopt;
}

bool is_nvidia(std::string_view architecture) {
  return architecture.starts_with("sm_") || architecture.starts_with("compute_");
}

std::string standard(std::string_view name) {
  if (name.starts_with("gnu")) name.remove_prefix(3);
  if (name.starts_with("c")) name.remove_prefix(1);
  const std::string_view year = name.substr(
      name.find_first_not_of('+') == std::string_view::npos ? name.size() : name.find_first_not_of('+'));
  if (year == "0x") return "11";
  if (year == "1y") return "14";
  if (year == "1z") return "17";
  if (year == "2a" || year == "2b" || year == "23") return "20";
  return std::string(year);
}

class Translator {
 public:
  explicit Translator(std::string_view architecture) { result_.architecture = architecture; }

  // Takes the word, and the next one where they belong together; how many it took.
  std::size_t take(std::string_view word, std::optional<std::string_view> next) {
    if (const auto name = after(word, kArchitectures)) return take_architecture(word, *name);
    if (const auto name = after(word, kStandards)) return add("--std=c++" + standard(*name)), 1;
    for (const auto& [clang, ours] : kSame)
      if (word == clang) return ours.empty() ? 1 : (add(std::string(ours)), 1);
    const bool takes_next = word == "-D" || word == "-U" || word == "-I";
    if (takes_next && next) return add(std::string(word) + std::string(*next)), 2;
    if (word == "-include" && next) return add("--pre-include=" + std::string(*next)), 2;
    for (const std::string_view pair : kPairs)
      if (word == pair) return leave_out(word), next ? 2 : 1;
    if (!takes_next && after(word, kKnown)) return add(std::string(word)), 1;
    return leave_out(word), 1;
  }

  Translated finish() {
    add("--gpu-architecture=" + result_.architecture);
    return std::move(result_);
  }

 private:
  std::size_t take_architecture(std::string_view word, std::string_view name) {
    if (is_nvidia(name))
      result_.architecture = name;
    else
      leave_out(word);
    return 1;
  }
  void add(std::string option) { result_.options.push_back(std::move(option)); }
  void leave_out(std::string_view word) {
    result_.notes.append("hiprtc: option ").append(word).append(" has no meaning here and is left out\n");
  }

  Translated result_;
};

}  // namespace

Translated translate_options(const std::vector<std::string>& options, std::string_view architecture) {
  Translator translator(architecture);
  for (std::size_t i = 0; i < options.size();) {
    const bool last = i + 1 == options.size();
    i += translator.take(options[i], last ? std::nullopt : std::optional<std::string_view>(options[i + 1]));
  }
  return translator.finish();
}

}  // namespace tf::cuda::rtc
