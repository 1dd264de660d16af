// SPDX-License-Identifier: Apache-2.0
// hsa.h, "Signals"; hsa_ext_amd.h, signals with attributes, handlers, waits on several, sharing.
//
// Every form is sequentially consistent: that is at least as strict as each of the orders in the names.
#include "tests/amd/hsa/api.h"
#include "tests/amd/hsa/sharing.h"

namespace tf::amd::hsa {
namespace {

hsa_status_t make_signal(hsa_signal_value_t value, hsa_signal_t* signal) {
  return with_runtime([&](Runtime& runtime) {
    if (signal == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *signal = runtime.signals.create(value, runtime.all_agents());
    return signal->handle != 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  });
}

std::atomic_ref<std::int64_t> value_at(hsa_signal_t signal) { return value_of(*signal_at(signal)); }

// Changes the value with `change(atomic)` and wakes whoever waits.
template <typename Change>
auto change(hsa_signal_t signal, Change&& apply) {
  struct Wake {
    hsa_signal_t signal;
    ~Wake() { signal_changed(*signal_at(signal)); }
  } wake{signal};
  return apply(value_at(signal));
}

hsa_signal_value_t wait(hsa_signal_t signal, hsa_signal_condition_t condition, hsa_signal_value_t compared,
                        std::uint64_t timeout) {
  return wait_for(
      *signal_at(signal), [&](std::int64_t value) { return satisfies(value, condition, compared); }, timeout);
}

}  // namespace
}  // namespace tf::amd::hsa

using namespace tf::amd::hsa;  // the C functions below

hsa_status_t hsa_signal_create(hsa_signal_value_t value, uint32_t count, const hsa_agent_t* consumers,
                               hsa_signal_t* signal) {
  if (count != 0 && consumers == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return make_signal(value, signal);
}

hsa_status_t hsa_amd_signal_create(hsa_signal_value_t value, uint32_t count, const hsa_agent_t* consumers,
                                   uint64_t attributes, hsa_signal_t* signal) {
  constexpr std::uint64_t kKnown = HSA_AMD_SIGNAL_AMD_GPU_ONLY | HSA_AMD_SIGNAL_IPC;
  if ((count != 0 && consumers == nullptr) || (attributes & ~kKnown) != 0)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return make_signal(value, signal);
}

hsa_status_t hsa_signal_destroy(hsa_signal_t signal) {
  return with_runtime([&](Runtime& runtime) {
    if (signal.handle == 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return runtime.signals.destroy(signal) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_SIGNAL;
  });
}

hsa_status_t hsa_amd_signal_value_pointer(hsa_signal_t signal, volatile hsa_signal_value_t** pointer) {
  return with_runtime([&](Runtime& runtime) {
    if (pointer == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!runtime.signals.is_valid(signal)) return HSA_STATUS_ERROR_INVALID_SIGNAL;
    *pointer = &signal_at(signal)->value;
    return HSA_STATUS_SUCCESS;
  });
}

// A function for each memory order in the names. LOAD(order) and so on define one.
#define LOAD(order) \
  hsa_signal_value_t hsa_signal_load_##order(hsa_signal_t signal) { return value_at(signal).load(); }
#define STORE(order)                                                             \
  void hsa_signal_store_##order(hsa_signal_t signal, hsa_signal_value_t value) { \
    change(signal, [&](auto now) { now.store(value); });                         \
  }
#define SILENT_STORE(order)                                                             \
  void hsa_signal_silent_store_##order(hsa_signal_t signal, hsa_signal_value_t value) { \
    value_at(signal).store(value);                                                      \
  }
#define EXCHANGE(order)                                                                           \
  hsa_signal_value_t hsa_signal_exchange_##order(hsa_signal_t signal, hsa_signal_value_t value) { \
    return change(signal, [&](auto now) { return now.exchange(value); });                         \
  }
#define CAS(order)                                                                            \
  hsa_signal_value_t hsa_signal_cas_##order(hsa_signal_t signal, hsa_signal_value_t expected, \
                                            hsa_signal_value_t value) {                       \
    return change(signal, [&](auto now) {                                                     \
      now.compare_exchange_strong(expected, value);                                           \
      return expected;                                                                        \
    });                                                                                       \
  }
#define MODIFY(name, order, member)                                                 \
  void hsa_signal_##name##_##order(hsa_signal_t signal, hsa_signal_value_t value) { \
    change(signal, [&](auto now) { now.member(value); });                           \
  }
#define WAIT(order)                                                                                 \
  hsa_signal_value_t hsa_signal_wait_##order(hsa_signal_t signal, hsa_signal_condition_t condition, \
                                             hsa_signal_value_t compared, uint64_t timeout,         \
                                             hsa_wait_state_t) {                                    \
    return wait(signal, condition, compared, timeout);                                              \
  }
#define FOUR_ORDERS(define) define(relaxed) define(scacquire) define(screlease) define(scacq_screl)
#define ADD(order) MODIFY(add, order, fetch_add)
#define SUBTRACT(order) MODIFY(subtract, order, fetch_sub)
#define AND(order) MODIFY(and, order, fetch_and)
#define OR(order) MODIFY(or, order, fetch_or)
#define XOR(order) MODIFY(xor, order, fetch_xor)
LOAD(relaxed)
LOAD(scacquire)
STORE(relaxed)
STORE(screlease)
SILENT_STORE(relaxed)
SILENT_STORE(screlease)
FOUR_ORDERS(EXCHANGE)
FOUR_ORDERS(CAS)
FOUR_ORDERS(ADD)
FOUR_ORDERS(SUBTRACT)
FOUR_ORDERS(AND)
FOUR_ORDERS(OR)
FOUR_ORDERS(XOR)
WAIT(relaxed)
WAIT(scacquire)

hsa_status_t hsa_amd_signal_async_handler(hsa_signal_t signal, hsa_signal_condition_t condition,
                                          hsa_signal_value_t compared, hsa_amd_signal_handler handler,
                                          void* argument) {
  return with_runtime([&](Runtime& runtime) {
    if (handler == nullptr || condition > HSA_SIGNAL_CONDITION_GTE) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!runtime.signals.is_valid(signal)) return HSA_STATUS_ERROR_INVALID_SIGNAL;
    SignalHandlers::instance().add(signal, condition, compared, handler, argument);
    return HSA_STATUS_SUCCESS;
  });
}

hsa_status_t hsa_amd_ipc_signal_create(hsa_signal_t signal, hsa_amd_ipc_signal_t* handle) {
  return with_runtime([&](Runtime& runtime) {
    if (handle == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!runtime.signals.is_valid(signal)) return HSA_STATUS_ERROR_INVALID_SIGNAL;
    const std::optional<Allocation> slab = runtime.memory.find(signal_at(signal));
    const std::optional<Place> place =
        runtime.memory.export_place(reinterpret_cast<void*>(slab->base), slab->bytes);
    if (!place) return HSA_STATUS_ERROR_INVALID_SIGNAL;
    *handle = shared_handle(*place, 0, static_cast<std::uint32_t>(signal.handle - slab->base));
    return HSA_STATUS_SUCCESS;
  });
}

hsa_status_t hsa_amd_ipc_signal_attach(const hsa_amd_ipc_signal_t* handle, hsa_signal_t* signal) {
  return with_runtime([&](Runtime& runtime) {
    if (handle == nullptr || signal == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const auto attached = attach_shared(runtime, *handle, runtime.all_agents());
    if (!attached) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *signal = {reinterpret_cast<std::uint64_t>(attached->base) + attached->inner};
    if (attached->inner < attached->bytes && runtime.signals.is_valid(*signal)) return HSA_STATUS_SUCCESS;
    runtime.memory.detach(attached->base);
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  });
}
