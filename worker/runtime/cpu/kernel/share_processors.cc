// SPDX-License-Identifier: Apache-2.0
// share_processors() of kernel_api.h: maps the page.
#include <sys/mman.h>
#include <sys/stat.h>

#include "worker/runtime/cpu/kernel/turns.h"
#include "worker/runtime/cpu/kernel_api.h"

namespace tf::cpu {

hipError_t share_processors(int descriptor, std::uint32_t slot, std::uint32_t weight) {
  constexpr std::size_t kBytes = sizeof(runtime::TurnPage);
  struct stat facts {};
  if (slot >= runtime::kTurnSlots || weight == 0 || weight > runtime::kTurnWeightMax ||
      ::fstat(descriptor, &facts) != 0 || facts.st_size < static_cast<off_t>(kBytes))
    return hipErrorInvalidValue;
  void* const mapped = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (mapped == MAP_FAILED) return hipErrorInvalidValue;
  // Handed to the process, for its whole life: streams may run until the very end.
  Turns::share_processors(*new Turns(*static_cast<runtime::TurnPage*>(mapped), slot, weight));
  return hipSuccess;
}

}  // namespace tf::cpu
