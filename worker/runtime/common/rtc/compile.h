// SPDX-License-Identifier: Apache-2.0
// Source text to a code object: what each of our runtimes does in its own way behind the hiprtc interface,
// which they share (hiprtc.cc, link.cc). Any thread.
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
  std::map<std::string, std::string> headers;  // by the name they are included with
  std::vector<std::string> name_expressions;
};

struct Compiled {
  bool ok = false;
  hiprtcResult result = HIPRTC_ERROR_COMPILATION;  // where it is not ok
  std::string log;
  std::string code;
  std::map<std::string, std::string> lowered_names;  // by expression
};

// A failing compilation is a value with ok == false and the compiler's words in the log; a Status says that
// it could not even be tried.
Result<Compiled> compile(const Source& source, const std::vector<std::string>& options);

}  // namespace tf::runtime::rtc
