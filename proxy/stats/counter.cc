// SPDX-License-Identifier: Apache-2.0
// Whether the time stamp counter can be a clock: CPUID's word, the kernel's, and whether it may be read.
#include "proxy/stats/counter.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/prctl.h>

#include <string>

#include "transport/base/file_reader.h"
#endif

namespace tf::proxy::stats {

#if defined(__x86_64__)
namespace {

constexpr unsigned kPowerManagementLeaf = 0x80000007;
constexpr unsigned kInvariantBit = 1u << 8;  // of EDX

bool is_invariant() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(kPowerManagementLeaf, &eax, &ebx, &ecx, &edx) != 0 && (edx & kInvariantBit) != 0;
}

constexpr std::size_t kClockNameBytesMax = 256;

// A kernel that found the counter unsteady has chosen a clock of another kind. Where it does not say which,
// the processor is believed.
bool is_kernels_clock() {
  std::string name =
      read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", kClockNameBytesMax);
  while (!name.empty() && name.back() == '\n') name.pop_back();
  if (name.empty()) return true;
  // The last two are made of the counter, for virtual machines.
  return name == "tsc" || name == "kvm-clock" || name == "hyperv_clocksource_tsc_page";
}

// A process may have forbidden itself to read it.
bool is_readable() {
  int mode = 0;
  return ::prctl(PR_GET_TSC, &mode, 0, 0, 0) == 0 && mode == PR_TSC_ENABLE;
}

}  // namespace

bool has_steady_counter() { return is_invariant() && is_readable() && is_kernels_clock(); }
#else
bool has_steady_counter() { return false; }
#endif

}  // namespace tf::proxy::stats
