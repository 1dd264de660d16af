// SPDX-License-Identifier: Apache-2.0
// A real hip-worker as a child process, on a loopback port of the kernel's choice and an abstract Unix
// socket.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "transport/net/address.h"
#include "transport/net/fd.h"
#include "transport/net/socket.h"

extern char** environ;

namespace tf::worker {

class WorkerProcess {
 public:
  explicit WorkerProcess(std::vector<std::string> extra = {}, const std::string& runtime = TF_FAKE_RUNTIME) {
    int ready[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    const net::OwnedFd reader(ready[0]);
    net::OwnedFd writer(ready[1]);
    static std::atomic<int> serial{0};  // no partner: only distinct names are wanted
    socket_ = "@hip-worker-test-" + std::to_string(::getpid()) + "-" +
              std::to_string(serial.fetch_add(1, std::memory_order_relaxed));
    std::vector<std::string> arguments = {"hip-worker", "--port", "0",          "--socket", socket_,
                                          "--runtime",  runtime,  "--ready-fd", "9"};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, writer.get(), 9);
    EXPECT_EQ(::posix_spawn(&pid_, TF_HIP_WORKER, &actions, nullptr, argv.data(), environ), 0);
    ::posix_spawn_file_actions_destroy(&actions);
    writer.reset();
    std::string line;
    char letter = 0;
    while (::read(reader.get(), &letter, 1) == 1 && letter != '\n') line += letter;
    ready_ = std::sscanf(line.c_str(), "ready %d", &port_) == 1;
  }
  ~WorkerProcess() {
    if (pid_ > 0) static_cast<void>(stop(SIGKILL));
  }

  bool ready() const { return ready_; }
  pid_t pid() const { return pid_; }
  net::Address tcp() const { return net::Address::tcp("127.0.0.1", static_cast<std::uint16_t>(port_)); }
  net::Address unix_socket() const { return net::Address::unix_socket(socket_); }

  // waitpid status, or -1 when it did not end within ten seconds.
  int wait() {
    for (int round = 0; round < 1000; ++round) {
      int status = 0;
      if (::waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = -1;
        return status;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return -1;
  }
  int stop(int signal_number) {
    ::kill(pid_, signal_number);
    return wait();
  }
  // Processes of the worker's sessions, spares included.
  std::vector<pid_t> children() const {
    std::vector<pid_t> found;
    const std::string pid = std::to_string(pid_);
    const std::string path = "/proc/" + pid + "/task/" + pid + "/children";
    std::FILE* file = std::fopen(path.c_str(), "r");
    if (file == nullptr) return found;
    int child = 0;
    while (std::fscanf(file, "%d", &child) == 1) found.push_back(child);
    std::fclose(file);
    return found;
  }

 private:
  pid_t pid_ = -1;
  int port_ = 0;
  bool ready_ = false;
  std::string socket_;
};

}  // namespace tf::worker
