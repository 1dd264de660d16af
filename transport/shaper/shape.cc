// SPDX-License-Identifier: Apache-2.0
// Parses TF_SHAPE.
#include "transport/shaper/shape.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace tf::shaper {
namespace {

using Unit = std::pair<std::string_view, double>;
constexpr std::array kTimeUnits = {Unit{"ns", 1}, Unit{"us", 1e3}, Unit{"ms", 1e6}, Unit{"s", 1e9}};
constexpr std::array kRateUnits = {Unit{"bit", 1}, Unit{"kbit", 1e3}, Unit{"Mbit", 1e6}, Unit{"Gbit", 1e9}};

// "1.5ms" in the smallest of the units. None: not a number >= 0 with one of the units.
std::optional<double> quantity(std::string_view text, std::span<const Unit> units) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || value < 0) return std::nullopt;
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const Unit& unit : units)
    if (rest == unit.first) return value * unit.second;
  return std::nullopt;
}

Status refuse(std::string_view part) {
  constexpr std::size_t kShownBytesMax = 64;
  return {Code::kInvalidArgument,
          "\"" + std::string(part.substr(0, kShownBytesMax)) +
              "\" is not a shape: rtt=TIME (ns, us, ms, s; at most 10s), rate=RATE (bit, kbit, "
              "Mbit, Gbit a second; 1kbit to 10000Gbit), or both with a comma between, as in "
              "rtt=100us,rate=10Gbit"};
}

bool parse_part(std::string_view part, Shape& shape) {
  if (part.starts_with("rtt=")) {
    const std::optional<double> ns = quantity(part.substr(4), kTimeUnits);
    if (!ns || *ns > static_cast<double>(std::chrono::nanoseconds(kRttMax).count())) return false;
    shape.rtt = std::chrono::nanoseconds(static_cast<std::int64_t>(*ns));
    return true;
  }
  if (!part.starts_with("rate=")) return false;
  const std::optional<double> rate = quantity(part.substr(5), kRateUnits);
  if (!rate || *rate < static_cast<double>(kRateMin) || *rate > static_cast<double>(kRateMax)) return false;
  shape.bits_per_second = static_cast<std::uint64_t>(*rate);
  return true;
}

}  // namespace

Result<Shape> parse_shape(std::string_view text) {
  Shape shape;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    if (!parse_part(part, shape)) return refuse(part);
    if (comma == std::string_view::npos) return shape;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace tf::shaper
