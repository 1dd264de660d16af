// SPDX-License-Identifier: Apache-2.0
// Usage errors end the benchmarks with 2, like every program of the project.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

namespace tf::bench {

// The exit code if there is nothing left to do: 0 after --help, 2 after an error, which CLI11 has reported.
inline std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return std::nullopt;
}

}  // namespace tf::bench
