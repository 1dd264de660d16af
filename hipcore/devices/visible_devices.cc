// SPDX-License-Identifier: Apache-2.0
// Reads lists of devices as AMD's runtimes do.
#include "hipcore/devices/visible_devices.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <numeric>
#include <string_view>

namespace tf::hipcore {
namespace {

constexpr std::string_view kUuidStart = "GPU-";
constexpr std::size_t kRocrUuidMin = 5;  // of an entry that begins a UUID
constexpr std::size_t kRocrUuidMax = 20;

std::string upper(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return result;
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kBlanks) - first + 1));
}

// The one device whose UUID begins like that; none: it is no device's, or that of several.
std::optional<std::size_t> rocr_uuid(const std::string& entry, std::span<const std::string> uuids) {
  if (entry.size() < kRocrUuidMin || entry.size() > kRocrUuidMax) return std::nullopt;
  std::optional<std::size_t> found;
  for (std::size_t index = 0; index < uuids.size(); ++index) {
    if (!upper(uuids[index]).starts_with(entry)) continue;
    if (found) return std::nullopt;
    found = index;
  }
  return found;
}

// Decimal, octal or hexadecimal, as strtol() takes it.
std::optional<std::size_t> rocr_number(const std::string& entry, std::size_t count) {
  char* end = nullptr;
  const long number = std::strtol(entry.c_str(), &end, 0);
  const bool whole = !entry.empty() && *end == '\0';
  if (!whole || number < 0 || static_cast<unsigned long>(number) >= count) return std::nullopt;
  return static_cast<std::size_t>(number);
}

// Ends before the first entry that names no device, or one again.
std::vector<std::size_t> choose_rocr(std::string_view list, std::span<const std::string> uuids) {
  std::vector<std::size_t> chosen;
  while (!list.empty() && chosen.size() < uuids.size()) {
    const std::string_view word = list.substr(0, list.find(','));
    list.remove_prefix(std::min(word.size() + 1, list.size()));
    const std::string entry = trimmed(upper(word));
    const auto device = entry.starts_with('G') ? rocr_uuid(entry, uuids) : rocr_number(entry, uuids.size());
    if (!device || std::ranges::find(chosen, *device) != chosen.end()) break;
    chosen.push_back(*device);
  }
  return chosen;
}

// A number as it is written without need for more, or a part of a UUID: the first device that has it.
std::optional<std::size_t> hip_entry(std::string_view entry, std::span<const std::string> uuids) {
  for (std::size_t index = 0; index < uuids.size(); ++index)
    if (entry == std::to_string(index)) return index;
  if (entry.find(kUuidStart) == std::string_view::npos) return std::nullopt;
  for (std::size_t index = 0; index < uuids.size(); ++index)
    if (uuids[index].find(entry) != std::string::npos) return index;
  return std::nullopt;
}

// Ends before the first entry that names no device; a device that stands there again counts once.
std::vector<std::size_t> choose_hip(std::string_view list, std::span<const std::string> uuids) {
  std::vector<std::size_t> chosen;
  while (!list.empty()) {
    const std::string_view entry = list.substr(0, list.find(','));
    list.remove_prefix(std::min(entry.size() + 1, list.size()));
    const auto device = hip_entry(entry, uuids);
    if (!device) break;
    if (std::ranges::find(chosen, *device) == chosen.end()) chosen.push_back(*device);
  }
  return chosen;
}

}  // namespace

VisibleDevices read_visible_devices() {
  VisibleDevices visible;
  if (const char* const rocr = std::getenv("ROCR_VISIBLE_DEVICES")) visible.rocr = rocr;
  for (const char* const name : {"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"}) {
    const char* const list = std::getenv(name);
    if (visible.hip.empty() && list != nullptr) visible.hip = list;
  }
  return visible;
}

std::string uuid_text(const std::array<std::uint8_t, 16>& uuid) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(kUuidStart);
  if (std::ranges::all_of(uuid, [](std::uint8_t byte) { return std::isxdigit(byte) != 0; }))
    return text.append(uuid.begin(), uuid.end());
  for (std::size_t index = 0; index < uuid.size(); ++index) {
    if (index == 4 || index == 6 || index == 8 || index == 10) text += '-';
    text += kDigits[uuid[index] >> 4];
    text += kDigits[uuid[index] & 15];
  }
  return text;
}

std::vector<std::size_t> choose_visible(const VisibleDevices& visible, std::span<const std::string> uuids) {
  std::vector<std::size_t> left(uuids.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  if (visible.rocr) left = choose_rocr(*visible.rocr, uuids);
  if (visible.hip.empty()) return left;
  std::vector<std::string> named;
  for (const std::size_t index : left) named.push_back(uuids[index]);
  std::vector<std::size_t> chosen;
  for (const std::size_t index : choose_hip(visible.hip, named)) chosen.push_back(left[index]);
  return chosen;
}

}  // namespace tf::hipcore
