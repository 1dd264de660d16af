// SPDX-License-Identifier: Apache-2.0
// Provider: what the exported functions do, after their pointers have been looked at. One for each process;
// whoever calls it holds its lock (exported.cc). Results are the interface's; reasons go to the log.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "provider/abi.h"
#include "provider/devices.h"
#include "provider/partitions.h"

namespace tf::provider {

class Provider {
 public:
  // Opens the devices, unless they are open. Every other function does that by itself.
  tf_accel_result open();
  // Partitions stay: who has them goes on using them.
  void close() { source_.reset(); }

  tf_accel_result count(std::size_t& count);
  tf_accel_result describe(std::span<tf_accel_device> devices, std::size_t& count);
  tf_accel_result describe(tf_accel_topology& topology);
  tf_accel_result assign(std::string_view template_id, std::string_view uuid, tf_accel_partition& partition);
  tf_accel_result remove(std::string_view id, std::string_view uuid);
  tf_accel_result limit_memory(std::string_view uuid, std::uint64_t bytes);
  tf_accel_result limit_compute(std::string_view uuid, std::uint32_t percent);
  // Stops or continues these processes, and the sessions on that device, if one is named.
  tf_accel_result move(const tf_accel_snapshot& snapshot, bool stop);
  tf_accel_result list(std::span<tf_accel_process> processes, std::size_t& count);
  tf_accel_result sample(std::string_view uuid, tf_accel_values& values);
  tf_accel_result list(std::span<tf_accel_mount> mounts, std::size_t& count);

 private:
  // Null: there is none, or the devices cannot be opened; `why` then says which.
  const Device* find(std::string_view uuid, tf_accel_result& why);

  std::unique_ptr<Source> source_;
  Partitions partitions_;
};

}  // namespace tf::provider
