/* SPDX-License-Identifier: Apache-2.0
 * A program in C that was written for the vendor's library, and compiled with the vendor's header.
 *
 * Prints one line for each device: index, name, memory in use, memory in all, percent. Exits with the number
 * of the check that failed.
 */
#include <inttypes.h>
#include <rocm_smi/rocm_smi.h>
#include <stdio.h>
#include <string.h>

#define CHECK(number, condition)                             \
  do {                                                       \
    if (!(condition)) {                                      \
      fprintf(stderr, "check %d: " #condition "\n", number); \
      return number;                                         \
    }                                                        \
  } while (0)

static int look_at(uint32_t device) {
  char name[128];
  uint64_t total = 0;
  uint64_t used = 0;
  uint32_t busy = 0;
  uint64_t bdf = 0;
  rsmi_frequencies_t clocks;
  struct {
    rsmi_frequencies_t clocks;
    uint32_t behind;
  } guarded;
  CHECK(20, rsmi_dev_name_get(device, name, sizeof name) == RSMI_STATUS_SUCCESS);
  CHECK(21, rsmi_dev_name_get(device, name, 3) == RSMI_STATUS_INSUFFICIENT_SIZE && strlen(name) == 2);
  CHECK(22, rsmi_dev_name_get(device, NULL, 3) == RSMI_STATUS_INVALID_ARGS);
  CHECK(23, rsmi_dev_name_get(device, name, sizeof name) == RSMI_STATUS_SUCCESS);
  CHECK(24,
        rsmi_dev_memory_total_get(device, RSMI_MEM_TYPE_VRAM, &total) == RSMI_STATUS_SUCCESS && total != 0);
  CHECK(25,
        rsmi_dev_memory_usage_get(device, RSMI_MEM_TYPE_VRAM, &used) == RSMI_STATUS_SUCCESS && used <= total);
  CHECK(26, rsmi_dev_memory_total_get(device, RSMI_MEM_TYPE_VRAM, NULL) == RSMI_STATUS_INVALID_ARGS);
  CHECK(27, rsmi_dev_memory_total_get(device, (rsmi_memory_type_t)9, &total) == RSMI_STATUS_INVALID_ARGS);
  CHECK(28, rsmi_dev_busy_percent_get(device, &busy) == RSMI_STATUS_SUCCESS && busy <= 100);
  CHECK(29, rsmi_dev_busy_percent_get(device, NULL) == RSMI_STATUS_INVALID_ARGS);
  CHECK(30, rsmi_dev_pci_id_get(device, &bdf) == RSMI_STATUS_SUCCESS);
  memset(&guarded, 0x5a, sizeof guarded);
  if (rsmi_dev_gpu_clk_freq_get(device, RSMI_CLK_TYPE_SYS, &guarded.clocks) == RSMI_STATUS_SUCCESS) {
    clocks = guarded.clocks;
    CHECK(31, clocks.num_supported >= 1 && clocks.current < clocks.num_supported);
    CHECK(32, clocks.frequency[clocks.current] > 1000000);
    CHECK(33, guarded.behind == 0x5a5a5a5a);
  }
  printf("%" PRIu32 "\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu32 "\n", device, name, used, total, busy);
  return 0;
}

/* What a tenant may not do, and what is no device. */
static int try_to_change(void) {
  uint64_t value = 0;
  CHECK(40, rsmi_dev_power_cap_set(0, 0, 1000000) == RSMI_STATUS_PERMISSION);
  CHECK(41, rsmi_dev_gpu_clk_freq_set(0, RSMI_CLK_TYPE_SYS, 1) == RSMI_STATUS_PERMISSION);
  CHECK(42, rsmi_dev_gpu_reset(0) == RSMI_STATUS_PERMISSION);
  CHECK(43, rsmi_dev_fan_speed_set(0, 0, 100) == RSMI_STATUS_PERMISSION);
  CHECK(44, rsmi_dev_perf_level_set(0, RSMI_DEV_PERF_LEVEL_HIGH) == RSMI_STATUS_PERMISSION);
  CHECK(45, rsmi_dev_unique_id_get(63, &value) == RSMI_STATUS_INVALID_ARGS);
  CHECK(46, rsmi_dev_unique_id_get(0xffffffff, &value) == RSMI_STATUS_INVALID_ARGS);
  CHECK(47, rsmi_dev_power_cap_set(63, 0, 1) == RSMI_STATUS_INVALID_ARGS);
  CHECK(48, rsmi_event_notification_init(0) == RSMI_STATUS_NOT_SUPPORTED);
  return 0;
}

static int look_at_processes(void) {
  rsmi_process_info_t processes[64];
  uint32_t count = 0;
  CHECK(50, rsmi_compute_process_info_get(NULL, &count) == RSMI_STATUS_SUCCESS && count <= 64);
  const uint32_t expected = count;
  CHECK(51, rsmi_compute_process_info_get(processes, &count) == RSMI_STATUS_SUCCESS && count == expected);
  for (uint32_t each = 0; each < count; ++each) {
    uint32_t devices[64];
    uint32_t device_count = 64;
    CHECK(52, rsmi_compute_process_gpus_get(processes[each].process_id, devices, &device_count) == 0);
    printf("process\t%" PRIu32 "\t%" PRIu64 "\t%" PRIu32 "\n", processes[each].process_id,
           processes[each].vram_usage, device_count);
  }
  rsmi_process_info_t none;
  CHECK(53, rsmi_compute_process_info_by_pid_get(0x7ffffffe, &none) == RSMI_STATUS_NOT_FOUND);
  return 0;
}

int main(void) {
  uint32_t count = 0;
  const char* text = NULL;
  rsmi_version_t version;
  CHECK(1, rsmi_num_monitor_devices(&count) == RSMI_STATUS_INIT_ERROR);
  CHECK(2, rsmi_shut_down() == RSMI_STATUS_INIT_ERROR);
  char driver[64];
  CHECK(13, rsmi_version_str_get(RSMI_SW_COMP_DRIVER, driver, sizeof driver) == RSMI_STATUS_SUCCESS && *driver);
  CHECK(14, rsmi_num_monitor_devices(&count) == RSMI_STATUS_INIT_ERROR);
  CHECK(3, rsmi_init(0) == RSMI_STATUS_SUCCESS && rsmi_init(0) == RSMI_STATUS_SUCCESS);
  CHECK(4, rsmi_status_string(RSMI_STATUS_PERMISSION, &text) == RSMI_STATUS_SUCCESS &&
               strstr(text, "permission"));
  CHECK(5, rsmi_version_get(&version) == RSMI_STATUS_SUCCESS && version.major == OF_MAJOR && version.build != NULL);
  CHECK(6, rsmi_num_monitor_devices(NULL) == RSMI_STATUS_INVALID_ARGS);
  CHECK(7, rsmi_num_monitor_devices(&count) == RSMI_STATUS_SUCCESS && count > 0);
  for (uint32_t device = 0; device < count; ++device) {
    const int failed = look_at(device);
    if (failed != 0) return failed;
  }
  int failed = try_to_change();
  if (failed == 0) failed = look_at_processes();
  if (failed != 0) return failed;
  CHECK(8, rsmi_shut_down() == RSMI_STATUS_SUCCESS);
  CHECK(9, rsmi_num_monitor_devices(&count) == RSMI_STATUS_SUCCESS);
  CHECK(10, rsmi_shut_down() == RSMI_STATUS_SUCCESS);
  CHECK(11, rsmi_num_monitor_devices(&count) == RSMI_STATUS_INIT_ERROR);
  for (int round = 0; round < 20; ++round) CHECK(12, rsmi_init(0) == 0 && rsmi_shut_down() == 0);
  return 0;
}
