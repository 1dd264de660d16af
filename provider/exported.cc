// SPDX-License-Identifier: Apache-2.0
// The functions that TensorFusion's hypervisor looks up. They look at pointers and ranges, take the lock, and
// let no exception out. Calls are few (minutes apart), so one lock does for all.
#include <algorithm>
#include <cstring>
#include <exception>
#include <span>
#include <string>

#include "provider/abi.h"
#include "provider/log.h"
#include "provider/provider.h"
#include "transport/base/mutex.h"

namespace {

using tf::provider::Provider;

constexpr std::size_t kTextBytesMax = 4096;  // of a UUID or template that is looked for
constexpr std::size_t kProcessesOfSnapshotMax = 65536;

tf::Mutex mutex;

// Never destroyed: the program's threads may call while it exits.
Provider& provider() {
  static Provider* const one = new Provider;
  return *one;
}

template <typename Function>
tf_accel_result guarded(Function function) {
  try {
    const tf::MutexLock lock(mutex);
    return function(provider());
  } catch (const std::exception& error) {
    tf::provider::log_error(std::string("an unexpected failure: ") + error.what());
    return TF_ACCEL_INTERNAL;
  } catch (...) {
    return TF_ACCEL_INTERNAL;
  }
}

bool is_text(const char* text) {
  if (text == nullptr || *text == '\0') return false;
  return ::strnlen(text, kTextBytesMax) < kTextBytesMax;
}

bool is_snapshot(const tf_accel_snapshot* snapshot) {
  if (snapshot == nullptr) return false;
  if (snapshot->process_count == 0) return is_text(snapshot->device_uuid);
  if (snapshot->device_uuid != nullptr && !is_text(snapshot->device_uuid)) return false;
  if (snapshot->processes == nullptr || snapshot->process_count > kProcessesOfSnapshotMax) return false;
  return std::all_of(snapshot->processes, snapshot->processes + snapshot->process_count,
                     [](pid_t pid) { return pid > 0; });
}

tf_accel_result move(tf_accel_snapshot* snapshot, bool stop) {
  if (!is_snapshot(snapshot)) return TF_ACCEL_INVALID_PARAM;
  return guarded([&](Provider& one) { return one.move(*snapshot, stop); });
}

}  // namespace

tf_accel_result AccelInit() {
  return guarded([](Provider& one) { return one.open(); });
}

tf_accel_result AccelShutdown() {
  return guarded([](Provider& one) {
    one.close();
    return TF_ACCEL_SUCCESS;
  });
}

tf_accel_result AccelGetDeviceCount(size_t* count) {
  if (count == nullptr) return TF_ACCEL_INVALID_PARAM;
  return guarded([&](Provider& one) { return one.count(*count); });
}

tf_accel_result AccelGetAllDevices(tf_accel_device* devices, size_t most, size_t* count) {
  if (devices == nullptr || most == 0 || count == nullptr) return TF_ACCEL_INVALID_PARAM;
  return guarded([&](Provider& one) { return one.describe({devices, most}, *count); });
}

tf_accel_result AccelGetAllDevicesTopology(tf_accel_topology* topology) {
  if (topology == nullptr) return TF_ACCEL_INVALID_PARAM;
  return guarded([&](Provider& one) { return one.describe(*topology); });
}

tf_accel_result AccelAssignPartition(const char* template_id, const char* uuid,
                                     tf_accel_partition* partition) {
  if (!is_text(template_id) || !is_text(uuid) || partition == nullptr) return TF_ACCEL_INVALID_PARAM;
  return guarded([&](Provider& one) { return one.assign(template_id, uuid, *partition); });
}

tf_accel_result AccelRemovePartition(const char* id, const char* uuid) {
  if (!is_text(id) || !is_text(uuid)) return TF_ACCEL_INVALID_PARAM;
  return guarded([&](Provider& one) { return one.remove(id, uuid); });
}

tf_accel_result AccelSetMemHardLimit(const char* uuid, uint64_t bytes) {
  if (!is_text(uuid) || bytes == 0) return TF_ACCEL_INVALID_PARAM;
  return guarded([&](Provider& one) { return one.limit_memory(uuid, bytes); });
}

tf_accel_result AccelSetComputeUnitHardLimit(const char* uuid, uint32_t percent) {
  if (!is_text(uuid) || percent == 0 || percent > 100) return TF_ACCEL_INVALID_PARAM;
  return guarded([&](Provider& one) { return one.limit_compute(uuid, percent); });
}

tf_accel_result AccelSnapshot(tf_accel_snapshot* snapshot) { return move(snapshot, true); }
tf_accel_result AccelResume(tf_accel_snapshot* snapshot) { return move(snapshot, false); }

tf_accel_result AccelGetProcessInformation(tf_accel_process* processes, size_t most, size_t* count) {
  if (processes == nullptr || most == 0 || count == nullptr) return TF_ACCEL_INVALID_PARAM;
  return guarded([&](Provider& one) { return one.list(std::span(processes, most), *count); });
}

// All or none: the hypervisor reads nothing of a call that failed.
tf_accel_result AccelGetDeviceMetrics(const char** uuids, size_t count, tf_accel_values* values) {
  if (uuids == nullptr || count == 0 || count > TF_ACCEL_DEVICES_MAX || values == nullptr ||
      !std::all_of(uuids, uuids + count, is_text))
    return TF_ACCEL_INVALID_PARAM;
  return guarded([&](Provider& one) {
    for (size_t index = 0; index < count; ++index)
      if (const tf_accel_result done = one.sample(uuids[index], values[index]); done != TF_ACCEL_SUCCESS)
        return done;
    return TF_ACCEL_SUCCESS;
  });
}

tf_accel_result AccelGetVendorMountLibs(tf_accel_mount* mounts, size_t most, size_t* count) {
  if (mounts == nullptr || most == 0 || count == nullptr) return TF_ACCEL_INVALID_PARAM;
  return guarded([&](Provider& one) { return one.list(std::span(mounts, most), *count); });
}

tf_accel_result AccelRegisterLogCallback(tf_accel_log callback) {
  tf::provider::set_log(callback);
  return TF_ACCEL_SUCCESS;
}
