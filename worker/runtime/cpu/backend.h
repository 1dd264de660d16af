// SPDX-License-Identifier: Apache-2.0
// The CPU runtime's Backend; worker/runtime/common/backend.h says what each function has to be.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "worker/runtime/common/link_type.h"
#include "worker/runtime/cpu/clock.h"
#include "worker/runtime/cpu/graphs.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {

struct Backend {
  // --- calls
  static constexpr char kName[] = "hip-cpu";
  static constexpr char kVerboseVariable[] = "HIP_CPU_VERBOSE";

  static ThreadState& thread() { return thread_state(); }
  // Charges the configured cost.
  template <typename Body>
  static hipError_t call(Body&& body) {
    const std::uint64_t cost_ns = Runtime::get().settings().call_ns;
    const std::uint64_t until = cost_ns ? now_ns() + cost_ns : 0;
    const hipError_t status = std::forward<Body>(body)();
    if (cost_ns) spin_until(until);
    return status;
  }
  template <typename Body>
  static hipError_t call_on_host(Body&& body) {
    return call(std::forward<Body>(body));
  }

  // --- devices and contexts
  static hipError_t status() { return device_count() == 0 ? hipErrorNoDevice : hipSuccess; }
  static hipError_t require_device() { return status(); }
  static int device_count() { return Runtime::get().device_count(); }
  static void select_device(int ordinal) { thread_state().device = ordinal; }
  static const hipDeviceProp_t& properties(int ordinal) {
    return Runtime::get().device(ordinal).properties();
  }
  static hipUUID uuid(int ordinal);
  static hipError_t attribute(int ordinal, hipDeviceAttribute_t attribute, int& value);
  static hipError_t p2p_attribute(int from, int to, hipDeviceP2PAttr attribute, int& value);
  static unsigned device_flags(int ordinal) {
    return Runtime::get().device(ordinal).flags.load(std::memory_order_relaxed);
  }
  static hipError_t set_device_flags(int ordinal, unsigned flags);
  static hipError_t synchronize_device();
  static hipError_t set_cache_config(hipFuncCache_t config);
  static hipError_t cache_config(hipFuncCache_t& config);
  static hipError_t limit(hipLimit_t limit, std::size_t& value);
  static hipError_t reset_device(int ordinal);

  static hipError_t context(int ordinal, hipCtx_t& context);
  static int ordinal_of(hipCtx_t context);
  static bool has_context(int ordinal);
  static hipError_t retain_context(int ordinal, hipCtx_t& context);
  static hipError_t reset_context(int ordinal);
  static hipError_t can_access_peer(int device, int peer, int& answer);
  static runtime::LinkType link_type(int first, int second);
  static hipError_t enable_peer(int peer);
  static hipError_t disable_peer(int peer);

  // --- streams
  using Stream = Found<cpu::Stream>;

  static hipError_t find_stream(hipStream_t handle, Stream& stream) {
    return cpu::find_stream(handle, stream);
  }
  static graph::StreamRef reference(const Stream& stream) { return cpu::reference(*stream); }
  static graph::StreamRef short_reference(const Stream& stream) { return cpu::reference(*stream); }

  // --- graphs
  static hipError_t describe_kernel(const void* named, graph::KernelFacts& facts);
  static hipError_t find_symbol(const void* symbol, void*& address, std::size_t& bytes);
  static hipError_t check_work(const graph::Work& work);
  static hipError_t instantiate(const graph::Plan& plan, std::shared_ptr<graph::Executable>& executable);
};

}  // namespace tf::cpu

namespace tf::runtime {
using cpu::Backend;
}
