// SPDX-License-Identifier: Apache-2.0
// What `<<<grid, block, shared, stream>>>` leaves for the kernel's stub: a small stack per thread.
#include "proxy/base/thread_state.h"
#include "proxy/gen/local.h"

namespace tf::proxy::local {

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, hipStream_t stream) {
  ThreadState& self = thread_state();
  if (self.configuration_count >= kCallConfigurationsMax) return note_error(hipErrorOutOfMemory);
  self.configurations[self.configuration_count++] = {grid, block, shared_bytes, stream};
  return note_error(hipSuccess);
}

hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, hipStream_t* stream) {
  ThreadState& self = thread_state();
  bool sane = grid != nullptr && block != nullptr && shared_bytes != nullptr && stream != nullptr;
  if (!sane) return note_error(hipErrorInvalidValue);
  if (self.configuration_count == 0) return note_error(hipErrorMissingConfiguration);
  const CallConfiguration& top = self.configurations[--self.configuration_count];
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  *stream = top.stream;
  return note_error(hipSuccess);
}

}  // namespace tf::proxy::local
