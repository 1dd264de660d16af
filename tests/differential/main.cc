// SPDX-License-Identifier: Apache-2.0
// Calls each function of one major in every way of the table, and prints a line for each call:
//   FUNCTION PARAMETER=VALUE -> result, last error, what waits say, what was written
// Calls run in child processes: one that crashes or hangs is a line, and the next one goes on behind it.
// With threads, one child makes the calls whose names stand on standard input, several at a time. With
// "lost", calls are made after the connection to the worker is lost.
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <sstream>
#include <thread>

#include "hipcore/errors/error_text.h"
#include "tests/differential/case.h"

namespace tf::differential {
namespace {

struct Call {
  const Function* function;
  int varied;         // index of the argument, or -1
  std::string value;  // which it gets
  std::string name() const {
    if (varied < 0) return std::string(function->name) + " valid";
    return std::string(function->name) + " " + function->arguments[static_cast<std::size_t>(varied)].name +
           "=" + value;
  }
};

std::vector<std::string> words_of(const char* text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// `left_out`: what is not called, because a fixture is missing.
std::vector<Call> calls_of(int major, std::vector<std::string>& left_out) {
  std::vector<Call> calls;
  for (const Function& function : functions()) {
    if (std::strchr(function.majors, '0' + major) == nullptr) continue;
    const Argument* missing = nullptr;
    for (const Argument& argument : function.arguments)
      if (!is_known(argument.value)) missing = &argument;
    if (missing != nullptr) {
      left_out.push_back(std::string(function.name) + ": no fixture " + missing->value);
      continue;
    }
    calls.push_back({&function, -1, ""});
    for (std::size_t i = 0; i < function.arguments.size(); ++i)
      for (const std::string& value : words_of(function.arguments[i].cases))
        if (is_known(value))
          calls.push_back({&function, static_cast<int>(i), value});
        else
          left_out.push_back(std::string(function.name) + ": no fixture " + value);
  }
  return calls;
}

std::string name_of(hipError_t error) { return hipdata::error_text(error).name; }

std::string written(const Argument& argument, const Value& value) {
  const std::string_view how = argument.shown;
  if (how.empty() || value.number < 4096) return "";
  const auto* const bytes = reinterpret_cast<const unsigned char*>(value.number);
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, how == "4" ? 4 : 8);
  const std::uint64_t untouched = how == "4" ? 0xeeeeeeeeU : 0xeeeeeeeeeeeeeeeeU;
  std::string text = std::string(" ") + argument.name + "=";
  if (word == untouched) return text + "untouched";
  if (how == "4" || how == "8") return text + std::to_string(word);
  if (how == "handle") return text + (word == 0 ? "null" : "set");
  return text + "written";
}

std::string run(const Api& api, const Call& call) {
  Case made(api);
  const auto arguments = call.function->arguments;
  std::vector<Value> values(arguments.size() + 1);
  // From right to left, so that nodes are there when their graph is made executable; the varied one last, so
  // that nothing is created where something was destroyed.
  for (std::size_t i = arguments.size(); i-- > 0;)
    if (static_cast<int>(i) != call.varied) values[i] = made.at(arguments[i].value);
  if (call.varied >= 0) values[static_cast<std::size_t>(call.varied)] = made.at(call.value);
  api.quietly("hipGetLastError");
  std::string line = call.function->invoke(api.find(call.function->symbol), values.data());
  if (call.function->varies) line = "called";
  line += " last=" + name_of(api("hipGetLastError"));
  line += " then=" + name_of(api("hipDeviceSynchronize"));
  for (std::size_t i = 0; i < arguments.size(); ++i) line += written(arguments[i], values[i]);
  api.quietly("hipGetLastError");
  return line + (made.troubles.empty() ? "" : " fixtures:" + made.troubles);
}

void say(int pipe, const std::string& line) {
  const std::string whole = line + "\n";
  if (::write(pipe, whole.data(), whole.size()) < 0) ::_exit(3);
}

// Ends all connections of this process. False: the library has not noticed.
bool lose_worker(const Api& api) {
  constexpr int kDescriptors = 256;
  constexpr int kLooks = 20'000;
  void* memory = nullptr;
  api.quietly("hipMalloc", &memory, std::size_t{64});  // connects
  for (int descriptor = 0; descriptor < kDescriptors; ++descriptor)
    static_cast<void>(::shutdown(descriptor, SHUT_RDWR));  // of what is no socket it fails
  for (int look = 0; look < kLooks; ++look) {
    if (api("hipMalloc", &memory, std::size_t{1} << 20) == hipErrorDeinitialized) return true;
    ::usleep(1000);
  }
  return false;
}

// Each call, with what fixtures get from a library that has no worker any more. The end is a usual one.
[[noreturn]] void child_without_worker(int major, const std::vector<Call>& calls, std::size_t first,
                                       int pipe) {
  const Api api(major);
  if (!lose_worker(api)) std::exit(4);
  for (std::size_t i = first; i < calls.size(); ++i) say(pipe, calls[i].name() + " -> " + run(api, calls[i]));
  std::exit(0);
}

[[noreturn]] void child(int major, const std::vector<Call>& calls, std::size_t first, int pipe) {
  const Api api(major);
  for (std::size_t i = first; i < calls.size(); ++i) {
    if (i > first && (calls[i].function != calls[i - 1].function) &&
        (calls[i].function->is_alone || calls[i - 1].function->is_alone))
      ::_exit(0);
    say(pipe, calls[i].name() + " -> " + run(api, calls[i]));
    if (api("hipDeviceSynchronize") != hipSuccess)
      break;  // the device is lost: the next call has another one
  }
  ::_exit(0);
}

// Reads lines until the child ends; returns how many there were.
std::size_t take_lines(int pipe, int deadline_ms, bool& hung) {
  std::string buffer;
  std::size_t lines = 0;
  pollfd waiting{pipe, POLLIN, 0};
  for (char piece[4096];;) {
    if (::poll(&waiting, 1, deadline_ms) == 0) {
      hung = true;
      return lines;
    }
    const ssize_t got = ::read(pipe, piece, sizeof piece);
    if (got <= 0) return lines;
    buffer.append(piece, static_cast<std::size_t>(got));
    for (std::size_t end; (end = buffer.find('\n')) != std::string::npos; buffer.erase(0, end + 1), ++lines)
      std::printf("%s\n", buffer.substr(0, end).c_str());
  }
}

// Calls of functions that other calls of the process do not notice, if they stand in the input.
std::vector<Call> asked_calls(std::vector<Call> calls) {
  std::set<std::string> asked;
  for (char line[512]; std::fgets(line, sizeof line, stdin) != nullptr;)
    asked.insert(std::string(line, std::strcspn(line, "\n")));
  std::erase_if(calls,
                [&](const Call& call) { return call.function->is_alone || !asked.contains(call.name()); });
  return calls;
}

[[noreturn]] void child_with_threads(int major, const std::vector<Call>& calls, int count, int pipe) {
  const Api api(major);
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&] {
      for (std::size_t mine; (mine = next.fetch_add(1)) < calls.size();)
        say(pipe, calls[mine].name() + " -> " + run(api, calls[mine]));
    });
  for (std::thread& thread : threads) thread.join();
  ::_exit(0);
}

// What became of a child: how many lines it has written, and why it ended, or null if it ended by itself.
struct Outcome {
  std::size_t lines = 0;
  const char* failure = nullptr;
};

// Runs `body(pipe)` in a child process and prints what that writes to the pipe, line by line.
template <typename Body>
Outcome in_child(int deadline_ms, Body body) {
  int ends[2];
  if (::pipe(ends) != 0) std::exit(2);
  std::fflush(stdout);
  const pid_t pid = ::fork();
  if (pid == 0) body(ends[1]);
  ::close(ends[1]);
  bool hung = false;
  const std::size_t lines = take_lines(ends[0], deadline_ms, hung);
  ::close(ends[0]);
  if (hung) ::kill(pid, SIGKILL);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (hung) return {lines, "hangs"};
  if (WIFSIGNALED(status)) return {lines, ::strsignal(WTERMSIG(status))};
  return {lines, WEXITSTATUS(status) == 0 ? nullptr : "exits"};
}

// REQUIRES: the device survives the calls
void run_with_threads(int major, int deadline_ms, int count) {
  std::vector<std::string> left_out;
  const std::vector<Call> calls = asked_calls(calls_of(major, left_out));
  const Outcome outcome =
      in_child(deadline_ms, [&](int pipe) { child_with_threads(major, calls, count, pipe); });
  if (outcome.failure != nullptr) std::printf("threads -> %s\n", outcome.failure);
}

using Child = void (*)(int major, const std::vector<Call>& calls, std::size_t first, int pipe);

void run_all(int major, int deadline_ms, Child body) {
  std::vector<std::string> left_out;
  const std::vector<Call> calls = calls_of(major, left_out);
  for (const std::string& line : left_out) std::printf("left out: %s\n", line.c_str());
  for (std::size_t next = 0; next < calls.size();) {
    const Outcome outcome = in_child(deadline_ms, [&](int pipe) { body(major, calls, next, pipe); });
    next += outcome.lines;
    if (outcome.failure == nullptr) continue;
    if (next >= calls.size()) break;
    std::printf("%s -> %s\n", calls[next].name().c_str(), outcome.failure);
    ++next;
  }
}

}  // namespace
}  // namespace tf::differential

int main(int argc, char** argv) {
  using namespace tf::differential;
  if (argc != 3 && argc != 4) return 2;  // MAJOR, milliseconds that a call may take, threads or "lost"
  const int major = std::atoi(argv[1]);
  const int deadline_ms = std::atoi(argv[2]);
  if (argc == 3)
    run_all(major, deadline_ms, child);
  else if (std::strcmp(argv[3], "lost") == 0)
    run_all(major, deadline_ms, child_without_worker);
  else
    run_with_threads(major, deadline_ms, std::atoi(argv[3]));
  return 0;
}
