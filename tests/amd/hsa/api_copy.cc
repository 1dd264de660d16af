// SPDX-License-Identifier: Apache-2.0
// hsa_ext_amd.h, asynchronous copies and their times.
#include "tests/amd/hsa/api.h"
#include "tests/amd/hsa/newer.h"

namespace tf::amd::hsa {
namespace {

// hsa_amd_memory_async_copy_rect: "All elements must be 4 byte aligned."
constexpr std::size_t kElementBytes = 4;
constexpr std::uint64_t kRectBytesMax = std::uint64_t{1} << 40;

// The signals of a copy. Nothing: one is no signal.
std::optional<CopyEngine::Copy> copy_with(Runtime& runtime, std::uint32_t count, const hsa_signal_t* signals,
                                          hsa_signal_t completion) {
  CopyEngine::Copy copy;
  for (std::uint32_t at = 0; at < count; at++) {
    if (!runtime.signals.is_valid(signals[at])) return std::nullopt;
    copy.wait_for.push_back(signals[at]);
  }
  if (completion.handle != 0 && !runtime.signals.is_valid(completion)) return std::nullopt;
  copy.completion = completion;
  return copy;
}

// The agent whose engine copies: the GPU at one of the ends.
Agent* engine_agent(Agent& target, Agent& source) { return source.is_gpu() ? &source : &target; }

// The only engine of that agent that copies in this direction.
hsa_amd_sdma_engine_id_t engine_id(const Agent& source) {
  return source.is_gpu() ? HSA_AMD_SDMA_ENGINE_1 : HSA_AMD_SDMA_ENGINE_0;
}

hsa_status_t refuse_range(const char* function, const void* at, std::size_t bytes) {
  return refuse(function,
                "to touch " + std::to_string(bytes) + " bytes at " +
                    hexadecimal(reinterpret_cast<std::uint64_t>(at)) +
                    ": not inside one allocation that the agent reaches",
                HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

// Bytes from a box's base to the end of its last row; 0: more than any memory.
std::uint64_t extent_of(const Box& box, const hsa_dim3_t& range) {
  const std::uint64_t slices = std::uint64_t{box.offset.z} + range.z - 1;
  const std::uint64_t rows = std::uint64_t{box.offset.y} + range.y - 1;
  std::uint64_t slices_bytes = 0;
  std::uint64_t rows_bytes = 0;
  if (__builtin_mul_overflow(slices, box.place.slice, &slices_bytes) || slices_bytes > kRectBytesMax)
    return 0;
  if (__builtin_mul_overflow(rows, box.place.pitch, &rows_bytes) || rows_bytes > kRectBytesMax) return 0;
  return slices_bytes + rows_bytes + box.offset.x + range.x;
}

bool is_aligned(const Box& box) {
  return (reinterpret_cast<std::uintptr_t>(box.place.base) | box.place.pitch | box.place.slice |
          box.offset.x) %
             kElementBytes ==
         0;
}

}  // namespace
}  // namespace tf::amd::hsa

using namespace tf::amd::hsa;  // the C functions below

hsa_status_t hsa_amd_memory_async_copy(void* target, hsa_agent_t target_agent, const void* source,
                                       hsa_agent_t source_agent, size_t bytes, uint32_t count,
                                       const hsa_signal_t* signals, hsa_signal_t completion) {
  return with_runtime([&](Runtime& runtime) {
    Agent* to = runtime.agent(target_agent);
    Agent* from = runtime.agent(source_agent);
    if (to == nullptr || from == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (target == nullptr || source == nullptr || (count != 0) != (signals != nullptr)) {
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    auto copy = copy_with(runtime, count, signals, completion);
    if (!copy) return HSA_STATUS_ERROR_INVALID_SIGNAL;
    Agent& engine = *engine_agent(*to, *from);
    if (!runtime.memory.reaches(engine.index, target, bytes))
      return refuse_range("hsa_amd_memory_async_copy", target, bytes);
    if (!runtime.memory.reaches(engine.index, source, bytes))
      return refuse_range("hsa_amd_memory_async_copy", source, bytes);
    copy->move = [=] { std::memmove(target, source, bytes); };
    (from->is_gpu() ? engine.from_device : engine.to_device)->submit(std::move(*copy));
    return HSA_STATUS_SUCCESS;
  });
}

// Each direction has one engine, and its copies queue up: it always takes another one.
hsa_status_t hsa_amd_memory_copy_engine_status(hsa_agent_t target_agent, hsa_agent_t source_agent,
                                               uint32_t* engines) {
  return with_runtime([&](Runtime& runtime) {
    const Agent* to = runtime.agent(target_agent);
    const Agent* from = runtime.agent(source_agent);
    if (to == nullptr || from == nullptr || to == from) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (engines == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *engines = engine_id(*from);
    return HSA_STATUS_SUCCESS;
  });
}

hsa_status_t hsa_amd_memory_get_preferred_copy_engine(hsa_agent_t target_agent, hsa_agent_t source_agent,
                                                      uint32_t* engines) {
  return hsa_amd_memory_copy_engine_status(target_agent, source_agent, engines);
}

hsa_status_t hsa_amd_memory_async_copy_on_engine(void* target, hsa_agent_t target_agent, const void* source,
                                                 hsa_agent_t source_agent, size_t bytes, uint32_t count,
                                                 const hsa_signal_t* signals, hsa_signal_t completion,
                                                 hsa_amd_sdma_engine_id_t engine,
                                                 bool /*force_copy_on_sdma*/) {
  return with_runtime([&](Runtime& runtime) {
    const Agent* from = runtime.agent(source_agent);
    if (from == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (engine != engine_id(*from)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return hsa_amd_memory_async_copy(target, target_agent, source, source_agent, bytes, count, signals,
                                     completion);
  });
}

hsa_status_t hsa_amd_memory_async_copy_rect(const hsa_pitched_ptr_t* target, const hsa_dim3_t* target_offset,
                                            const hsa_pitched_ptr_t* source, const hsa_dim3_t* source_offset,
                                            const hsa_dim3_t* range, hsa_agent_t copy_agent,
                                            hsa_amd_copy_direction_t direction, uint32_t count,
                                            const hsa_signal_t* signals, hsa_signal_t completion) {
  return with_runtime([&](Runtime& runtime) {
    if (target == nullptr || target_offset == nullptr || source == nullptr || source_offset == nullptr ||
        range == nullptr || (count != 0) != (signals != nullptr)) {
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    Agent* engine = runtime.gpu(copy_agent);
    if (engine == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (range->x == 0 || range->y == 0 || range->z == 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const Box to{*target, *target_offset};
    const Box from{*source, *source_offset};
    if (!is_aligned(to) || !is_aligned(from) || range->x % kElementBytes != 0)
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (const Box& box : {to, from}) {
      const std::uint64_t bytes = extent_of(box, *range);
      if (bytes == 0 || !runtime.memory.reaches(engine->index, box.place.base, bytes)) {
        return refuse_range("hsa_amd_memory_async_copy_rect", box.place.base, bytes);
      }
    }
    auto copy = copy_with(runtime, count, signals, completion);
    if (!copy) return HSA_STATUS_ERROR_INVALID_SIGNAL;
    copy->move = [to, from, size = *range] { copy_box(to, from, size); };
    (direction == hsaHostToDevice ? engine->to_device : engine->from_device)->submit(std::move(*copy));
    return HSA_STATUS_SUCCESS;
  });
}

// Times are always taken.
hsa_status_t hsa_amd_profiling_async_copy_enable(bool /*enable*/) {
  return with_runtime([](Runtime&) { return HSA_STATUS_SUCCESS; });
}

hsa_status_t hsa_amd_profiling_get_async_copy_time(hsa_signal_t signal,
                                                   hsa_amd_profiling_async_copy_time_t* time) {
  return with_runtime([&](Runtime& runtime) {
    if (!runtime.signals.is_valid(signal)) return HSA_STATUS_ERROR_INVALID_SIGNAL;
    if (time == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *time = {signal_at(signal)->start_ts, signal_at(signal)->end_ts};
    return HSA_STATUS_SUCCESS;
  });
}
