// SPDX-License-Identifier: Apache-2.0
// Compiles source text to a code object, or to modules that are linked to one. Each of our runtimes does this
// in its own way, behind the hiprtc interface that they share (hiprtc.cc, link.cc). Any thread.
#pragma once

#include "transport/base/status.h"

#include <hip/hiprtc.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tf::runtime::rtc {

struct Source {
  std::string text;
  std::string name;                            // shown in messages
  std::map<std::string, std::string> headers;  // by include name
  std::vector<std::string> name_expressions;
};

// The option that asks for a module, which may use functions and variables of others.
inline constexpr std::string_view kRelocatable = "-fgpu-rdc";
inline bool is_relocatable(const std::vector<std::string>& options) {
  return std::find(options.begin(), options.end(), kRelocatable) != options.end();
}

// One of several that become a code object, as compile() made it.
struct Module {
  std::string name;
  std::string code;
};

struct Compiled {
  bool ok = false;
  hiprtcResult result = HIPRTC_ERROR_COMPILATION;  // if not ok
  std::string log;
  std::string code;                                  // with kRelocatable: a module, to be linked
  std::map<std::string, std::string> lowered_names;  // by expression
};

// A failed compilation is a value with ok == false and the compiler's messages in the log. A Status says that
// it could not even be tried.
Result<Compiled> compile(const Source& source, const std::vector<std::string>& options);

// The same for linking. At least one module.
Result<Compiled> link(const std::vector<Module>& modules);

}  // namespace tf::runtime::rtc
