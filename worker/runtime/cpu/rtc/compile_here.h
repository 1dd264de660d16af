// SPDX-License-Identifier: Apache-2.0
// Compiling for this host's cores, with hipcc-cpu. Any thread.
#pragma once

#include "worker/runtime/common/rtc/compile.h"

namespace tf::cpu::rtc {

// Like runtime::rtc::compile() and link().
Result<runtime::rtc::Compiled> compile_here(const runtime::rtc::Source& source,
                                            const std::vector<std::string>& options);
Result<runtime::rtc::Compiled> link_here(const std::vector<runtime::rtc::Module>& modules);

}  // namespace tf::cpu::rtc
