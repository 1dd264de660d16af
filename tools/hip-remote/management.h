// SPDX-License-Identifier: Apache-2.0
// AMD's own management programs, which need more than a library path: rocm-smi. Also RCCL,
// which looks for devices in the same way.
#pragma once

#include <filesystem>

#include "tools/hip-remote/process.h"

namespace tf::tools {

// Whether the program at this path, or where its links lead, is one of them.
bool is_management_program(const std::filesystem::path& program);

// Sets what redirects its library to ours, and answers its question for the driver (smi/management). False,
// if this installation does not have that: the program would show this host.
bool prepare_management(const std::filesystem::path& libraries, EnvironmentChanges& environment);

// Makes RCCL ask our library about devices, if this installation has it: they are the worker's.
void ask_library_about_devices(const std::filesystem::path& libraries, EnvironmentChanges& environment);

}  // namespace tf::tools
