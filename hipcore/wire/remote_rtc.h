/* SPDX-License-Identifier: Apache-2.0 */
/* How our libhiprtc.so reaches the worker: two functions that our libamdhip64.so exports, like
 * hip_remote_proxy_version, in addition to HIP's. Programs and results are bytes as rtc_program.h encodes
 * them; the two libraries come from one build. Any thread, also several at once. They do not set the thread's
 * last error, and throw nothing. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the architecture of the calling thread's current device ("sm_90", "x86_64-cpu"), terminated, to the
 * `bytes` at `architecture`, and returns 1. Connects to the worker if necessary. Also works if the worker is
 * lost. 0: there is no worker, it has no device, or there is not enough room. */
int hip_remote_rtc_target(char* architecture, size_t bytes);

/* Gets the encoded result, which it may read until it returns. Must not throw. */
typedef void (*hip_remote_rtc_take)(void* context, const void* result, size_t bytes);

/* Compiles the encoded program on the worker for the calling thread's current device, and waits for it.
 * `take` is called once, on this thread, with the result. If the worker could not be asked, the result is
 * HIPRTC_ERROR_INTERNAL_ERROR and a log that says why. The worker's bytes are not checked. Returns 1; 0 if
 * there was no memory and `take` was not called. The caller keeps the program. */
int hip_remote_rtc_compile(const void* program, size_t bytes, hip_remote_rtc_take take, void* context);

#ifdef __cplusplus
}
#endif
