// SPDX-License-Identifier: Apache-2.0
// What users type, as constants. The generated headers (reference/gen/programs.h, variables.h) are made of
// these. reference.toml is the source, and explains each field.
#pragma once

#include <span>
#include <string_view>

namespace tf::reference {

struct Option {
  std::string_view name;   // "--worker"
  char letter;             // 'w'; '\0': none
  std::string_view value;  // its name in the help; empty: a flag
  bool optional;           // the value may be left out, and if given stands behind "="
  bool list;
  std::span<const std::string_view> words;  // empty: anything
  bool other;                               // or the path of a library
  bool is_number;                           // least..most
  long least;
  long most;
  std::string_view variable;  // used if the option is not given
  std::span<const std::string_view> with;
  std::span<const std::string_view> without;
};

struct Command {
  std::string_view name;
  std::string_view rest;  // what the words after the options are; empty: none allowed
  std::span<const Option> options;
  std::string_view help;
};

struct Program {
  std::string_view name;
  std::string_view version;
  Command own;  // its options, if it has no commands
  std::span<const Command> commands;
};

struct Variable {
  std::string_view name;
  std::string_view default_value;  // empty: unset
  std::string_view where;          // "client, worker"
  std::string_view help;
};

}  // namespace tf::reference
