// SPDX-License-Identifier: Apache-2.0
// Which of AMD's defects a runtime has, and which value of what AMD has changed.
#pragma once

#include <cstdint>

#include "hipcore/wire/gen/hip_table.h"

namespace tf::worker {

// hipRuntimeGetVersion() of these releases.
inline constexpr int kRocm56 = 50'600'000;
inline constexpr int kRocm60 = 60'000'000;
inline constexpr int kRocm70 = 70'000'000;

// A runtime that does not tell its version counts as older.
inline bool is_older_than(int version, const protocol::HipTable& runtime) {
  int found = 0;
  return runtime.hipRuntimeGetVersion(&found) != hipSuccess || found < version;
}

// The one value that hipIpcOpenMemHandle() of AMD's runtime takes for its flags
// (hipIpcMemLazyEnablePeerAccess).
inline unsigned ipc_open_flags(const protocol::HipTable& runtime) {
  return is_older_than(kRocm60, runtime) ? 0 : 1;
}

// hipMemImportFromShareableHandle() of a descriptor, which stays the caller's. Up to HIP 6 it takes a pointer
// to it, 7.2 takes its number. Which one a 7.0 takes is not known here, and who reads a number as a pointer
// crashes: so the pointer is tried first.
inline hipError_t import_physical(const protocol::HipTable& runtime, int descriptor,
                                  hipMemGenericAllocationHandle_t& memory) {
  constexpr auto kType = hipMemHandleTypePosixFileDescriptor;
  const hipError_t error = runtime.hipMemImportFromShareableHandle(&memory, &descriptor, kType);
  if (error == hipSuccess || is_older_than(kRocm70, runtime)) return error;
  void* const number = reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor));
  return runtime.hipMemImportFromShareableHandle(&memory, number, kType);
}

}  // namespace tf::worker
