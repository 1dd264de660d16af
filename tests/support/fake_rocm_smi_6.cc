// SPDX-License-Identifier: Apache-2.0
// What only librocm_smi64 of ROCm 6 and later has. Not supported, as by old drivers.
#include <cstdint>

extern "C" __attribute__((visibility("default"))) int rsmi_dev_activity_metric_get(std::uint32_t, int,
                                                                                   void*) {
  return 2;
}
