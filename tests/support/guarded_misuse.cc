// SPDX-License-Identifier: Apache-2.0
// Uses a guarded member without its mutex. No target compiles it: tools/clang-check fails unless clang refuses it.
#include "transport/base/mutex.h"

namespace tf {

struct Guarded {
  Mutex mutex;
  int value TF_GUARDED_BY(mutex) = 0;
};

int read_without_mutex(Guarded& guarded) { return guarded.value; }

}  // namespace tf
