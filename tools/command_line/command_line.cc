// SPDX-License-Identifier: Apache-2.0
// Parses command lines and their variables, and suggests near misses.
#include "tools/command_line/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace tf::reference {
namespace {

constexpr std::size_t kShownBytesMax = 100;  // of what was wrong
constexpr std::size_t kLikeMax = 3;          // letters that may differ in what was meant

std::string shown(std::string_view text) { return std::string(text.substr(0, kShownBytesMax)); }

std::string did_you_mean(std::string_view text, std::span<const std::string_view> words) {
  const std::string_view like = most_like(text, words);
  return like.empty() ? "" : "; did you mean " + std::string(like) + "?";
}

// Letters to add, take away, change, or swap with the next (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> rows(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  std::iota(rows[0].begin(), rows[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    rows[i][0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      rows[i][j] = std::min({changed, rows[i][j - 1] + 1, rows[i - 1][j] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.size()][b.size()];
}

// Ok, or what the option takes. `what` is how the user named it: the option or its variable.
Status check_value(const Option& option, std::string_view what, std::string_view value) {
  if (option.is_number) return parse_number(what, value, option.least, option.most).status();
  if (option.words.empty() || std::ranges::count(option.words, value) != 0) return Status::ok();
  const bool is_library =
      value.find('/') != std::string_view::npos || value.find(".so") != std::string_view::npos;
  if (option.other && is_library) return Status::ok();
  return invalid_argument(shown(what) + " " + shown(value) + ": expected " + one_of(option.words) +
                          (option.other ? ", or the path of a library" : "") +
                          did_you_mean(value, option.words));
}

}  // namespace

std::string one_of(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t index = 0; index < words.size(); ++index) {
    if (index > 0) text += index + 1 == words.size() ? " or " : ", ";
    text += words[index];
  }
  return text;
}

std::string_view most_like(std::string_view text, std::span<const std::string_view> words) {
  std::string_view best;
  std::size_t least = std::min(kLikeMax, text.size() / 2) + 1;
  if (text.size() > kShownBytesMax) return best;
  for (const std::string_view word : words) {
    if (const std::size_t apart = distance(text, word); apart < least) {
      best = word;
      least = apart;
    }
  }
  return best;
}

Result<long> parse_number(std::string_view what, std::string_view text, long least, long most) {
  long value = 0;
  const char* const behind = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), behind, value);
  if (error == std::errc() && end == behind && value >= least && value <= most) return value;
  return invalid_argument(std::string(what) + " " + shown(text) + ": expected a number from " +
                          std::to_string(least) + " to " + std::to_string(most));
}

namespace {

// `value`: empty for a flag, and where the value is missing.
Status take(const Option& option, std::string_view value, std::vector<std::string>& values) {
  const std::string name(option.name);
  if (!option.list) values.clear();
  if (option.value.empty() && !value.empty()) return invalid_argument(name + " takes no value");
  if (option.value.empty() || (option.optional && value.empty())) {
    values.emplace_back();
    return Status::ok();
  }
  for (;;) {  // CLI11's delimiter() would drop empty values
    const std::size_t comma = option.list ? value.find(',') : std::string_view::npos;
    const std::string_view one = value.substr(0, comma);
    if (one.empty()) return invalid_argument(name + " needs a value: " + std::string(option.value));
    TF_RETURN_IF_ERROR(check_value(option, option.name, one));
    values.emplace_back(one);
    if (comma == std::string_view::npos) return Status::ok();
    value.remove_prefix(comma + 1);
  }
}

// Options stand in for variables, so a flag's variable is off when it is "0", as everywhere.
Status take_variables(const Command& command, std::map<std::string_view, std::vector<std::string>>& given) {
  for (const Option& option : command.options) {
    if (option.variable.empty() || given.contains(option.name)) continue;
    const char* const value = std::getenv(std::string(option.variable).c_str());
    if (value == nullptr || *value == '\0') continue;
    if (option.value.empty() && std::string_view(value) == "0") continue;
    if (!option.value.empty()) TF_RETURN_IF_ERROR(check_value(option, option.variable, value));
    given[option.name] = {value};
  }
  return Status::ok();
}

// One of `with`, where CLI11's needs() wants all.
Status check_needed(const Command& command, const auto& given) {
  for (const Option& option : command.options) {
    const auto is_given = [&](std::string_view other) { return given.contains(other); };
    if (!is_given(option.name) || option.with.empty() || std::ranges::any_of(option.with, is_given)) continue;
    return invalid_argument(std::string(option.name) + " needs " + one_of(option.with));
  }
  return Status::ok();
}

// Refuses an unknown option where CLI11 leaves it, at the end of `left`. Removes a "--" there, but not where
// a command is to follow.
Status check_first(const Program& program, const Command& command, std::vector<std::string>& left) {
  if (left.empty() || left.back() == "-" || !left.back().starts_with('-')) return Status::ok();
  const bool is_program = &command == &program.own;
  if (left.back() == "--") {
    if (!is_program || program.commands.empty()) left.pop_back();
    return Status::ok();
  }
  std::vector<std::string_view> names{"--help"};
  if (is_program) names.push_back("--version");
  for (const Option& option : command.options) names.push_back(option.name);
  const std::string_view word = left.back();
  const std::string_view name = word.substr(0, word.starts_with("--") ? word.find('=') : 2);
  return invalid_argument("unknown option " + shown(name) + did_you_mean(name, names));
}

// The value as it was typed. CLI11 calls back when it has taken the option's last word: `left` of `words`,
// both from the end, are still to come. `value`: what CLI11 makes of it. It reads "--name={}" as no value,
// takes the next word where "--name=" has none, and keeps the "=" of "-n=VALUE".
Result<std::string_view> value_of(const Option& option, std::span<const std::string> words, std::size_t left,
                                  std::string_view value) {
  const std::string joined = std::string(option.name) + "=";
  const std::string_view last = left < words.size() ? std::string_view(words[left]) : std::string_view();
  if (last.starts_with(joined)) {
    if (option.value.empty()) return invalid_argument(std::string(option.name) + " takes no value");
    return last.substr(joined.size());
  }
  if (left + 1 < words.size() && words[left + 1] == joined) return std::string_view();
  return last.starts_with('-') && value.starts_with('=') ? value.substr(1) : value;
}

}  // namespace

// CLI11 takes words from the end of `left`, and leaves those from the first on that is no option of the
// command: an unknown one, "--", or another word.
Status CommandLine::read_options(std::vector<std::string>& left) {
  const std::vector<std::string> words = left;
  const bool is_program = command_ == &program_.own;
  Status status;
  CLI::App app;
  app.prefix_command()->set_help_flag();
  app.add_flag_callback("-h,--help", [] { throw CLI::CallForHelp(); })->trigger_on_parse();
  if (is_program) app.set_version_flag("--version")->trigger_on_parse();
  for (const Option& option : command_->options) {
    const auto met = [&](const CLI::results_t& values) {
      const Result<std::string_view> value = value_of(option, words, left.size(), values.front());
      status = value ? take(option, value.value(), given_[option.name]) : value.status();
      return status.is_ok();
    };
    const std::string letter = option.letter == '\0' ? "" : std::string{'-', option.letter, ','};
    CLI::Option* const added = app.add_option(letter + std::string(option.name), met)->trigger_on_parse();
    added->expected(0, option.value.empty() || option.optional ? 0 : 1);
    for (const std::string_view other : option.without)
      if (CLI::Option* const known = app.get_option_no_throw(std::string(other))) added->excludes(known);
  }
  try {
    app.parse(left);
  } catch (const CLI::CallForHelp&) {
    help_ = true;
  } catch (const CLI::CallForVersion&) {
    version_ = true;
  } catch (const CLI::ParseError& error) {
    return status.is_ok() ? invalid_argument(error.what()) : status;
  }
  return help_ || version_ ? Status::ok() : check_first(program_, *command_, left);
}

Status CommandLine::choose(std::vector<std::string>& left) {
  std::vector<std::string_view> names;
  for (const Command& command : program_.commands) names.push_back(command.name);
  if (left.empty()) return invalid_argument("a command is missing: " + one_of(names));
  const auto found = std::ranges::find(names, left.back());
  if (found == names.end())
    return invalid_argument("there is no command \"" + shown(left.back()) + "\"; expected " + one_of(names) +
                            did_you_mean(left.back(), names));
  command_ = &program_.commands[static_cast<std::size_t>(found - names.begin())];
  left.pop_back();
  return Status::ok();
}

Status CommandLine::read(std::span<const std::string_view> words) {
  std::vector<std::string> left(words.rbegin(), words.rend());
  TF_RETURN_IF_ERROR(read_options(left));
  if (!program_.commands.empty() && !help_ && !version_) {
    TF_RETURN_IF_ERROR(choose(left));
    TF_RETURN_IF_ERROR(read_options(left));
  }
  if (help_ || version_) return Status::ok();
  if (command_->rest.empty() && !left.empty())
    return invalid_argument("unexpected argument \"" + shown(left.back()) + "\"");
  rest_.assign(left.rbegin(), left.rend());
  TF_RETURN_IF_ERROR(take_variables(*command_, given_));
  return check_needed(*command_, given_);
}

std::optional<int> CommandLine::parse(int argc, const char* const* argv) {
  const std::vector<std::string_view> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (const Status status = read(words); !status) {
    std::fprintf(stderr, "%s: %s\nTry '%s --help'.\n", title().c_str(), status.message().c_str(),
                 title().c_str());
    return kExitUsage;
  }
  if (help_) std::fwrite(command_->help.data(), 1, command_->help.size(), stdout);
  if (version_)
    std::printf("%s %s\n", std::string(program_.name).c_str(), std::string(program_.version).c_str());
  return help_ || version_ ? std::optional<int>(0) : std::nullopt;
}

std::string CommandLine::text(const Option& option, std::string_view otherwise) const {
  const auto found = given_.find(option.name);
  return found == given_.end() || found->second.empty() ? std::string(otherwise) : found->second.back();
}

long CommandLine::number(const Option& option, long otherwise) const {
  const Result<long> value = parse_number(option.name, text(option), option.least, option.most);
  return value ? value.value() : otherwise;
}

std::vector<std::string> CommandLine::list(const Option& option) const {
  const auto found = given_.find(option.name);
  return found == given_.end() ? std::vector<std::string>() : found->second;
}

std::string CommandLine::title() const {
  std::string text(program_.name);
  if (command_ != &program_.own) text += " " + std::string(command_->name);
  return text;
}

}  // namespace tf::reference
