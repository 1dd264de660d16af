// SPDX-License-Identifier: Apache-2.0
// Limits a runtime to some devices, by the variables that it reads.
#include "worker/session/visible_device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace tf::worker {
namespace {

constexpr const char* kNobody = "-1";  // names no device, and ends the list

enum class Entries { kNumbers, kNumbersAndNames };

// The device that an entry of a list names, in one form; empty: none.
std::string device_of(std::string_view entry, Entries allowed) {
  int number = -1;
  const char* const end = entry.data() + entry.size();
  const auto [rest, error] = std::from_chars(entry.data(), end, number);
  if (error == std::errc() && rest == end && number >= 0) return std::to_string(number);
  const bool is_name = !entry.empty() && std::isalpha(static_cast<unsigned char>(entry.front())) != 0;
  return is_name && allowed == Entries::kNumbersAndNames ? std::string(entry) : std::string();
}

// The device at `index` of those that a list with commas names, or kNobody. As in the runtimes, the list ends
// before an entry that names no device, and a repeated device counts once.
std::string entry_of(std::string_view list, int index, Entries allowed) {
  std::vector<std::string> named;
  for (;;) {
    const std::string_view entry = list.substr(0, list.find(','));
    std::string device = device_of(entry, allowed);
    if (device.empty()) return kNobody;
    if (std::find(named.begin(), named.end(), device) == named.end()) named.push_back(std::move(device));
    if (named.size() > static_cast<std::size_t>(index)) return named.back();
    if (entry.size() == list.size()) return kNobody;
    list.remove_prefix(entry.size() + 1);
  }
}

std::string entries_of(std::string_view list, std::span<const int> devices, Entries allowed) {
  std::string entries;
  for (const int device : devices) entries += (entries.empty() ? "" : ",") + entry_of(list, device, allowed);
  return entries;
}

std::string numbers_of(std::span<const int> devices) { return fmt::format("{}", fmt::join(devices, ",")); }

}  // namespace

// An empty list means all devices to HIP and none to CUDA. AMD's runtime reads CUDA's list where there is
// none of HIP's, so the operator may have hidden devices by that one alone.
void show_only(std::span<const int> devices) {
  const char* const hip = std::getenv("HIP_VISIBLE_DEVICES");
  const char* const cuda = std::getenv("CUDA_VISIBLE_DEVICES");
  const bool hip_names_some = hip != nullptr && *hip != '\0';
  const bool cuda_names_some = cuda != nullptr && *cuda != '\0';
  std::string for_cuda = numbers_of(devices);
  if (cuda != nullptr)
    for_cuda = cuda_names_some ? entries_of(cuda, devices, Entries::kNumbersAndNames) : kNobody;
  std::string for_hip = cuda_names_some ? for_cuda : numbers_of(devices);
  if (hip_names_some) for_hip = entries_of(hip, devices, Entries::kNumbers);
  ::setenv("HIP_VISIBLE_DEVICES", for_hip.c_str(), 1);
  ::setenv("CUDA_VISIBLE_DEVICES", for_cuda.c_str(), 1);
}

Status check_only(std::span<const int> devices, const RuntimeLibrary& runtime,
                  const protocol::WorkerSnapshot& snapshot) {
  const std::size_t shown = snapshot.devices.size();
  if (shown == devices.size()) return Status::ok();
  const std::string whose =
      fmt::format("devices {}: runtime {} ({})", numbers_of(devices), runtime.name(), runtime.path());
  if (shown == 0 && snapshot.init_error != hipErrorNoDevice)
    return {Code::kUnavailable, fmt::format("{} does not start: error {}", whose, snapshot.init_error)};
  if (shown < devices.size())
    return {Code::kInvalidArgument,
            fmt::format("{} has no such device{}", whose, shown == 0 ? "" : ", but some of them")};
  return {
      Code::kUnsupported,
      fmt::format("{} still shows {} devices: it reads neither HIP_VISIBLE_DEVICES nor CUDA_VISIBLE_DEVICES",
                  whose, shown)};
}

}  // namespace tf::worker
