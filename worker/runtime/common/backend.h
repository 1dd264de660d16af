// SPDX-License-Identifier: Apache-2.0
// Backend: what the front, the files of this folder, needs of the runtime that it is compiled into.
//
// The front is every exported function that our runtimes have in common: it checks arguments, keeps last
// errors and decides about captures. Each runtime compiles it (front.cmake) with its own struct Backend of
// static functions, so a call costs what a call between two of its files costs. Below stands what each has to
// be. A Backend's functions may be called by any thread, and need not check what the front has checked.
#pragma once

#include <hip/hip_runtime_api.h>

#include <concepts>

#include TF_RUNTIME_BACKEND  // worker/runtime/cpu/backend.h, or cuda's
#include "worker/runtime/common/thread_state.h"

namespace tf::runtime {

template <typename B>
concept BackendOfCalls = requires(hipError_t (*body)()) {
  // What the library calls itself on standard error, and the variable that makes it say more.
  { B::kName } -> std::convertible_to<const char*>;
  { B::kVerboseVariable } -> std::convertible_to<const char*>;
  // The calling thread's.
  { B::thread() } -> std::convertible_to<ThreadState&>;
  // Runs the body of an exported function and returns its result: with the thread's device ready, or without
  // one.
  { B::call(body) } -> std::same_as<hipError_t>;
  { B::call_on_host(body) } -> std::same_as<hipError_t>;
};
static_assert(BackendOfCalls<Backend>);

}  // namespace tf::runtime
