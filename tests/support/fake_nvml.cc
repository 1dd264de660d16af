// SPDX-License-Identifier: Apache-2.0
// A stand-in for NVML: devices at 0000:41:00.0 to 0000:44:00.0, with values that tests know. The first two
// are linked by NVLink; the third shares their NUMA node, the fourth has another one. What is left out, a
// driver may lack.
#include <cstdio>

#define NVML extern "C" __attribute__((visibility("default")))

namespace {

int devices[4];
constexpr int kNotFound = 6;
constexpr unsigned kNvlink = 2;
constexpr unsigned kNoSuchLink = 3;

long index_of(const void* device) { return static_cast<const int*>(device) - devices; }
struct FakeUtilization {
  unsigned gpu;
  unsigned memory;
};
struct FakeMemory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

}  // namespace

NVML int nvmlInit_v2() { return 0; }
NVML int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  unsigned bus = 0;
  if (std::sscanf(id, "0000:%x:00.0", &bus) != 1 || bus < 0x41 || bus > 0x44) return kNotFound;
  *device = &devices[bus - 0x41];
  return 0;
}
NVML int nvmlDeviceGetUtilizationRates(void*, FakeUtilization* use) {
  *use = {37, 12};
  return 0;
}
NVML int nvmlDeviceGetMemoryInfo(void*, FakeMemory* memory) {
  *memory = {1000, 600, 400};
  return 0;
}
NVML int nvmlDeviceGetTemperature(void*, unsigned sensor, unsigned* degrees) {
  *degrees = 61;
  return sensor == 0 ? 0 : 2;
}
NVML int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 250'500;
  return 0;
}
NVML int nvmlDeviceGetPowerManagementLimitConstraints(void*, unsigned* least, unsigned* most) {
  *least = 100'000;
  *most = 700'000;
  return 0;
}
NVML int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  *millijoules = 9'000;
  return 0;
}
NVML int nvmlDeviceGetClockInfo(void*, unsigned clock, unsigned* mhz) {
  *mhz = clock == 0 ? 1980 : 2619;
  return clock == 0 || clock == 2 ? 0 : 2;
}
NVML int nvmlDeviceGetPcieThroughput(void*, unsigned counter, unsigned* kib_per_s) {
  *kib_per_s = counter == 0 ? 10 : 20;
  return 0;
}
NVML int nvmlDeviceGetTotalEccErrors(void*, unsigned kind, unsigned counter, unsigned long long* count) {
  *count = kind == 0 ? 3 : 1;
  return counter == 1 ? 0 : 2;
}
NVML int nvmlDeviceGetSerial(void*, char* text, unsigned bytes) {
  std::snprintf(text, bytes, "1654922000042");
  return 0;
}
NVML int nvmlSystemGetDriverVersion(char* text, unsigned bytes) {
  std::snprintf(text, bytes, "550.90.07");
  return 0;
}
NVML int nvmlDeviceGetP2PStatus(void* one, void* other, unsigned what, unsigned* status) {
  *status = what == kNvlink && index_of(one) + index_of(other) == 1 ? 0 : kNoSuchLink;
  return 0;
}
NVML int nvmlDeviceGetTopologyCommonAncestor(void* one, void* other, unsigned* level) {
  *level = index_of(one) == 3 || index_of(other) == 3 ? 50 : 30;
  return 0;
}
