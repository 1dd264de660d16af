// SPDX-License-Identifier: Apache-2.0
// hip-remote top: smi-remote's screen.
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "tools/hip-remote/commands.h"

namespace tf::tools {

int top(const Layout& layout, const TopOptions& options) {
  const std::string program = layout.program("smi-remote").string();
  // By its name it says whose messages are its own.
  std::vector<std::string> words{"hip-remote", "top", "--interval", std::to_string(options.interval_s)};
  if (!options.worker.empty()) words.insert(words.end(), {"--host", options.worker});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  const std::string where = errno == ENOENT ? " (Debian: package hip-remote-smi)" : "";
  fmt::print(stderr, "hip-remote top: {}: {}{}\n", program, std::strerror(errno), where);
  return 1;
}

}  // namespace tf::tools
