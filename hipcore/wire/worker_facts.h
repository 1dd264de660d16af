/* SPDX-License-Identifier: Apache-2.0 */
/* What hip-remote info asks our libamdhip64.so about its worker, beyond HIP. Any thread; throws nothing. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes which walls the worker has put around this client's session, in words and terminated, to the `bytes`
 * at `text`, and returns 1. Connects if necessary. 0: there is no worker, or not enough room. The worker's
 * words are not checked. */
int hip_remote_worker_walls(char* text, size_t bytes);
/* The same for the limits of this client's tenant; no words: there are none. */
int hip_remote_worker_limits(char* text, size_t bytes);

#ifdef __cplusplus
}
#endif
