// SPDX-License-Identifier: Apache-2.0
// A list of what is allowed, by shape: clang has a thousand options, and those that say how a source is
// compiled come in families. Their values are words, never paths. Folders of headers may be any: what a
// compiler can read is not decided here (compiler_walls.h).
#include "worker/sandbox/compile_options.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace tf::worker {
namespace {

using Word = std::string_view;

// Alone.
constexpr Word kWords[] = {"-w",
                           "-v",
                           "-c",
                           "-G",
                           "-ansi",
                           "-pedantic",
                           "-pedantic-errors",
                           "-pthread",
                           "-nogpulib",
                           "-nogpuinc",
                           "-nostdinc",
                           "-nostdinc++",
                           "-nobuiltininc",
                           "-nohipwrapperinc",
                           "-undef",
                           "-Qunused-arguments",
                           "-hip-pch",
                           "-xhip",
                           "-xc++",
                           "-use_fast_math",
                           "--use_fast_math",
                           "-lineinfo",
                           "--generate-line-info",
                           "-default-device",
                           "--device-as-default-execution-space",
                           "--disable-warnings",
                           "--restrict",
                           "--device-debug",
                           "--device-int128",
                           "--minimal",
                           "--extra-device-vectorization"};
// A name that begins like this, and a value behind an equals sign or none.
constexpr Word kFamilies[] = {"-f", "-m", "-W", "-g", "-O", "-cl-", "-diag-", "--diag-", "--builtin-"};
// Of those families: libraries that the compiler loads.
constexpr Word kLoads[] = {"-fplugin", "-fpass-plugin"};
// With a value in the same word.
constexpr Word kValued[] = {"-std=",
                            "--std=",
                            "-arch=",
                            "--offload-arch=",
                            "--gpu-architecture=",
                            "--cuda-gpu-arch=",
                            "--amdgpu-target=",
                            "--target=",
                            "--gpu-max-threads-per-block=",
                            "-parallel-jobs=",
                            "-prec-div=",
                            "--prec-div=",
                            "-prec-sqrt=",
                            "--prec-sqrt=",
                            "--fmad=",
                            "--ftz=",
                            "-maxrregcount=",
                            "--maxrregcount=",
                            "-rdc=",
                            "--relocatable-device-code=",
                            "--ptxas-options=",
                            "--dopt=",
                            "-dopt="};
// Any text, in the same word: macros, patterns of remarks, and headers or folders of them.
constexpr Word kFree[] = {"-D",
                          "-U",
                          "-Rpass",
                          "-I",
                          "-isystem",
                          "-iquote",
                          "-idirafter",
                          "--define-macro=",
                          "--undefine-macro=",
                          "--include-path=",
                          "--pre-include="};
// Any text, in the next word.
constexpr Word kFreeNext[] = {"-D", "-U", "-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros"};
constexpr Word kLanguages[] = {"hip", "c++"};
// Behind -Xclang.
constexpr Word kOfClang[] = {"-target-feature", "-mllvm", "-disable-O0-optnone", "-disable-llvm-passes",
                             "-disable-llvm-optzns"};

template <std::size_t Count>
bool is_one(Word word, const Word (&list)[Count]) {
  return std::ranges::find(list, word) != std::end(list);
}

template <std::size_t Count>
Word start(Word word, const Word (&list)[Count]) {
  const auto* const found = std::ranges::find_if(list, [&](Word one) { return word.starts_with(one); });
  return found == std::end(list) ? Word() : *found;
}

bool consists_of(Word text, Word others) {
  return std::ranges::all_of(text, [&](char letter) {
    return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
           (letter >= 'A' && letter <= 'Z') || others.find(letter) != Word::npos;
  });
}

// A keyword, a list of them, or a number; it has no slash, and a dot only between digits.
bool is_plain(Word value) {
  const bool is_number =
      value.find_first_not_of("0123456789.-") == Word::npos && value.find("..") == Word::npos;
  return is_number || consists_of(value, "_+-:,");
}

// -name or -name=value. No comma in the name: -Wl, and its like hand words to other programs.
bool is_flag(Word word) {
  const std::size_t end = std::min(word.size(), word.find('='));
  return consists_of(word.substr(0, end), "_+-#") && (end == word.size() || is_plain(word.substr(end + 1)));
}

bool is_of_family(Word word) {
  return !start(word, kFamilies).empty() && start(word, kLoads).empty() && word != "-mllvm" && is_flag(word);
}

bool stands_alone(Word word) {
  if (is_one(word, kWords) || is_of_family(word)) return true;
  if (const Word option = start(word, kValued); !option.empty()) return is_plain(word.substr(option.size()));
  const Word option = start(word, kFree);
  return !option.empty() && word.size() > option.size();
}

// Whether `option` takes `value` as its own.
bool takes(Word option, Word value) {
  if (is_one(option, kFreeNext)) return true;
  if (option == "-x") return is_one(value, kLanguages);
  if (option == "-target") return is_plain(value);
  if (option == "-mllvm") return value.starts_with('-') && is_flag(value);
  if (option != "-Xclang") return false;
  return is_one(value, kOfClang) || is_of_family(value) ||
         (value.starts_with('+') && consists_of(value, "+-._"));
}

bool takes_next(Word option) {
  return is_one(option, kFreeNext) || option == "-x" || option == "-target" || option == "-mllvm" ||
         option == "-Xclang";
}

Status refused(Word option) {
  return {Code::kPermission,
          "hiprtc: the option " + std::string(option.substr(0, 200)) +
              " is not taken by a worker: it may name files or programs there, or is not known"};
}

}  // namespace

Status check_compile_options(const std::vector<std::string>& options) {
  for (std::size_t i = 0; i < options.size(); ++i) {
    const Word option = options[i];
    if (takes_next(option)) {
      const Word value = i + 1 < options.size() ? Word(options[i + 1]) : Word();
      // A word that begins like this is a file of words, wherever it stands.
      if (value.empty() || value.starts_with('@') || !takes(option, value))
        return refused(value.empty() ? option : value);
      ++i;
    } else if (!stands_alone(option)) {
      return refused(option);
    }
  }
  return Status::ok();
}

}  // namespace tf::worker
