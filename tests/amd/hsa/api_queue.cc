// SPDX-License-Identifier: Apache-2.0
// hsa.h, "Queues"; hsa_ext_amd.h, priorities, masks of compute units, times of dispatches.
#include "tests/amd/hsa/api.h"

using namespace tf::amd::hsa;  // the C functions below

hsa_status_t hsa_queue_create(hsa_agent_t handle, uint32_t packets, hsa_queue_type32_t type,
                              void (*callback)(hsa_status_t, hsa_queue_t*, void*), void* data,
                              uint32_t /*private_segment_size*/, uint32_t /*group_segment_size*/,
                              hsa_queue_t** queue) {
  return with_runtime([&](Runtime& runtime) {
    Agent* agent = runtime.agent(handle);
    if (agent == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
    const bool power_of_two = packets != 0 && (packets & (packets - 1)) == 0;
    if (queue == nullptr || !power_of_two) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const bool fits = packets >= kQueuePacketsMin && packets <= kQueuePacketsMax;
    if (!agent->is_gpu() || !fits || type > HSA_QUEUE_TYPE_SINGLE) {
      return refuse("hsa_queue_create",
                    "type " + std::to_string(type) + " of " + std::to_string(packets) + " packets",
                    HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
    }
    auto created = Queue::create(runtime, *agent, packets, type, callback, data);
    if (created == nullptr) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    *queue = runtime.queues.add(std::move(created));
    return HSA_STATUS_SUCCESS;
  });
}

hsa_status_t hsa_queue_destroy(hsa_queue_t* queue) {
  return with_runtime([&](Runtime& runtime) {
    if (queue == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return runtime.queues.remove(queue) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_QUEUE;
  });
}

uint64_t hsa_queue_load_read_index_relaxed(const hsa_queue_t* queue) { return read_index_of(queue).load(); }
uint64_t hsa_queue_load_read_index_scacquire(const hsa_queue_t* queue) { return read_index_of(queue).load(); }
uint64_t hsa_queue_load_write_index_relaxed(const hsa_queue_t* queue) { return write_index_of(queue).load(); }
uint64_t hsa_queue_load_write_index_scacquire(const hsa_queue_t* queue) {
  return write_index_of(queue).load();
}
void hsa_queue_store_write_index_relaxed(const hsa_queue_t* queue, uint64_t value) {
  write_index_of(queue).store(value);
}
void hsa_queue_store_write_index_screlease(const hsa_queue_t* queue, uint64_t value) {
  write_index_of(queue).store(value);
}

#define ADD_WRITE_INDEX(order)                                                           \
  uint64_t hsa_queue_add_write_index_##order(const hsa_queue_t* queue, uint64_t value) { \
    return write_index_of(queue).fetch_add(value);                                       \
  }
#define CAS_WRITE_INDEX(order)                                                                              \
  uint64_t hsa_queue_cas_write_index_##order(const hsa_queue_t* queue, uint64_t expected, uint64_t value) { \
    write_index_of(queue).compare_exchange_strong(expected, value);                                         \
    return expected;                                                                                        \
  }
ADD_WRITE_INDEX(relaxed)
ADD_WRITE_INDEX(scacquire)
ADD_WRITE_INDEX(screlease)
ADD_WRITE_INDEX(scacq_screl)
CAS_WRITE_INDEX(relaxed)
CAS_WRITE_INDEX(scacquire)
CAS_WRITE_INDEX(screlease)
CAS_WRITE_INDEX(scacq_screl)

hsa_status_t hsa_amd_queue_set_priority(hsa_queue_t* queue, hsa_amd_queue_priority_t priority) {
  return with_runtime([&](Runtime& runtime) {
    if (!runtime.queues.contains(queue)) return HSA_STATUS_ERROR_INVALID_QUEUE;
    return priority <= HSA_AMD_QUEUE_PRIORITY_HIGH ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
  });
}

// All compute units are the same cores: a mask changes nothing but what is reported.
hsa_status_t hsa_amd_queue_cu_set_mask(const hsa_queue_t* queue, uint32_t bits, const uint32_t* mask) {
  return with_runtime([&](Runtime& runtime) {
    if (!runtime.queues.contains(queue)) return HSA_STATUS_ERROR_INVALID_QUEUE;
    return bits % 32 != 0 || (bits != 0 && mask == nullptr) ? HSA_STATUS_ERROR_INVALID_ARGUMENT
                                                            : HSA_STATUS_SUCCESS;
  });
}

// Times are always taken.
hsa_status_t hsa_amd_profiling_set_profiler_enabled(hsa_queue_t* queue, int /*enable*/) {
  return with_runtime([&](Runtime& runtime) {
    return runtime.queues.contains(queue) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_QUEUE;
  });
}

hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t signal,
                                                 hsa_amd_profiling_dispatch_time_t* time) {
  return with_runtime([&](Runtime& runtime) {
    if (runtime.gpu(agent) == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!runtime.signals.is_valid(signal)) return HSA_STATUS_ERROR_INVALID_SIGNAL;
    if (time == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *time = {signal_at(signal)->start_ts, signal_at(signal)->end_ts};
    return HSA_STATUS_SUCCESS;
  });
}
