// SPDX-License-Identifier: Apache-2.0
// Compiles source text to a code object. Each of our runtimes does this in its own way, behind the hiprtc
// interface that they share (hiprtc.cc, link.cc). Any thread.
#pragma once

#include "transport/base/status.h"

#include <hip/hiprtc.h>

#include <map>
#include <string>
#include <vector>

namespace tf::runtime::rtc {

struct Source {
  std::string text;
  std::string name;                            // shown in messages
  std::map<std::string, std::string> headers;  // by include name
  std::vector<std::string> name_expressions;
};

struct Compiled {
  bool ok = false;
  hiprtcResult result = HIPRTC_ERROR_COMPILATION;  // if not ok
  std::string log;
  std::string code;
  std::map<std::string, std::string> lowered_names;  // by expression
};

// A failed compilation is a value with ok == false and the compiler's messages in the log. A Status says that
// it could not even be tried.
Result<Compiled> compile(const Source& source, const std::vector<std::string>& options);

}  // namespace tf::runtime::rtc
