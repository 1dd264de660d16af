// SPDX-License-Identifier: Apache-2.0
// malloc() and its kin that fail once, for tests of what HIP calls answer then. They are the whole program's,
// so also of a library with a C++ runtime of its own.
#pragma once

namespace tf::api_test {

// From now on the calling thread's k-th allocation fails, counted from 1. Other threads' do not.
void fail_allocation(int k);
// No allocation fails any more. True: one has.
bool stop_failing();

}  // namespace tf::api_test
