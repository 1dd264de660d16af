// SPDX-License-Identifier: Apache-2.0
// Prints times, sizes and rates with fitting units.
#include "benchmarks/report/words.h"

#include <cmath>
#include <cstdio>

namespace tf::bench {
namespace {

struct Word {
  std::string_view name;
  std::string_view text;
};

constexpr Word kMetricWords[] = {
    {"h2d_pinned", "host to device, pinned"},
    {"d2h_pinned", "device to host, pinned"},
    {"h2d_pageable", "host to device, pageable"},
    {"d2h_pageable", "device to host, pageable"},
    {"bulk_send", "payload, sent"},
    {"bulk_receive", "payload, received"},
    {"bulk_send_pageable", "payload, sent, pageable"},
    {"bulk_receive_pageable", "payload, received, pageable"},
    {"bulk_send_stream", "stream of payload, sent"},
    {"bulk_receive_stream", "stream of payload, received"},
};

}  // namespace

Scale scale_for(std::string_view unit, std::string_view metric, double value) {
  if (unit == "ns") {
    if (value < 1e4) return {1, "ns"};
    if (value < 1e7) return {1e3, "us"};
    return {1e6, "ms"};
  }
  if (unit == "1/s") {
    const std::string what = metric.starts_with("launch")   ? "launches/s"
                             : metric.starts_with("posted") ? "messages/s"
                                                            : "calls/s";
    return value >= 1e6 ? Scale{1e6, "million " + what} : Scale{1, what};
  }
  if (unit == "GB/s" && value < 0.1) return {1e-3, "MB/s"};
  return {1, std::string(unit)};
}

std::string digits(double value) {
  char text[32];
  const double size = std::fabs(value);
  const int behind = size >= 99.95 || value == 0 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
  if (size > 0 && size < 0.0005)
    std::snprintf(text, sizeof text, "%.2g", value);
  else
    std::snprintf(text, sizeof text, "%.*f", behind, value);
  return text;
}

std::string metric_text(std::string_view metric) {
  for (const Word& word : kMetricWords)
    if (word.name == metric) return std::string(word.text);
  std::string text(metric);
  for (char& letter : text)
    if (letter == '_') letter = ' ';
  return text;
}

bool more_is_better(std::string_view unit) { return unit == "GB/s" || unit == "1/s"; }

}  // namespace tf::bench
