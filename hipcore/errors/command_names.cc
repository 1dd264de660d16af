// SPDX-License-Identifier: Apache-2.0
// The names, in the order of OpenCL's numbers from CL_COMMAND_NDRANGE_KERNEL on.
#include "hipcore/errors/command_names.h"

#include <array>

namespace tf::hipdata {
namespace {

constexpr unsigned kFirst = 0x11f0;
constexpr std::array kNames = {"KernelExecution",
                               "Task",
                               "NativeKernel",
                               "CopyDeviceToHost",
                               "CopyHostToDevice",
                               "CopyDeviceToDevice",
                               "ReadImage",
                               "WriteImage",
                               "CopyImage",
                               "CopyImageToBuffer",
                               "CopyBufferToImage",
                               "MapBuffer",
                               "MapImage",
                               "UnmapMemObject",
                               "Marker",
                               "AcquireGLObjects",
                               "ReleaseGLObjects",
                               "CopyDeviceToHost2D",
                               "CopyHostToDevice2D",
                               "CopyDeviceToDevice2D",
                               "User",
                               "Barrier",
                               "MigrateMemObjects",
                               "FillBuffer",
                               "FillImage",
                               "SvmFree",
                               "SvmMemcpy",
                               "SvmMemFill",
                               "SvmMap",
                               "SvmUnmap"};
// AMD's own.
constexpr unsigned kStreamWaitValue = 0x4501;
constexpr unsigned kStreamWriteValue = 0x4502;

}  // namespace

const char* command_name(unsigned number) {
  if (number == 0) return "InternalMarker";
  if (number >= kFirst && number - kFirst < kNames.size()) return kNames[number - kFirst];
  if (number == kStreamWaitValue) return "StreamWait";
  return number == kStreamWriteValue ? "StreamWrite" : "Unknown command kind";
}

}  // namespace tf::hipdata
