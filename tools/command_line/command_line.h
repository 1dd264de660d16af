// SPDX-License-Identifier: Apache-2.0
// CommandLine: the words typed, checked against the description (reference/gen/programs.h).
//
// Forms: --name VALUE, --name=VALUE, -n VALUE, -nVALUE, flags together (-lv). If an option is repeated the
// last one counts; one that takes a list adds to it. If the command takes further words, the first word that
// is not an option, or "--", ends the options, and the rest belongs to another program. Errors say what was
// wrong and what is possible.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "docs/reference/description.h"
#include "transport/base/status.h"

namespace tf::reference {

inline constexpr int kExitUsage = 2;

class CommandLine {
 public:
  explicit CommandLine(const Program& program) : program_(program) {}

  // The exit code if there is nothing left to do: 0 after --help and --version, kExitUsage after an error,
  // which is reported on standard error.
  std::optional<int> parse(int argc, const char* const* argv);
  // The same, but the caller reports the error. kInvalidArgument: the command line is wrong, or a variable
  // that stands for an option.
  Status read(std::span<const std::string_view> words);

  const Command& command() const { return *command_; }
  bool is(const Command& command) const { return command_->name == command.name; }
  bool has(const Option& option) const { return given_.contains(option.name); }
  // The last value, or the variable's; `otherwise` if there is none.
  std::string text(const Option& option, std::string_view otherwise = {}) const;
  long number(const Option& option, long otherwise) const;
  std::vector<std::string> list(const Option& option) const;
  const std::vector<std::string>& rest() const { return rest_; }
  bool wants_help() const { return help_; }
  bool wants_version() const { return version_; }
  // "hip-remote run"
  std::string title() const;

 private:
  // Both take words from the end of `left`, where the first one is.
  Status read_options(std::vector<std::string>& left);
  Status choose(std::vector<std::string>& left);

  const Program& program_;
  const Command* command_ = &program_.own;
  std::map<std::string_view, std::vector<std::string>> given_;
  std::vector<std::string> rest_;
  bool help_ = false;
  bool version_ = false;
};

// "auto, shm, rdma or tcp"
std::string one_of(std::span<const std::string_view> words);
// The word most similar to `text`; empty if none is.
std::string_view most_like(std::string_view text, std::span<const std::string_view> words);
// Whole decimal number in [least, most]; the failure says so: "NAME TEXT: expected a number from 1 to 16".
Result<long> parse_number(std::string_view what, std::string_view text, long least, long most);

}  // namespace tf::reference
