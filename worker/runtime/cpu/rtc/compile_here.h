// SPDX-License-Identifier: Apache-2.0
// Compiling for this host's cores, with hipcc-cpu. Any thread.
#pragma once

#include "worker/runtime/common/rtc/compile.h"

namespace tf::cpu::rtc {

// Like runtime::rtc::compile().
Result<runtime::rtc::Compiled> compile_here(const runtime::rtc::Source& source,
                                            const std::vector<std::string>& options);

}  // namespace tf::cpu::rtc
