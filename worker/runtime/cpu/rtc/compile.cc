// SPDX-License-Identifier: Apache-2.0
// The CPU runtime's hiprtc: its devices are this host's cores.
#include "worker/runtime/cpu/rtc/compile_here.h"

namespace tf::runtime::rtc {

Result<Compiled> compile(const Source& source, const std::vector<std::string>& options) {
  return cpu::rtc::compile_here(source, options);
}

Result<Compiled> link(const std::vector<Module>& modules) { return cpu::rtc::link_here(modules); }

}  // namespace tf::runtime::rtc
