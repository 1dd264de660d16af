/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the provider as TensorFusion's hypervisor does, in C. Compiled once for each layout.
 *   provider_client LIBRARY NAME     every function, with good and bad arguments; NAME: as TF_PROVIDER_SIMULATED says
 *   provider_client LIBRARY NAME N   loads, initialises, uses, shuts down and unloads it N times
 * Ends with 0, or says what was wrong. */
#include "provider/abi.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STACK_GUARD = 0x5a };

static int failures;
static int lines;

#define EXPECT(condition)                                                 \
  do {                                                                    \
    if (!(condition)) {                                                   \
      ++failures;                                                         \
      fprintf(stderr, "line %d: %s does not hold\n", __LINE__, #condition); \
    }                                                                     \
  } while (0)

struct provider {
  void* library;
  tf_accel_result (*init)(void);
  tf_accel_result (*shutdown)(void);
  tf_accel_result (*count)(size_t*);
  tf_accel_result (*devices)(tf_accel_device*, size_t, size_t*);
  tf_accel_result (*topology)(tf_accel_topology*);
  tf_accel_result (*assign)(const char*, const char*, tf_accel_partition*);
  tf_accel_result (*remove)(const char*, const char*);
  tf_accel_result (*memory)(const char*, uint64_t);
  tf_accel_result (*compute)(const char*, uint32_t);
  tf_accel_result (*snapshot)(tf_accel_snapshot*);
  tf_accel_result (*resume)(tf_accel_snapshot*);
  tf_accel_result (*processes)(tf_accel_process*, size_t, size_t*);
  tf_accel_result (*metrics)(const char**, size_t, tf_accel_values*);
  tf_accel_result (*mounts)(tf_accel_mount*, size_t, size_t*);
  tf_accel_result (*log)(tf_accel_log);
};

static void* find(void* library, const char* name) {
  void* const symbol = dlsym(library, name);
  if (symbol == NULL) {
    fprintf(stderr, "there is no %s\n", name);
    exit(1);
  }
  return symbol;
}

static struct provider load(const char* path) {
  struct provider one;
  one.library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (one.library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
#define FIND(member, name) *(void**)(&one.member) = find(one.library, name)
  FIND(init, "AccelInit");
  FIND(shutdown, "AccelShutdown");
  FIND(count, "AccelGetDeviceCount");
  FIND(devices, "AccelGetAllDevices");
  FIND(topology, "AccelGetAllDevicesTopology");
  FIND(assign, "AccelAssignPartition");
  FIND(remove, "AccelRemovePartition");
  FIND(memory, "AccelSetMemHardLimit");
  FIND(compute, "AccelSetComputeUnitHardLimit");
  FIND(snapshot, "AccelSnapshot");
  FIND(resume, "AccelResume");
  FIND(processes, "AccelGetProcessInformation");
  FIND(metrics, "AccelGetDeviceMetrics");
  FIND(mounts, "AccelGetVendorMountLibs");
  FIND(log, "AccelRegisterLogCallback");
  return one;
}

static void hear(const char* level, const char* message) {
  EXPECT(level != NULL && strcmp(level, "FATAL") != 0);
  EXPECT(message != NULL && message[0] != '\0');
  ++lines;
}

static void ask_devices(const struct provider* one, const char* name) {
  size_t count = 0;
  EXPECT(one->count(NULL) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->count(&count) == TF_ACCEL_SUCCESS);
  EXPECT(count == 2);
  tf_accel_device* const devices = malloc(3 * sizeof *devices);
  memset(devices, STACK_GUARD, 3 * sizeof *devices);
  EXPECT(one->devices(NULL, 2, &count) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->devices(devices, 0, &count) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->devices(devices, 2, NULL) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->devices(devices, 1, &count) == TF_ACCEL_SUCCESS && count == 1);
  EXPECT(((const char*)&devices[1])[0] == STACK_GUARD);
  EXPECT(one->devices(devices, 2, &count) == TF_ACCEL_SUCCESS && count == 2);
  EXPECT(((const char*)&devices[2])[0] == STACK_GUARD);
  for (int index = 0; index < 2; ++index) {
    const tf_accel_basic* const basic = &devices[index].basic;
    char uuid[64];
    snprintf(uuid, sizeof uuid, "%s-%d", name, index);
    EXPECT(strcmp(basic->uuid, uuid) == 0);
    EXPECT(strstr(basic->model, "Simulated") != NULL);
    EXPECT(strcmp(basic->vendor, "AMD") != 0);
    EXPECT(basic->index == index && basic->numa_node == -1);
    EXPECT(basic->memory_bytes > 0 && basic->compute_units > 0 && basic->tflops_max > 0);
    EXPECT(devices[index].property_count > 0 && devices[index].property_count < 64);
    EXPECT(devices[index].capabilities.partitions_max > 0 && devices[index].capabilities.workers_max > 0);
    EXPECT(!devices[index].capabilities.hard_isolation && !devices[index].capabilities.snapshot);
  }
  free(devices);
}

static void ask_topology(const struct provider* one, const char* name) {
  /* A byte behind what this layout has must stay. */
  unsigned char* const memory = malloc(sizeof(tf_accel_topology) + 1);
  memset(memory, STACK_GUARD, sizeof(tf_accel_topology) + 1);
  tf_accel_topology* const topology = (tf_accel_topology*)(void*)memory;
  EXPECT(one->topology(NULL) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->topology(topology) == TF_ACCEL_SUCCESS);
  EXPECT(memory[sizeof(tf_accel_topology)] == STACK_GUARD);
  EXPECT(topology->device_count == 2);
  EXPECT(topology->devices[1].peer_count == 1);
  EXPECT(strncmp(topology->devices[1].uuid, name, strlen(name)) == 0);
  EXPECT(topology->devices[1].peers[0].index == 0);
  EXPECT(topology->devices[1].peers[0].level == TF_ACCEL_LEVEL_INTERNAL);
  free(memory);
}

static void ask_partitions(const struct provider* one, const char* uuid) {
  static tf_accel_partition partition;
  EXPECT(one->assign(NULL, uuid, &partition) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->assign("", uuid, &partition) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->assign("1g.1gb", NULL, &partition) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->assign("1g.1gb", uuid, NULL) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->assign("a lot", uuid, &partition) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->assign("9g.1gb", uuid, &partition) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->assign("1g.1gb", "nobody-0", &partition) == TF_ACCEL_NOT_FOUND);
  EXPECT(one->assign("1g.1000000gb", uuid, &partition) == TF_ACCEL_RESOURCE_EXHAUSTED);
  EXPECT(one->assign("1g.1gb", uuid, &partition) == TF_ACCEL_SUCCESS);
  EXPECT(partition.type == TF_ACCEL_BY_VARIABLES);
  EXPECT(strncmp(partition.variables[0], "HIP_VISIBLE_DEVICES=GPU-", 24) == 0);
  EXPECT(strcmp(partition.variables[1], "TF_LIMIT=memory=1073741824") == 0);
  EXPECT(partition.variables[2][0] == '\0' && partition.device_nodes[0][0] == '\0');
  EXPECT(one->remove(NULL, uuid) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->remove(partition.device_uuid, NULL) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->remove("nothing", uuid) == TF_ACCEL_NOT_FOUND);
  EXPECT(one->remove(partition.device_uuid, "nobody-0") == TF_ACCEL_NOT_FOUND);
  EXPECT(one->remove(partition.device_uuid, uuid) == TF_ACCEL_SUCCESS);
  EXPECT(one->remove(partition.device_uuid, uuid) == TF_ACCEL_NOT_FOUND);
}

static void ask_limits(const struct provider* one, const char* uuid) {
  EXPECT(one->memory(NULL, 1) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->memory("", 1) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->memory(uuid, 0) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->memory(uuid, UINT64_MAX) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->memory("nobody-0", 1 << 20) == TF_ACCEL_NOT_FOUND);
  unsetenv("TF_DEVICE_LIMITS");
  EXPECT(one->memory(uuid, 1 << 20) == TF_ACCEL_NOT_SUPPORTED);
  setenv("TF_DEVICE_LIMITS", "/nowhere/limits", 1);
  EXPECT(one->memory(uuid, 1 << 20) == TF_ACCEL_OPERATION_FAILED);
  EXPECT(one->compute(NULL, 50) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->compute(uuid, 0) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->compute(uuid, 101) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->compute("nobody-0", 50) == TF_ACCEL_NOT_FOUND);
  const int before = lines;
  EXPECT(one->compute(uuid, 50) == TF_ACCEL_NOT_SUPPORTED);
  EXPECT(lines == before + 1);
}

static void ask_snapshots(const struct provider* one, tf_accel_result (*function)(tf_accel_snapshot*)) {
  pid_t own = getpid();
  pid_t none = 0;
  tf_accel_snapshot snapshot = {NULL, 0, NULL};
  (void)one;
  EXPECT(function(NULL) == TF_ACCEL_INVALID_PARAM);
  EXPECT(function(&snapshot) == TF_ACCEL_INVALID_PARAM);
  snapshot.process_count = 1;
  EXPECT(function(&snapshot) == TF_ACCEL_INVALID_PARAM);
  snapshot.processes = &none;
  EXPECT(function(&snapshot) == TF_ACCEL_INVALID_PARAM);
  snapshot.processes = &own; /* no session: it would stand still for ever */
  EXPECT(function(&snapshot) == TF_ACCEL_NOT_FOUND);
  snapshot.process_count = SIZE_MAX;
  EXPECT(function(&snapshot) == TF_ACCEL_INVALID_PARAM);
  const tf_accel_snapshot device = {NULL, 0, "nobody-0"};
  snapshot = device;
  EXPECT(function(&snapshot) == TF_ACCEL_NOT_FOUND);
}

static void ask_states(const struct provider* one, const char* uuid) {
  size_t count = 77;
  tf_accel_process* const processes = calloc(8, sizeof *processes);
  EXPECT(one->processes(NULL, 8, &count) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->processes(processes, 0, &count) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->processes(processes, 8, NULL) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->processes(processes, 8, &count) == TF_ACCEL_SUCCESS && count <= 8);
  free(processes);
  static tf_accel_values values[2];
  const char* uuids[] = {uuid, uuid};
  const char* unknown[] = {uuid, "nobody-0"};
  const char* missing[] = {uuid, NULL};
  EXPECT(one->metrics(NULL, 1, values) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->metrics(uuids, 0, values) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->metrics(uuids, 65, values) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->metrics(uuids, 2, NULL) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->metrics(missing, 2, values) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->metrics(unknown, 2, values) == TF_ACCEL_NOT_FOUND);
  EXPECT(one->metrics(uuids, 2, values) == TF_ACCEL_SUCCESS);
  EXPECT(strcmp(values[1].device_uuid, uuid) == 0);
  EXPECT(values[0].power_watts >= 0 && values[0].power_watts < 2000);
  EXPECT(values[0].temperature_celsius >= 0 && values[0].temperature_celsius < 150);
  EXPECT(values[0].busy_percent <= 100 && values[0].metric_count <= 64);
  tf_accel_mount* const mounts = calloc(4, sizeof *mounts);
  EXPECT(one->mounts(NULL, 4, &count) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->mounts(mounts, 0, &count) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->mounts(mounts, 4, NULL) == TF_ACCEL_INVALID_PARAM);
  EXPECT(one->mounts(mounts, 4, &count) == TF_ACCEL_SUCCESS && count == 0);
  free(mounts);
}

static void ask_all(const struct provider* one, const char* name, const char* uuid) {
  ask_devices(one, name);
  ask_topology(one, name);
  ask_partitions(one, uuid);
  ask_limits(one, uuid);
  ask_snapshots(one, one->snapshot);
  ask_snapshots(one, one->resume);
  ask_states(one, uuid);
}

static long resident_kib(void) {
  FILE* const file = fopen("/proc/self/statm", "r");
  long pages = 0;
  if (file == NULL || fscanf(file, "%*d %ld", &pages) != 1) exit(1);
  fclose(file);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int open_files(void) {
  DIR* const folder = opendir("/proc/self/fd");
  int files = 0;
  if (folder == NULL) exit(1);
  while (readdir(folder) != NULL) ++files;
  closedir(folder);
  return files;
}

static long cycle(const char* path, int times) {
  for (int done = 0; done < times; ++done) {
    const struct provider one = load(path);
    size_t count = 0;
    if (one.init() != TF_ACCEL_SUCCESS || one.count(&count) != TF_ACCEL_SUCCESS || count != 2 ||
        one.shutdown() != TF_ACCEL_SUCCESS || dlclose(one.library) != 0)
      exit(1);
  }
  return resident_kib();
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  char uuid[64];
  snprintf(uuid, sizeof uuid, "%s-0", argv[2]);
  if (argc > 3) {
    const long before = cycle(argv[1], 50);
    const int files = open_files();
    const long after = cycle(argv[1], atoi(argv[3]));
    printf("%ld KiB and %d files, then %ld KiB and %d files\n", before, files, after, open_files());
    return after > before + 1024 || open_files() > files;
  }
  const struct provider one = load(argv[1]);
  EXPECT(one.log(hear) == TF_ACCEL_SUCCESS);
  EXPECT(one.init() == TF_ACCEL_SUCCESS && one.init() == TF_ACCEL_SUCCESS);
  EXPECT(lines >= 2);
  ask_all(&one, argv[2], uuid);
  EXPECT(one.shutdown() == TF_ACCEL_SUCCESS && one.shutdown() == TF_ACCEL_SUCCESS);
  ask_all(&one, argv[2], uuid); /* opens the devices by itself */
  EXPECT(one.shutdown() == TF_ACCEL_SUCCESS);
  EXPECT(one.log(NULL) == TF_ACCEL_SUCCESS);
  lines = 0;
  EXPECT(one.compute(uuid, 50) == TF_ACCEL_NOT_SUPPORTED);
  EXPECT(lines == 0);
  return failures != 0;
}
