// SPDX-License-Identifier: Apache-2.0
// Limits, partitions, processes.
#include "provider/provider.h"

#include <strings.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "hipcore/limits/device_limits.h"
#include "provider/fill.h"
#include "provider/log.h"
#include "provider/sessions.h"

namespace tf::provider {
namespace {

// The interface's word for a failure of ours, whose reason is logged.
tf_accel_result told(const Status& status) {
  if (status) return TF_ACCEL_SUCCESS;
  log_error(status.message());
  switch (status.code()) {
    case Code::kInvalidArgument: return TF_ACCEL_INVALID_PARAM;
    case Code::kUnavailable: return TF_ACCEL_NOT_FOUND;
    case Code::kUnsupported: return TF_ACCEL_NOT_SUPPORTED;
    case Code::kResourceExhausted: return TF_ACCEL_RESOURCE_EXHAUSTED;
    default: return TF_ACCEL_OPERATION_FAILED;
  }
}

// The hypervisor may have made the letters small.
bool same(std::string_view one, std::string_view other) {
  return one.size() == other.size() && ::strncasecmp(one.data(), other.data(), one.size()) == 0;
}

// Folders of ROCm whose libraries AMD's runtime in the worker needs.
constexpr const char* kRocmFolders[] = {"/opt/rocm/lib"};

}  // namespace

tf_accel_result Provider::open() {
  if (source_ != nullptr) return TF_ACCEL_SUCCESS;
  Result<std::unique_ptr<Source>> opened = open_source();
  if (!opened) {
    log_error("there are no devices: " + opened.status().message());
    return opened.code() == Code::kInvalidArgument ? TF_ACCEL_INVALID_PARAM : TF_ACCEL_OPERATION_FAILED;
  }
  source_ = std::move(*opened);
  for (const Device& device : source_->devices())
    log_info((device.simulated ? "a simulated device: " : "a device: ") + device.uuid + ", " + device.model);
  return TF_ACCEL_SUCCESS;
}

const Device* Provider::find(std::string_view uuid, tf_accel_result& why) {
  why = open();
  if (why != TF_ACCEL_SUCCESS) return nullptr;
  const auto& devices = source_->devices();
  const auto found = std::ranges::find_if(devices, [&](const Device& one) { return same(one.uuid, uuid); });
  if (found != devices.end()) return &*found;
  log_warning("there is no device " + std::string(uuid));
  why = TF_ACCEL_NOT_FOUND;
  return nullptr;
}

tf_accel_result Provider::count(std::size_t& count) {
  const tf_accel_result opened = open();
  if (opened == TF_ACCEL_SUCCESS)
    count = std::min<std::size_t>(source_->devices().size(), TF_ACCEL_DEVICES_MAX);
  return opened;
}

tf_accel_result Provider::describe(std::span<tf_accel_device> devices, std::size_t& count) {
  const tf_accel_result opened = open();
  if (opened != TF_ACCEL_SUCCESS) return opened;
  count = std::min({devices.size(), source_->devices().size(), std::size_t{TF_ACCEL_DEVICES_MAX}});
  for (std::size_t index = 0; index < count; ++index)
    fill(source_->devices()[index], static_cast<int>(index), devices[index]);
  return TF_ACCEL_SUCCESS;
}

tf_accel_result Provider::describe(tf_accel_topology& topology) {
  const tf_accel_result opened = open();
  if (opened == TF_ACCEL_SUCCESS) fill(source_->devices(), topology);
  return opened;
}

tf_accel_result Provider::assign(std::string_view template_id, std::string_view uuid,
                                 tf_accel_partition& partition) {
  tf_accel_result why{};
  const Device* const device = find(uuid, why);
  if (device == nullptr) return why;
  Result<Partition> made = partitions_.assign(template_id, *device);
  if (!made) return told(made.status());
  fill(*made, partition);
  log_info("partition " + made->uuid + " of template " + std::string(template_id) +
           (device->simulated ? ": memory only, a simulated device's processors are not divided" : ""));
  return TF_ACCEL_SUCCESS;
}

tf_accel_result Provider::remove(std::string_view id, std::string_view uuid) {
  tf_accel_result why{};
  const Device* const device = find(uuid, why);
  return device != nullptr ? told(partitions_.remove(id, *device)) : why;
}

tf_accel_result Provider::limit_memory(std::string_view uuid, std::uint64_t bytes) {
  tf_accel_result why{};
  const Device* const device = find(uuid, why);
  if (device == nullptr) return why;
  if (bytes > device->memory_bytes)
    return told({Code::kInvalidArgument, "a limit above the memory of " + device->uuid});
  const char* const file = std::getenv("TF_DEVICE_LIMITS");
  if (file == nullptr || *file == '\0')
    return told({Code::kUnsupported, "TF_DEVICE_LIMITS names no file that workers read limits from"});
  if (device->visible.empty())
    return told(
        {Code::kUnsupported, device->uuid + " has no number of its own, by which workers would know it"});
  const Status written = hipcore::write_device_limit(file, device->visible, bytes);
  // "Not there" means the file's folder, not the device.
  return written ? TF_ACCEL_SUCCESS : told({Code::kInternal, written.message()});
}

tf_accel_result Provider::limit_compute(std::string_view uuid, std::uint32_t) {
  tf_accel_result why{};
  if (find(uuid, why) == nullptr) return why;
  return told(
      {Code::kUnsupported,
       "compute units cannot be limited while sessions run: ROCr reads HSA_CU_MASK when a process starts. "
       "A partition (isolation mode partitioned) divides them"});
}

tf_accel_result Provider::move(const tf_accel_snapshot& snapshot, bool stop) {
  std::vector<pid_t> processes;
  if (snapshot.process_count != 0)
    processes.assign(snapshot.processes, snapshot.processes + snapshot.process_count);
  if (snapshot.device_uuid != nullptr) {
    tf_accel_result why{};
    const Device* const device = find(snapshot.device_uuid, why);
    if (device == nullptr) return why;
    for (const smi::Process& process : source_->processes(*device))
      processes.push_back(static_cast<pid_t>(process.pid));
  }
  const Status done = stop ? freeze(processes) : thaw(processes);
  if (done && stop)
    log_info(std::to_string(processes.size()) +
             " sessions stand still; what they hold of a device stays there");
  return told(done);
}

tf_accel_result Provider::list(std::span<tf_accel_process> processes, std::size_t& count) {
  const tf_accel_result opened = open();
  if (opened != TF_ACCEL_SUCCESS) return opened;
  count = 0;
  for (const Device& device : source_->devices())
    for (const smi::Process& process : source_->processes(device))
      if (count < processes.size()) fill(process, device, processes[count++]);
  return TF_ACCEL_SUCCESS;
}

tf_accel_result Provider::sample(std::string_view uuid, tf_accel_values& values) {
  tf_accel_result why{};
  const Device* const device = find(uuid, why);
  if (device == nullptr) return why;
  smi::Sample sample = smi::unknown_sample();
  // The device is known, so whatever keeps its values back is a failure.
  if (const Status sampled = source_->sample(*device, sample); !sampled)
    return told({Code::kInternal, sampled.message()});
  fill(*device, sample, values);
  return TF_ACCEL_SUCCESS;
}

tf_accel_result Provider::list(std::span<tf_accel_mount> mounts, std::size_t& count) {
  const tf_accel_result opened = open();
  if (opened != TF_ACCEL_SUCCESS) return opened;
  count = 0;
  const auto& devices = source_->devices();
  if (std::ranges::all_of(devices, &Device::simulated)) return TF_ACCEL_SUCCESS;
  for (const char* const folder : kRocmFolders) {
    std::error_code error;
    if (count < mounts.size() && std::filesystem::is_directory(folder, error)) fill(folder, mounts[count++]);
  }
  return TF_ACCEL_SUCCESS;
}

}  // namespace tf::provider
