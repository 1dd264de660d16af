// SPDX-License-Identifier: Apache-2.0
// Lasting registrations: those of host memory that AMD's runtime cannot take back.
//
// Up to 5.2.3 hipHostUnregister() takes the device's address of the memory out of a table, and then the
// host's. It aborts the process if the second is no longer there: where both addresses are the same, as with
// a kernel driver that registers host memory through HMM. (clr, ihipHostUnregister(); ROCm 5.6 has the mend,
// "Don't attempt adding duplicates into the memory map".) Such memory stays registered here until the process
// ends, and may be registered again as it was. So do events that several processes share, for which the
// runtime registers memory itself.
#pragma once

#include "hipcore/wire/gen/hip_table.h"

namespace tf::worker {

// Replaces hipHostRegister and hipHostUnregister of `hip`, and what creates and destroys events. Memory that
// is only in part what is still registered is refused (hipErrorHostMemoryAlreadyRegistered): the runtime
// would look it up in the old registration. Once in a process, before any of them is called.
void mend_lasting_registrations(protocol::HipTable& hip);

}  // namespace tf::worker
