// SPDX-License-Identifier: Apache-2.0
// The devices that a runtime is let see, by the variables that it reads.
#include "worker/session/visible_device.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace tf::worker {
namespace {

constexpr const char* kNobody = "-1";  // names no device, and ends the list

// The entry at `index` of a list with commas, or kNobody.
std::string entry_of(std::string_view list, int index) {
  for (; index > 0; --index) {
    const std::size_t comma = list.find(',');
    if (comma == std::string_view::npos) return kNobody;
    list.remove_prefix(comma + 1);
  }
  return std::string(list.substr(0, list.find(',')));
}

}  // namespace

void show_only(int device) {
  const char* const hip = std::getenv("HIP_VISIBLE_DEVICES");
  const char* const cuda = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::string number = std::to_string(device);
  // Nothing is everything to HIP, and nothing to CUDA.
  const bool names_some = hip != nullptr && *hip != '\0';
  ::setenv("HIP_VISIBLE_DEVICES", (names_some ? entry_of(hip, device) : number).c_str(), 1);
  ::setenv("CUDA_VISIBLE_DEVICES", (cuda != nullptr ? entry_of(cuda, device) : number).c_str(), 1);
}

Status check_only(int device, const RuntimeLibrary& runtime, const protocol::WorkerSnapshot& snapshot) {
  const std::size_t shown = snapshot.devices.size();
  if (shown == 1) return Status::ok();
  if (shown == 0)
    return {Code::kInvalidArgument, fmt::format("--device {}: runtime {} ({}) has no such device", device,
                                                runtime.name(), runtime.path())};
  return {Code::kUnsupported,
          fmt::format("--device {}: runtime {} ({}) shows {} devices all the same: it reads neither "
                      "HIP_VISIBLE_DEVICES nor CUDA_VISIBLE_DEVICES",
                      device, runtime.name(), runtime.path(), shown)};
}

}  // namespace tf::worker
