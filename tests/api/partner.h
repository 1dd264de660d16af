// SPDX-License-Identifier: Apache-2.0
// A second process for tests of what processes share: this program once more, with a role in its environment,
// which a disabled test plays.
#pragma once

#include <gtest/gtest.h>
#include <hip/hip_runtime_api.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstddef>
#include <string>
#include <vector>

extern char** environ;

namespace tf::api_test {

inline constexpr int kPartnerFd = 17;

template <typename Handle>
std::string hex(const Handle& handle) {
  std::string text;
  for (const char byte : handle.reserved) {
    text += "0123456789abcdef"[static_cast<unsigned char>(byte) >> 4];
    text += "0123456789abcdef"[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

template <typename Handle = hipIpcMemHandle_t>
Handle from_hex(const std::string& text) {
  Handle handle{};
  for (std::size_t at = 0; at < sizeof handle.reserved && 2 * at + 1 < text.size(); ++at)
    handle.reserved[at] = static_cast<char>(std::stoi(text.substr(2 * at, 2), nullptr, 16));
  return handle;
}

// Starts a partner in `role`, played by `test`; `fd` becomes its kPartnerFd.
inline pid_t start_partner(const std::string& role, const std::string& handle, int fd = -1,
                           const std::string& test = "IpcPartner.DISABLED_Run") {
  const std::string role_setting = "HIP_TEST_PARTNER=" + role;
  const std::string handle_setting = "HIP_TEST_HANDLE=" + handle;
  std::vector<char*> settings = {const_cast<char*>(role_setting.c_str()),
                                 const_cast<char*>(handle_setting.c_str())};
  for (char** entry = environ; *entry != nullptr; ++entry) settings.push_back(*entry);
  settings.push_back(nullptr);
  std::string arguments[] = {"hip_api_test", "--gtest_filter=" + test, "--gtest_also_run_disabled_tests",
                             "--gtest_brief=1"};
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (fd >= 0) ::posix_spawn_file_actions_adddup2(&actions, fd, kPartnerFd);
  pid_t pid = -1;
  EXPECT_EQ(::posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), settings.data()), 0);
  ::posix_spawn_file_actions_destroy(&actions);
  return pid;
}

inline int exit_code(pid_t pid) {
  int status = -1;
  if (pid > 0) ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Runs a partner to its end: its exit code.
inline int run_partner(const std::string& role, const std::string& handle, int fd = -1) {
  return exit_code(start_partner(role, handle, fd));
}

}  // namespace tf::api_test
