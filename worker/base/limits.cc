// SPDX-License-Identifier: Apache-2.0
// Reads and writes limits.
#include "worker/base/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "hipcore/wire/device_snapshot.h"
#include "transport/secure/file.h"

namespace tf::worker {
namespace {

constexpr std::uint64_t kCountMax = 1'000'000;
constexpr std::uint64_t kStartsMax = 10'000;
constexpr std::uint64_t kBytesMax = 1ull << 50;
constexpr std::string_view kDevices = "devices";
constexpr std::string_view kUnits = "KMGT";

struct Word {
  std::string_view name;
  std::uint64_t most;
  bool in_bytes = false;
};
// In the order of Limit.
constexpr std::array<Word, kLimits> kWords = {{{"memory", kBytesMax, true},
                                               {"host", kBytesMax, true},
                                               {"streams", kCountMax},
                                               {"compiles", kCountMax},
                                               {"sessions", kCountMax},
                                               {"starts", kStartsMax},
                                               {"idle", kCountMax},
                                               {"weight", kWeightMax}}};

// 8589934592, 8G; none: it is nothing of that kind.
std::optional<std::uint64_t> limit_number(std::string_view text, bool in_bytes) {
  unsigned shift = 0;
  if (const std::size_t unit = text.empty() ? kUnits.npos : kUnits.find(text.back());
      in_bytes && unit != kUnits.npos) {
    shift = 10 * static_cast<unsigned>(unit + 1);
    text.remove_suffix(1);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (value > std::numeric_limits<std::uint64_t>::max() >> shift) return std::nullopt;
  return value << shift;
}

Status expected_value(std::string_view word, const Word& what) {
  if (what.in_bytes)
    return invalid_argument(
        fmt::format("\"{}\": expected {}=BYTES, with K, M, G or T behind the number for "
                    "powers of 1024; 0: no limit",
                    secure::shown(word), what.name));
  return invalid_argument(fmt::format("\"{}\": expected {}=NUMBER, at most {}; 0: no limit",
                                      secure::shown(word), what.name, what.most));
}

std::string bytes_text(std::uint64_t value) {
  std::size_t unit = 0;
  while (unit < kUnits.size() && value != 0 && value % 1024 == 0) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{}", value) : fmt::format("{}{}", value, kUnits[unit - 1]);
}

}  // namespace

std::string_view name(Limit limit) { return kWords[static_cast<std::size_t>(limit)].name; }

Result<Limits> Limits::parse(std::string_view words) {
  Limits limits;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find_first_of(" \t"));
    words.remove_prefix(std::min(word.size() + 1, words.size()));
    if (word.empty()) continue;
    TF_RETURN_IF_ERROR(limits.take(word));
  }
  return limits;
}

Result<Limits> Limits::parse(std::span<const std::string> words) {
  Limits limits;
  for (const std::string& word : words) TF_RETURN_IF_ERROR(limits.take(word));
  return limits;
}

Status Limits::take(std::string_view word) {
  const std::string_view key = word.substr(0, word.find('='));
  const std::string_view text = word.substr(std::min(word.size(), key.size() + 1));
  if (key == kDevices && word.size() > key.size()) return take_devices(text);
  const auto known = std::ranges::find(kWords, key, &Word::name);
  if (known == kWords.end() || word.size() == key.size()) {
    std::string possible(kDevices);
    for (const Word& one : kWords) possible += fmt::format(", {}", one.name);
    return invalid_argument(
        fmt::format("unknown option \"{}\"; possible: {}", secure::shown(word), possible));
  }
  std::optional<std::uint64_t>& value = values_[static_cast<std::size_t>(known - kWords.begin())];
  if (value) return invalid_argument(fmt::format("{}= stands there twice", known->name));
  value = limit_number(text, known->in_bytes);
  return value && *value <= known->most ? Status::ok() : expected_value(word, *known);
}

Status Limits::take_devices(std::string_view list) {
  if (!devices_.empty()) return invalid_argument("devices= stands there twice");
  const std::string whole = secure::shown(list);
  bool sane = !list.ends_with(',');
  while (sane) {
    const std::string_view entry = list.substr(0, list.find(','));
    list.remove_prefix(std::min(entry.size() + 1, list.size()));
    const std::optional<std::uint64_t> device = limit_number(entry, false);
    sane = device && *device < protocol::kDevicesMax &&
           std::ranges::find(devices_, static_cast<int>(*device)) == devices_.end();
    if (sane) devices_.push_back(static_cast<int>(*device));
    if (list.empty()) break;
  }
  return sane ? Status::ok()
              : invalid_argument(
                    fmt::format("\"devices={}\": expected numbers of devices, 0 to {}, with commas "
                                "between them and none twice",
                                whole, protocol::kDevicesMax - 1));
}

LimitValues Limits::values() const {
  LimitValues values{};
  for (std::size_t index = 0; index < kLimits; ++index) values[index] = values_[index].value_or(0);
  if (!has(Limit::kHost)) values[static_cast<std::size_t>(Limit::kHost)] = of(Limit::kMemory);
  return values;
}

Limits Limits::over(const Limits& defaults) const {
  Limits merged = *this;
  for (std::size_t index = 0; index < kLimits; ++index)
    if (!merged.values_[index]) merged.values_[index] = defaults.values_[index];
  if (merged.devices_.empty()) merged.devices_ = defaults.devices_;
  return merged;
}

std::string limits_text(const LimitValues& values) {
  std::string text;
  for (std::size_t index = 0; index < kLimits; ++index) {
    if (values[index] == 0) continue;
    const Word& word = kWords[index];
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", word.name,
                        word.in_bytes ? bytes_text(values[index]) : fmt::format("{}", values[index]));
  }
  return text;
}

}  // namespace tf::worker
