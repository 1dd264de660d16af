// SPDX-License-Identifier: Apache-2.0
// File descriptors in the place of HIP's shareable handles.
#pragma once

namespace tf::hipcore {

// The descriptor that a program passes as `os_handle`: cast to a pointer, as CUDA defines it; or pointed to,
// as AMD's runtimes up to 7.0 read it. Programs that cast fill only the lower half of the pointer (AMD's
// hipMemPoolExportToShareableHandle tests do). So where nothing can be read, the lower half is the
// descriptor.
int descriptor_in(const void* os_handle);

}  // namespace tf::hipcore
