// SPDX-License-Identifier: Apache-2.0
// What `<<<grid, block, shared, stream>>>` leaves for the kernel's stub: a small stack per thread.
#include "proxy/exported/launch_configuration.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "proxy/gen/local.h"
#include "proxy/module/kernel_layout.h"

namespace tf::proxy {
namespace {

// The packed arguments of the thread's configurations, by their place in its stack. Only hipSetupArgument
// fills them; other launches never touch this.
std::vector<std::byte>& arguments_of(std::size_t place) {
  static thread_local std::vector<std::byte> arguments[kCallConfigurationsMax];
  return arguments[place];
}

}  // namespace

hipError_t pop_configuration(CallConfiguration& top, std::vector<std::byte>& arguments) {
  ThreadState& self = thread_state();
  if (self.configuration_count == 0) return hipErrorMissingConfiguration;
  top = self.configurations[--self.configuration_count];
  if (top.argument_bytes == 0) return hipSuccess;
  arguments = arguments_of(self.configuration_count);
  arguments.resize(top.argument_bytes);
  return hipSuccess;
}

}  // namespace tf::proxy

namespace tf::proxy::local {

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, hipStream_t stream) {
  ThreadState& self = thread_state();
  if (self.configuration_count >= kCallConfigurationsMax) return note_error(hipErrorOutOfMemory);
  self.configurations[self.configuration_count++] = {grid, block, shared_bytes, stream, 0};
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

hipError_t hipSetupArgument(const void* argument, size_t bytes, size_t offset) {
  ThreadState& self = thread_state();
  if (argument == nullptr || bytes > kArgumentBytesMax || offset > kArgumentBytesMax - bytes)
    return note_error(hipErrorInvalidValue);
  if (self.configuration_count == 0) return note_error(hipErrorMissingConfiguration);
  CallConfiguration& top = self.configurations[self.configuration_count - 1];
  try {
    std::vector<std::byte>& packed = arguments_of(self.configuration_count - 1);
    packed.resize(top.argument_bytes);  // what an earlier launch left is not this one's
    packed.resize(std::max(packed.size(), offset + bytes));
    if (bytes != 0) std::memcpy(packed.data() + offset, argument, bytes);
    top.argument_bytes = packed.size();
  } catch (const std::bad_alloc&) {
    return note_error(hipErrorOutOfMemory);
  }
  return note_error(hipSuccess);
}

}  // namespace tf::proxy::local
