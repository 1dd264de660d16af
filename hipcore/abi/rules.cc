// SPDX-License-Identifier: Apache-2.0
// The rules of the major TF_HIP_MAJOR. TF_HIP_FOR_PROGRAMS is true for libraries that programs load, and
// false for runtimes that only a worker loads.
#include "hipcore/abi/rules.h"

#include "hipcore/wire/gen/majors.h"

namespace tf::abi {
namespace {

constexpr const protocol::HipMajor& major() {
  for (const protocol::HipMajor& row : protocol::kHipMajors)
    if (row.number == TF_HIP_MAJOR) return row;
  return protocol::kHipMajor;
}
static_assert(major().number == TF_HIP_MAJOR, "the major stands in hipcore/exports/majors.txt");

}  // namespace

constinit const Rules kRules = {
    .major = major().number,
    .version = major().version,
    .errors_stay = major().number >= 7,
    .tells_unregistered = major().number >= 6,
    .tells_pointer_contexts = major().number >= 6,
    .null_has_attributes = major().number >= 7,
    .limit_range = major().number >= 7   ? 4099u
                   : major().number == 6 ? 3u
                                         : 0u,
    .follows_null = major().number < 6 && TF_HIP_FOR_PROGRAMS,
    .library = major().library,
    .rtc_library = major().rtc_library,
};

}  // namespace tf::abi
