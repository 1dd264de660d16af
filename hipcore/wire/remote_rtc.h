/* SPDX-License-Identifier: Apache-2.0 */
/* How our libhiprtc.so reaches the worker: two functions that our libamdhip64.so exports besides HIP's,
 * beside hip_remote_proxy_version. Programs and results are bytes as rtc_program.h encodes them; the two
 * libraries are of one build. Any thread, also several at once; no error is kept as the thread's last one,
 * and nothing is thrown. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the architecture of the calling thread's current device ("sm_90", "x86_64-cpu"), terminated, to the
 * `bytes` at `architecture`, and returns 1. Connects to the worker if need be. Also of a worker that is lost.
 * 0: there is no worker or it has no device, or there is not enough room. */
int hip_remote_rtc_target(char* architecture, size_t bytes);

/* Gets the encoded result, which it may read until it returns. Must not throw. */
typedef void (*hip_remote_rtc_take)(void* context, const void* result, size_t bytes);

/* Compiles the encoded program on the worker for the calling thread's current device and waits for that.
 * `take` is called once, on this thread, with what came of it: when the worker could not be asked too, with
 * HIPRTC_ERROR_INTERNAL_ERROR and a log that says why. The result is the worker's bytes, not looked at.
 * Returns 1; 0 when there was no memory and `take` was not called. The program stays the caller's. */
int hip_remote_rtc_compile(const void* program, size_t bytes, hip_remote_rtc_take take, void* context);

#ifdef __cplusplus
}
#endif
