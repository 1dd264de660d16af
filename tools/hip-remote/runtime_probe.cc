// SPDX-License-Identifier: Apache-2.0
// Loads a HIP runtime in a child process, and reads its devices.
#include "tools/hip-remote/runtime_probe.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <hip/hip_runtime_api.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "hipcore/wire/hello.h"
#include "hipcore/wire/worker_facts.h"
#include "transport/net/fd.h"

namespace tf::tools {
namespace {

constexpr std::size_t kSaidBytesMax = 16 << 10;

using CountFunction = hipError_t (*)(int*);
using PropertiesFunction = hipError_t (*)(hipDeviceProp_t*, int);
using WordsFunction = decltype(&::hip_remote_worker_walls);
using ErrorFunction = const char* (*)(hipError_t);

void write_text(int fd, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    ssize_t written = ::write(fd, text.data() + done, text.size() - done);
    if (written <= 0 && errno != EINTR) return;
    if (written > 0) done += static_cast<std::size_t>(written);
  }
}

// What our library says of its worker; empty: it is not ours, or has nothing to say.
std::string words_of(void* library, const char* function) {
  auto tell = reinterpret_cast<WordsFunction>(::dlsym(library, function));
  std::array<char, kSaidBytesMax> words{};
  if (tell == nullptr || tell(words.data(), words.size()) == 0) return {};
  for (char& letter : words)
    if (letter != '\0' && (letter < ' ' || letter > '~')) letter = '?';  // the worker's words
  return words.data();
}

// Runs in the child. One line a field: "error TEXT", "walls TEXT", "share TEXT" or "device
// NAME\tARCH\tBYTES\tUNITS".
std::string describe(const std::string& library) {
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return std::string("error ") + ::dlerror() + "\n";
  auto count_of = reinterpret_cast<CountFunction>(::dlsym(handle, "hipGetDeviceCount"));
  auto properties_of = reinterpret_cast<PropertiesFunction>(::dlsym(handle, "hipGetDeviceProperties"));
  auto text_of = reinterpret_cast<ErrorFunction>(::dlsym(handle, "hipGetErrorString"));
  if (count_of == nullptr || properties_of == nullptr || text_of == nullptr)
    return "error not a HIP runtime library: hipGetDeviceCount or hipGetDeviceProperties is missing\n";
  int count = 0;
  if (hipError_t error = count_of(&count); error != hipSuccess)
    return std::string("error hipGetDeviceCount: ") + text_of(error) + "\n";
  std::ostringstream text;
  for (int device = 0; device < count; ++device) {
    hipDeviceProp_t properties{};
    if (properties_of(&properties, device) != hipSuccess) continue;
    text << "device " << properties.name << '\t' << properties.gcnArchName << '\t'
         << properties.totalGlobalMem << '\t' << properties.multiProcessorCount << '\n';
  }
  text << "walls " << words_of(handle, "hip_remote_worker_walls") << '\n';
  text << "share " << words_of(handle, "hip_remote_worker_limits") << '\n';
  return text.str();
}

void parse_line(const std::string& line, ProbedRuntime& runtime) {
  if (line.starts_with("error ")) runtime.unusable = line.substr(6);
  if (line.starts_with("walls ")) {
    runtime.walls = line.substr(6);
    const std::size_t end = runtime.walls.find(protocol::kLimitsAfterWalls);
    if (end != std::string::npos) {
      runtime.limits = runtime.walls.substr(end + std::strlen(protocol::kLimitsAfterWalls));
      runtime.walls.resize(end);
    }
  }
  if (line.starts_with("share ")) runtime.share = line.substr(6);
  if (!line.starts_with("device ")) return;
  std::istringstream fields(line.substr(7));
  ProbedDevice device;
  std::string number;
  std::getline(fields, device.name, '\t');
  std::getline(fields, device.architecture, '\t');
  if (std::getline(fields, number, '\t')) device.memory_bytes = std::strtoull(number.c_str(), nullptr, 10);
  if (std::getline(fields, number, '\t')) device.compute_units = std::atoi(number.c_str());
  runtime.devices.push_back(device);
}

std::string read_answer(int fd, pid_t child, int timeout_ms) {
  std::string text;
  char buffer[4096];
  for (;;) {
    pollfd waiter{fd, POLLIN, 0};
    int ready = ::poll(&waiter, 1, timeout_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      ::kill(child, SIGKILL);
      return "error no answer within " + std::to_string(timeout_ms / 1000) + " s\n";
    }
    ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

// What our library says on standard error, after "hip-remote: ": why there is no session, which no error code
// of HIP can tell. Bounded.
std::string own_words(int fd) {
  constexpr std::string_view kPrefix = "hip-remote: ";
  std::string text(kSaidBytesMax, '\0');
  const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  const std::size_t start = text.find(kPrefix);
  if (start == std::string::npos) return {};
  text.erase(0, start + kPrefix.size());
  if (const std::size_t next = text.find("\n" + std::string(kPrefix)); next != std::string::npos)
    text.resize(next);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace

ProbedRuntime probe_runtime(const std::string& name, const std::string& library,
                            const EnvironmentChanges& environment, std::chrono::seconds timeout) {
  ProbedRuntime runtime{name, library, {}, {}, {}};
  net::OwnedFd said(::memfd_create("standard error", MFD_CLOEXEC));
  int pipe_fds[2];
  if (::pipe2(pipe_fds, O_CLOEXEC) != 0) {
    runtime.unusable = Status::from_errno("pipe", errno).to_string();
    return runtime;
  }
  net::OwnedFd read_end(pipe_fds[0]);
  net::OwnedFd write_end(pipe_fds[1]);
  pid_t child = ::fork();  // this program has no threads here
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (said) ::dup2(said.get(), STDERR_FILENO);
    for (const auto& [variable, value] : environment) {
      value ? ::setenv(variable.c_str(), value->c_str(), 1) : ::unsetenv(variable.c_str());
    }
    write_text(write_end.get(), describe(library));
    ::_exit(0);
  }
  write_end.reset();
  std::istringstream lines(read_answer(read_end.get(), child, static_cast<int>(timeout.count()) * 1000));
  for (std::string line; std::getline(lines, line);) parse_line(line, runtime);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (std::string words = said ? own_words(said.get()) : ""; !runtime.unusable.empty() && !words.empty())
    runtime.unusable = std::move(words);
  if (runtime.unusable.empty() && WIFSIGNALED(status))
    runtime.unusable = "the library crashed (signal " + std::to_string(WTERMSIG(status)) + ")";
  if (runtime.unusable.empty() && runtime.devices.empty()) runtime.unusable = "no device";
  return runtime;
}

}  // namespace tf::tools
