// SPDX-License-Identifier: Apache-2.0
// How the majors of HIP differ in what a function with one name does. A library that stands in for AMD's is
// linked with the definition of its major (tf_hip_abi_<major>); everything else in it is compiled once. The
// runtimes that a worker loads have those of the first major (tf_hip_abi_worker), except rules that clients
// of any major keep by themselves.
// Constant data, any thread.
#pragma once

#include <hip/hip_runtime_api.h>

namespace tf::abi {

struct Rules {
  unsigned major;
  int version;  // HIP_VERSION of the release that the library stands in for
  // From 7.0 on a thread's last error stays until it is taken: neither success nor hipErrorNotReady replaces
  // it.
  bool errors_stay;
  // From 6.0 on hipPointerGetAttributes succeeds for memory that nobody knows: it is unregistered memory.
  bool tells_unregistered;
  // HIP_POINTER_ATTRIBUTE_CONTEXT, which is supported from 6.4.2 on.
  bool tells_pointer_contexts;
  // From 7.0 on hipPointerGetAttributes of a null pointer succeeds: it is unregistered memory.
  bool null_has_attributes;
  // hipIpcMemLazyEnablePeerAccess, the one flag of hipIpcOpenMemHandle: 0 in HIP 5.2, 1 since 6.0. Of HIP 5
  // both are taken: a later release of it may have changed it.
  bool takes_ipc_flags(unsigned flags) const { return flags == 1 || (flags == 0 && major < 6); }
  // hipLimitRange: what is there and beyond is no limit, not one that the device lacks. 0: HIP 5.2 has none.
  unsigned limit_range;
  bool is_beyond_limits(hipLimit_t limit) const {
    return limit_range != 0 && static_cast<unsigned>(limit) >= limit_range;
  }
  // Up to HIP 5 hipStreamSynchronize and hipStreamQuery of a stream that is ordered with the null stream also
  // ask for the null stream's work: AMD's runtime first puts a marker on the stream, ordered behind that
  // work. False in a worker's runtime: there clients of HIP 5 send FollowNull.
  bool follows_null;
  const char* library;      // "libamdhip64.so.<major>"
  const char* rtc_library;  // "libhiprtc.so.<major>"
};

extern const Rules kRules;

}  // namespace tf::abi
