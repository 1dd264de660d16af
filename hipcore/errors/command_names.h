// SPDX-License-Identifier: Apache-2.0
// What AMD's runtime calls the commands of its queues (hipGetCmdName). The numbers are OpenCL's
// (cl_command_type).
#pragma once

namespace tf::hipdata {

// "Unknown command kind" for a number that is none. Constant text.
const char* command_name(unsigned number);

}  // namespace tf::hipdata
