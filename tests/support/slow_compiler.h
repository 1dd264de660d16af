// SPDX-License-Identifier: Apache-2.0
// A compiler for hiprtc that never comes to an end, and a folder of its own for temporary files: for tests
// that end processes in the midst of a compilation. While it lives, TF_HIPCC_CPU and TMPDIR say so to
// children.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace tf::test {

class SlowCompiler {
 public:
  SlowCompiler() {
    std::string pattern = (std::filesystem::temp_directory_path() / "slow-compiler-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    home_ = pattern;
    std::filesystem::create_directory(temporary());
    std::ofstream(home_ / "compiler")
        << "#!/bin/sh\nsleep 1000 &\n: > \"$TMPDIR/object\"\n"
        << "echo $$ $! > \"$TMPDIR/new\"\nmv \"$TMPDIR/new\" \"$TMPDIR/pids\"\nwait\n";
    EXPECT_EQ(::chmod((home_ / "compiler").c_str(), 0700), 0);
    ::setenv("TF_HIPCC_CPU", (home_ / "compiler").c_str(), 1);
    ::setenv("TMPDIR", temporary().c_str(), 1);
  }
  ~SlowCompiler() {
    ::unsetenv("TF_HIPCC_CPU");
    ::unsetenv("TMPDIR");
    for (const pid_t pid : running())
      if (is_running(pid)) ::kill(pid, SIGKILL);
    std::filesystem::remove_all(home_);
  }
  SlowCompiler(const SlowCompiler&) = delete;
  SlowCompiler& operator=(const SlowCompiler&) = delete;

  // Files are also looked for where this process sees them: it may have mounts of its own.
  void look_through(pid_t process) { view_ = "/proc/" + std::to_string(process) + "/root"; }

  // It and the process that it started, once there are both; empty when that takes too long.
  std::vector<pid_t> wait_for_start() const {
    for (int round = 0; round < 2000 && running().empty(); ++round) pause();
    return running();
  }
  // Within a few seconds, nothing of it runs, and no file is left; a worker's empty folders may be.
  bool is_cleaned_up(const std::vector<pid_t>& pids) const {
    const auto clean = [&] {
      for (const pid_t pid : pids)
        if (is_running(pid)) return false;
      return !has_files();
    };
    for (int round = 0; round < 1000 && !clean(); ++round) pause();
    return clean();
  }

 private:
  static void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }
  std::filesystem::path temporary() const { return home_ / "tmp"; }
  // What lies anywhere in the folder for temporary files, which others may remove meanwhile.
  template <typename Take>
  void each_file(Take take) const {
    each_file_in(temporary(), take);
    if (!view_.empty()) each_file_in(view_ + temporary().string(), take);
  }
  template <typename Take>
  static void each_file_in(const std::filesystem::path& folder, Take& take) {
    std::error_code error;
    std::filesystem::recursive_directory_iterator entry(folder, error), end;
    for (; !error && entry != end; entry.increment(error)) {
      std::error_code gone;
      if (!entry->is_directory(gone)) take(entry->path());
    }
  }
  bool has_files() const {
    bool found = false;
    each_file([&](const std::filesystem::path&) { found = true; });
    return found;
  }
  // As it has said itself, in the one place that it may write to.
  const std::vector<pid_t>& running() const {
    if (!pids_.empty()) return pids_;
    each_file([&](const std::filesystem::path& path) {
      if (path.filename() != "pids") return;
      std::ifstream file(path);
      for (pid_t pid = 0; file >> pid;) pids_.push_back(pid);
    });
    return pids_;
  }
  // Not one that has ended and nobody asks for.
  static bool is_running(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(')');
    return name_end != std::string::npos && text.substr(name_end + 2, 1) != "Z";
  }

  std::filesystem::path home_;
  std::string view_;
  mutable std::vector<pid_t> pids_;
};

}  // namespace tf::test
