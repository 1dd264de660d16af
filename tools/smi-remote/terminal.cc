// SPDX-License-Identifier: Apache-2.0
// Modes, size, keys and signals of a terminal.
#include "tools/smi-remote/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <utility>

namespace tf::tools {
namespace {

constexpr std::string_view kEnter = "\033[?1049h\033[?25l\033[?7l";  // other screen, no cursor, no wrapping
constexpr std::string_view kLeave = "\033[?7h\033[?25h\033[?1049l";

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

sigset_t ending_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGWINCH}) ::sigaddset(&set, signal);
  return set;
}

bool says_utf8() {
  for (const char* const variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view text(value);
    return text.find("UTF-8") != std::string_view::npos || text.find("utf8") != std::string_view::npos;
  }
  return false;
}

}  // namespace

void hold_signals() {
  const sigset_t signals = ending_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

Terminal::Terminal(const termios& before, net::OwnedFd signals, bool has_blocks)
    : before_(before), signals_(std::move(signals)), has_blocks_(has_blocks) {
  write_all(kEnter);
}

Terminal::Terminal(Terminal&& other) noexcept
    : before_(other.before_),
      signals_(std::move(other.signals_)),
      has_blocks_(other.has_blocks_),
      is_open_(std::exchange(other.is_open_, false)) {}

Terminal::~Terminal() {
  if (!is_open_) return;
  write_all(kLeave);
  ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
}

Result<Terminal> Terminal::open() {
  termios before{};
  if (::isatty(STDOUT_FILENO) == 0 || ::tcgetattr(STDIN_FILENO, &before) != 0)
    return Status(Code::kInvalidArgument, "a terminal is needed; smi-remote watch prints to a file or pipe");
  hold_signals();
  const sigset_t signals = ending_signals();
  net::OwnedFd descriptor(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor) return Status::from_errno("signalfd", errno);
  termios raw = before;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  if (::tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) != 0) return Status::from_errno("tcsetattr", errno);
  return Terminal(before, std::move(descriptor), says_utf8());
}

ScreenSize Terminal::size() const {
  winsize found{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) != 0 || found.ws_col == 0 || found.ws_row == 0) return {};
  return {found.ws_col, found.ws_row};
}

void Terminal::draw(const std::string& text) const {
  const ScreenSize size = this->size();
  std::istringstream lines(text);
  std::string frame = "\033[H";
  int row = 0;
  for (std::string line; row < size.rows && std::getline(lines, line); ++row)
    frame += (row == 0 ? "" : "\r\n") + cut_line(line, size.columns) + "\033[0m\033[K";
  write_all(frame + "\033[J");
}

int Terminal::wait_for_key(std::chrono::milliseconds patience) const {
  pollfd polled[] = {{STDIN_FILENO, POLLIN, 0}, {signals_.get(), POLLIN, 0}};
  if (::poll(polled, 2, static_cast<int>(patience.count())) <= 0) return kNothing;
  if (polled[1].revents != 0) {
    signalfd_siginfo info{};
    const bool got = ::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info);
    return got && info.ssi_signo != SIGWINCH ? kEnd : kNothing;
  }
  unsigned char key = 0;
  return ::read(STDIN_FILENO, &key, 1) == 1 ? key : kEnd;
}

std::string cut_line(const std::string& line, int columns) {
  std::string cut;
  int shown = 0;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == '\033') {  // up to its last letter
      const std::size_t end = line.find_first_of("mHJK", at);
      const std::size_t next = end == std::string::npos ? line.size() : end + 1;
      cut += line.substr(at, next - at);
      at = next;
      continue;
    }
    const bool continues = (static_cast<unsigned char>(line[at]) & 0xc0) == 0x80;
    if (!continues && ++shown > columns) {
      at = line.find('\033', at);
      if (at == std::string::npos) break;
      continue;
    }
    if (shown <= columns) cut += line[at];
    ++at;
  }
  return cut;
}

}  // namespace tf::tools
