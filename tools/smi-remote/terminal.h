// SPDX-License-Identifier: Apache-2.0
// Terminal: the whole screen of a terminal, until the object ends; keys come one by one. Sequences are those
// of ECMA-48 and xterm's alternate screen, which every terminal of today has.
#pragma once

#include <signal.h>
#include <termios.h>

#include <chrono>
#include <string>

#include "transport/base/status.h"
#include "transport/net/fd.h"

namespace tf::tools {

struct ScreenSize {
  int columns = 80;
  int rows = 24;
};

// Call it before the process has other threads: signals that end it go to the Terminal that is opened later.
void hold_signals();

class Terminal {
 public:
  // Standard input and output must be one. Ctrl-C, SIGTERM and SIGHUP end wait_for_key() instead of the
  // process, and then the terminal is as it was.
  static Result<Terminal> open();
  Terminal(Terminal&& other) noexcept;
  Terminal& operator=(Terminal&&) = delete;
  Terminal(const Terminal&) = delete;
  ~Terminal();

  ScreenSize size() const;
  // Whether it shows more than ASCII, as far as the variables of the locale say.
  bool has_blocks() const { return has_blocks_; }
  // Puts the lines of `text` on the screen, cut to its size.
  void draw(const std::string& text) const;
  static constexpr int kNothing = 0;  // the time has passed, or the size has changed
  static constexpr int kEnd = -1;     // a signal, or the end of the input
  int wait_for_key(std::chrono::milliseconds patience) const;

 private:
  Terminal(const termios& before, net::OwnedFd signals, bool has_blocks);

  termios before_{};
  net::OwnedFd signals_;
  bool has_blocks_ = false;
  bool is_open_ = true;
};

// The first `columns` characters of a line of UTF-8 text; escape sequences count as none, and all of them
// stay.
std::string cut_line(const std::string& line, int columns);

}  // namespace tf::tools
