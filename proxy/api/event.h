// SPDX-License-Identifier: Apache-2.0
// Events.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

CREATE(0x0410) hipError_t hipEventCreate(OUT(event) hipEvent_t* event);
CREATE(0x0411)
CHECK((flags & ~(hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess | kEventReleases)) == 0)
CHECK((flags & kEventReleases & ((flags & kEventReleases) - 1)) == 0)
CHECK((flags & hipEventInterprocess) == 0 || (flags & hipEventDisableTiming) != 0)
hipError_t hipEventCreateWithFlags(OUT(event) hipEvent_t* event, unsigned int flags);
POST(0x0412) NO_WORK hipError_t hipEventDestroy(CONSUMES(event) hipEvent_t event);
POST(0x0413) WORK(stream) RECORDS(event)
hipError_t hipEventRecord(IN(event) hipEvent_t event, IN(stream) hipStream_t stream);
CALL(0x0414) ASKS(time) hipError_t hipEventElapsedTime(OUT() float* milliseconds, IN(event) hipEvent_t start,
                                                       IN(event) hipEvent_t stop);
CUSTOM(wait) ASKS(pending) hipError_t hipEventSynchronize(IN(event) hipEvent_t event);
CUSTOM(wait) ASKS(pending) hipError_t hipEventQuery(IN(event) hipEvent_t event);

ALIAS(hipEventRecord) hipError_t hipEventRecord_spt(IN(event) hipEvent_t event, IN(stream) hipStream_t stream);

}  // extern "C"
