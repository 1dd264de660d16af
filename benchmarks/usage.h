// SPDX-License-Identifier: Apache-2.0
// Usage errors of the benchmarks end with 2, as those of every program of the project.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

namespace tf::bench {

// The exit code where nothing is left to do: 0 after --help, 2 after an error, which CLI11 has told.
inline std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return std::nullopt;
}

}  // namespace tf::bench
