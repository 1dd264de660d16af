// SPDX-License-Identifier: Apache-2.0
// A stand-in for NVML: one device, 0000:41:00.0, with values that tests know. What is left out, a driver may
// lack.
#include <cstdio>
#include <cstring>

#define NVML extern "C" __attribute__((visibility("default")))

namespace {

int the_device;
constexpr int kNotFound = 6;
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
  if (std::strcmp(id, "0000:41:00.0") != 0) return kNotFound;
  *device = &the_device;
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
