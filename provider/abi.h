// SPDX-License-Identifier: Apache-2.0
// The binary interface of a TensorFusion accelerator provider, as its hypervisor loads it: for C and C++.
// Described in our words; source: provider/accelerator.h of NexusGPU/tensor-fusion of 2026-03-18, and the
// hypervisor's own declarations (pkg/hypervisor/device/accelerator.go) of 2026-04-01. The two differ in one
// struct, so there are two layouts:
//   TF_ACCEL_HYPERVISOR_LAYOUT 0   the header's: a peer of 72 bytes
//   TF_ACCEL_HYPERVISOR_LAYOUT 1   the hypervisor's: a peer of 80 bytes, with a bandwidth
//
// Texts end with a zero. The caller owns all memory; nothing is kept after a call has returned, but the
// callback.
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifndef TF_ACCEL_HYPERVISOR_LAYOUT
#define TF_ACCEL_HYPERVISOR_LAYOUT 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum { TF_ACCEL_DEVICES_MAX = 64, TF_ACCEL_PROPERTIES_MAX = 64, TF_ACCEL_METRICS_MAX = 64 };
enum {
  TF_ACCEL_PARTITION_VARIABLES_MAX = 16,
  TF_ACCEL_PARTITION_NODES_MAX = 16,
  TF_ACCEL_PROCESSES_MAX = 1024
};

typedef enum {
  TF_ACCEL_SUCCESS = 0,
  TF_ACCEL_INVALID_PARAM = 1,
  TF_ACCEL_NOT_FOUND = 2,
  TF_ACCEL_NOT_SUPPORTED = 3,
  TF_ACCEL_RESOURCE_EXHAUSTED = 4,
  TF_ACCEL_OPERATION_FAILED = 5,
  TF_ACCEL_INTERNAL = 6
} tf_accel_result;

// How far apart two devices are, from the nearest.
typedef enum {
  TF_ACCEL_LEVEL_INTERNAL = 0,  // a link of the devices' own
  TF_ACCEL_LEVEL_SINGLE_SWITCH = 1,
  TF_ACCEL_LEVEL_MULTI_SWITCH = 2,
  TF_ACCEL_LEVEL_HOST_BRIDGE = 3,
  TF_ACCEL_LEVEL_NUMA_NODE = 4,
  TF_ACCEL_LEVEL_SYSTEM = 5,
  TF_ACCEL_LEVEL_SELF = 6,
  TF_ACCEL_LEVEL_UNKNOWN = 7
} tf_accel_level;

// What a partition is given to a worker by.
typedef enum { TF_ACCEL_BY_VARIABLES = 0, TF_ACCEL_BY_DEVICE_NODES = 1 } tf_accel_partition_type;

typedef struct {
  bool partitioning;
  bool soft_isolation;
  bool hard_isolation;
  bool snapshot;
  bool metrics;
  bool remoting;
  uint32_t partitions_max;
  uint32_t workers_max;  // at a time on one device
} tf_accel_capabilities;

typedef struct {
  char uuid[64];
  char vendor[32];
  char model[128];
  char driver[80];
  char firmware[64];
  char device_node[64];
  int32_t index;
  int32_t numa_node;  // -1: none
  uint64_t memory_bytes;
  uint64_t compute_units;
  double tflops_max;
  uint32_t pcie_generation;
  uint32_t pcie_width;
} tf_accel_basic;

typedef struct {
  char key[64];
  char value[256];
} tf_accel_property;

typedef struct {
  tf_accel_basic basic;
  tf_accel_property properties[TF_ACCEL_PROPERTIES_MAX];
  size_t property_count;
  tf_accel_capabilities capabilities;
} tf_accel_device;

typedef struct {
  char uuid[64];
  int32_t index;
  tf_accel_level level;
#if TF_ACCEL_HYPERVISOR_LAYOUT
  int64_t bandwidth_bytes_per_s;  // 0: not known
#endif
} tf_accel_peer;

typedef struct {
  char uuid[64];
  int32_t index;
  int32_t numa_node;
  tf_accel_peer peers[TF_ACCEL_DEVICES_MAX];
  size_t peer_count;
} tf_accel_neighbours;

typedef struct {
  tf_accel_neighbours devices[TF_ACCEL_DEVICES_MAX];
  size_t device_count;
} tf_accel_topology;

// Processes, or all that work on a device.
typedef struct {
  pid_t* processes;
  size_t process_count;
  const char* device_uuid;
} tf_accel_snapshot;

typedef struct {
  char key[64];
  double value;
} tf_accel_metric;

typedef struct {
  char process[32];  // its number, as text
  char device_uuid[64];
  double compute_percent;
  uint64_t compute_units_active;
  uint64_t compute_units;
  uint64_t memory_used_bytes;
  uint64_t memory_reserved_bytes;
  double memory_percent;
} tf_accel_process;

typedef struct {
  char device_uuid[64];
  double power_watts;
  double temperature_celsius;
  uint64_t pcie_received_bytes;
  uint64_t pcie_sent_bytes;
  uint32_t busy_percent;
  uint64_t memory_used_bytes;
  tf_accel_metric metrics[TF_ACCEL_METRICS_MAX];
  size_t metric_count;
} tf_accel_values;

typedef struct {
  char host_path[512];
  char guest_path[512];
} tf_accel_mount;

typedef struct {
  tf_accel_partition_type type;
  char device_uuid[64];                                   // of the partition
  char variables[TF_ACCEL_PARTITION_VARIABLES_MAX][256];  // "NAME=VALUE"; the first empty one ends them
  char device_nodes[TF_ACCEL_PARTITION_NODES_MAX][1026];  // "HOST=GUEST"
} tf_accel_partition;

typedef void (*tf_accel_log)(const char* level, const char* message);

#define TF_ACCEL_API __attribute__((visibility("default")))

TF_ACCEL_API tf_accel_result AccelInit(void);
TF_ACCEL_API tf_accel_result AccelShutdown(void);
TF_ACCEL_API tf_accel_result AccelGetDeviceCount(size_t* count);
TF_ACCEL_API tf_accel_result AccelGetAllDevices(tf_accel_device* devices, size_t most, size_t* count);
TF_ACCEL_API tf_accel_result AccelGetAllDevicesTopology(tf_accel_topology* topology);
// A template is "<N>g.<M>gb": N of the device's eight slices of compute units, and M GiB of its memory.
TF_ACCEL_API tf_accel_result AccelAssignPartition(const char* template_id, const char* uuid,
                                                  tf_accel_partition* partition);
// `id`: the partition's UUID, or its template (then the youngest one of that template on the device).
TF_ACCEL_API tf_accel_result AccelRemovePartition(const char* id, const char* uuid);
TF_ACCEL_API tf_accel_result AccelSetMemHardLimit(const char* uuid, uint64_t bytes);
TF_ACCEL_API tf_accel_result AccelSetComputeUnitHardLimit(const char* uuid, uint32_t percent);
TF_ACCEL_API tf_accel_result AccelSnapshot(tf_accel_snapshot* snapshot);
TF_ACCEL_API tf_accel_result AccelResume(tf_accel_snapshot* snapshot);
TF_ACCEL_API tf_accel_result AccelGetProcessInformation(tf_accel_process* processes, size_t most,
                                                        size_t* count);
TF_ACCEL_API tf_accel_result AccelGetDeviceMetrics(const char** uuids, size_t count, tf_accel_values* values);
TF_ACCEL_API tf_accel_result AccelGetVendorMountLibs(tf_accel_mount* mounts, size_t most, size_t* count);
// Null: none any longer. Levels: DEBUG, INFO, WARN, ERROR. Called by the thread that calls the library, with
// its lock held: it must not call back.
TF_ACCEL_API tf_accel_result AccelRegisterLogCallback(tf_accel_log callback);

#ifdef __cplusplus
}
#endif

#define TF_ACCEL_SIZE(type, bytes) static_assert(sizeof(type) == (bytes), #type)
#define TF_ACCEL_AT(type, member, bytes) static_assert(offsetof(type, member) == (bytes), #type "." #member)
enum {
  TF_ACCEL_PEER_BYTES = TF_ACCEL_HYPERVISOR_LAYOUT ? 80 : 72,
  TF_ACCEL_NEIGHBOURS_BYTES = TF_ACCEL_HYPERVISOR_LAYOUT ? 5200 : 4688,
  TF_ACCEL_TOPOLOGY_BYTES = TF_ACCEL_HYPERVISOR_LAYOUT ? 332808 : 300040
};
TF_ACCEL_SIZE(tf_accel_result, 4);
TF_ACCEL_SIZE(tf_accel_capabilities, 16);
TF_ACCEL_AT(tf_accel_capabilities, remoting, 5);
TF_ACCEL_AT(tf_accel_capabilities, partitions_max, 8);
TF_ACCEL_AT(tf_accel_capabilities, workers_max, 12);
TF_ACCEL_SIZE(tf_accel_basic, 472);
TF_ACCEL_AT(tf_accel_basic, vendor, 64);
TF_ACCEL_AT(tf_accel_basic, model, 96);
TF_ACCEL_AT(tf_accel_basic, driver, 224);
TF_ACCEL_AT(tf_accel_basic, firmware, 304);
TF_ACCEL_AT(tf_accel_basic, device_node, 368);
TF_ACCEL_AT(tf_accel_basic, index, 432);
TF_ACCEL_AT(tf_accel_basic, numa_node, 436);
TF_ACCEL_AT(tf_accel_basic, memory_bytes, 440);
TF_ACCEL_AT(tf_accel_basic, compute_units, 448);
TF_ACCEL_AT(tf_accel_basic, tflops_max, 456);
TF_ACCEL_AT(tf_accel_basic, pcie_generation, 464);
TF_ACCEL_AT(tf_accel_basic, pcie_width, 468);
TF_ACCEL_SIZE(tf_accel_property, 320);
TF_ACCEL_SIZE(tf_accel_device, 20976);
TF_ACCEL_AT(tf_accel_device, properties, 472);
TF_ACCEL_AT(tf_accel_device, property_count, 472 + 20480);
TF_ACCEL_AT(tf_accel_device, capabilities, 20960);
TF_ACCEL_SIZE(tf_accel_peer, TF_ACCEL_PEER_BYTES);
TF_ACCEL_AT(tf_accel_peer, index, 64);
TF_ACCEL_AT(tf_accel_peer, level, 68);
TF_ACCEL_SIZE(tf_accel_neighbours, TF_ACCEL_NEIGHBOURS_BYTES);
TF_ACCEL_AT(tf_accel_neighbours, index, 64);
TF_ACCEL_AT(tf_accel_neighbours, numa_node, 68);
TF_ACCEL_AT(tf_accel_neighbours, peers, 72);
TF_ACCEL_AT(tf_accel_neighbours, peer_count, TF_ACCEL_NEIGHBOURS_BYTES - 8);
TF_ACCEL_SIZE(tf_accel_topology, TF_ACCEL_TOPOLOGY_BYTES);
TF_ACCEL_AT(tf_accel_topology, device_count, TF_ACCEL_TOPOLOGY_BYTES - 8);
TF_ACCEL_SIZE(tf_accel_snapshot, 24);
TF_ACCEL_AT(tf_accel_snapshot, device_uuid, 16);
TF_ACCEL_SIZE(tf_accel_metric, 72);
TF_ACCEL_SIZE(tf_accel_process, 144);
TF_ACCEL_AT(tf_accel_process, device_uuid, 32);
TF_ACCEL_AT(tf_accel_process, compute_percent, 96);
TF_ACCEL_AT(tf_accel_process, memory_used_bytes, 120);
TF_ACCEL_AT(tf_accel_process, memory_percent, 136);
TF_ACCEL_SIZE(tf_accel_values, 4728);
TF_ACCEL_AT(tf_accel_values, power_watts, 64);
TF_ACCEL_AT(tf_accel_values, temperature_celsius, 72);
TF_ACCEL_AT(tf_accel_values, pcie_received_bytes, 80);
TF_ACCEL_AT(tf_accel_values, pcie_sent_bytes, 88);
TF_ACCEL_AT(tf_accel_values, busy_percent, 96);
TF_ACCEL_AT(tf_accel_values, memory_used_bytes, 104);
TF_ACCEL_AT(tf_accel_values, metrics, 112);
TF_ACCEL_AT(tf_accel_values, metric_count, 4720);
TF_ACCEL_SIZE(tf_accel_mount, 1024);
TF_ACCEL_SIZE(tf_accel_partition, 20580);
TF_ACCEL_AT(tf_accel_partition, device_uuid, 4);
TF_ACCEL_AT(tf_accel_partition, variables, 68);
TF_ACCEL_AT(tf_accel_partition, device_nodes, 4164);
