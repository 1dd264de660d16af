// SPDX-License-Identifier: Apache-2.0
// Parses command lines and their variables, and suggests near misses.
#include "tools/command_line/command_line.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace tf::reference {
namespace {

constexpr std::size_t kShownBytesMax = 100;  // of what was wrong
constexpr std::size_t kLikeMax = 3;          // letters that may differ in what was meant

Status wrong(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

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
  return wrong(shown(what) + " " + shown(value) + ": expected " + one_of(option.words) +
               (option.other ? ", or the path of a library" : "") + did_you_mean(value, option.words));
}

std::vector<std::string_view> names_of(std::span<const Option> options) {
  std::vector<std::string_view> names{"--help"};
  for (const Option& option : options) names.push_back(option.name);
  return names;
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
  return wrong(std::string(what) + " " + shown(text) + ": expected a number from " + std::to_string(least) +
               " to " + std::to_string(most));
}

// Takes the words of one command line in turn.
class CommandLine::Reader {
 public:
  Reader(CommandLine& line, std::span<const std::string_view> words) : line_(line), words_(words) {}

  Status read() {
    const Program& program = line_.program_;
    while (at_ < words_.size() && !line_.help_ && !line_.version_) {
      const std::string_view word = words_[at_++];
      const bool choosing = line_.command_ == &program.own && !program.commands.empty();
      if (word == "--help" || word == "-h") {
        line_.help_ = true;
      } else if (word == "--version" && line_.command_ == &program.own) {
        line_.version_ = true;
      } else if (word == "--" && !choosing) {
        return take_rest();
      } else if (word.starts_with("--") && word.size() > 2) {
        TF_RETURN_IF_ERROR(take_long(word));
      } else if (word.starts_with('-') && word.size() > 1) {
        TF_RETURN_IF_ERROR(take_letters(word.substr(1)));
      } else if (choosing) {
        TF_RETURN_IF_ERROR(choose(word));
      } else {
        --at_;
        return take_rest();
      }
    }
    return Status::ok();
  }

 private:
  Status choose(std::string_view word) {
    std::vector<std::string_view> names;
    for (const Command& command : line_.program_.commands) {
      if (command.name == word) {
        line_.command_ = &command;
        return Status::ok();
      }
      names.push_back(command.name);
    }
    return wrong("there is no command \"" + shown(word) + "\"; expected " + one_of(names) +
                 did_you_mean(word, names));
  }

  Status take_rest() {
    if (line_.command_->rest.empty()) {
      if (at_ == words_.size()) return Status::ok();
      return wrong("unexpected argument \"" + shown(words_[at_]) + "\"");
    }
    line_.rest_.assign(words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end());
    return Status::ok();
  }

  Status take_long(std::string_view word) {
    const std::size_t equal = word.find('=');
    const std::string_view name = word.substr(0, equal);
    const auto& options = line_.command_->options;
    const auto found =
        std::ranges::find_if(options, [&](const Option& option) { return option.name == name; });
    if (found == options.end())
      return wrong("unknown option " + shown(name) + did_you_mean(name, names_of(options)));
    if (equal != std::string_view::npos) {
      if (found->value.empty()) return wrong(std::string(name) + " takes no value");
      return take(*found, word.substr(equal + 1));
    }
    return found->value.empty() || found->optional ? take(*found, {}) : take_next(*found);
  }

  // Of several letters together each is a flag, but for the last, which may have its value behind it.
  Status take_letters(std::string_view letters) {
    const auto& options = line_.command_->options;
    while (!letters.empty()) {
      const char letter = letters.front();
      letters.remove_prefix(1);
      const auto found =
          std::ranges::find_if(options, [&](const Option& option) { return option.letter == letter; });
      if (letter == 'h') {
        line_.help_ = true;
        return Status::ok();
      }
      if (letter == '\0' || found == options.end())
        return wrong("unknown option -" + std::string(1, letter == '\0' ? '?' : letter));
      if (found->value.empty()) {
        TF_RETURN_IF_ERROR(take(*found, {}));
        continue;
      }
      if (letters.empty()) return take_next(*found);
      return take(*found, letters.starts_with('=') ? letters.substr(1) : letters);
    }
    return Status::ok();
  }

  Status take_next(const Option& option) {
    if (at_ == words_.size() || words_[at_].starts_with("--"))
      return wrong(std::string(option.name) + " wants a value: " + std::string(option.value));
    return take(option, words_[at_++]);
  }

  Status take(const Option& option, std::string_view value) {
    std::vector<std::string>& values = line_.given_[option.name];
    if (!option.list) values.clear();
    if (option.value.empty() || (option.optional && value.empty())) {
      values.emplace_back();
      return Status::ok();
    }
    for (;;) {
      const std::size_t comma = option.list ? value.find(',') : std::string_view::npos;
      const std::string_view one = value.substr(0, comma);
      if (one.empty())
        return wrong(std::string(option.name) + " wants a value: " + std::string(option.value));
      TF_RETURN_IF_ERROR(check_value(option, option.name, one));
      values.emplace_back(one);
      if (comma == std::string_view::npos) return Status::ok();
      value.remove_prefix(comma + 1);
    }
  }

  CommandLine& line_;
  std::span<const std::string_view> words_;
  std::size_t at_ = 0;
};

namespace {

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

Status check_excluded(const Command& command, const auto& given) {
  for (const Option& option : command.options) {
    if (!given.contains(option.name)) continue;
    for (const std::string_view other : option.without) {
      if (given.contains(other))
        return wrong(std::string(option.name) + " and " + std::string(other) + " exclude each other");
    }
  }
  return Status::ok();
}

Status check_needed(const Command& command, const auto& given) {
  for (const Option& option : command.options) {
    const auto is_given = [&](std::string_view other) { return given.contains(other); };
    if (!is_given(option.name) || option.with.empty() || std::ranges::any_of(option.with, is_given)) continue;
    return wrong(std::string(option.name) + " goes with " + one_of(option.with) + " only");
  }
  return Status::ok();
}

}  // namespace

Status CommandLine::read(std::span<const std::string_view> words) {
  TF_RETURN_IF_ERROR(Reader(*this, words).read());
  if (help_ || version_) return Status::ok();
  if (command_ == &program_.own && !program_.commands.empty()) {
    std::vector<std::string_view> names;
    for (const Command& command : program_.commands) names.push_back(command.name);
    return wrong("a command is missing: " + one_of(names));
  }
  TF_RETURN_IF_ERROR(check_excluded(*command_, given_));
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
