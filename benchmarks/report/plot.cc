// SPDX-License-Identifier: Apache-2.0
// A small SVG plot: bandwidth or time over size, logarithmic on both axes.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "benchmarks/report/report.h"

namespace tf::bench {
namespace {

constexpr double kWidth = 860;
constexpr double kHeight = 480;
constexpr double kLeft = 70;
constexpr double kRight = 220;  // room for the legend
constexpr double kTop = 50;
constexpr double kBottom = 60;
constexpr const char* kColours[] = {"#1b6ca8", "#d1495b", "#2e8b57", "#e07a1f",
                                    "#7b4fa3", "#3c3c3c", "#0aa5a5", "#a37b00"};

struct Range {
  double low = 1e300;
  double high = -1e300;
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

class Axes {
 public:
  Axes(Range x, Range y) : x_(x), y_(y) {}
  double x(double bytes) const { return kLeft + place(std::log2(bytes), x_) * (kWidth - kLeft - kRight); }
  double y(double rate) const {
    return kHeight - kBottom - place(std::log10(rate), y_) * (kHeight - kTop - kBottom);
  }
  const Range& x_range() const { return x_; }
  const Range& y_range() const { return y_; }

 private:
  static double place(double value, const Range& range) {
    return range.high > range.low ? (value - range.low) / (range.high - range.low) : 0.5;
  }
  Range x_;
  Range y_;
};

void draw_grid(std::ostream& out, const Axes& axes) {
  for (int power = static_cast<int>(axes.x_range().low); power <= static_cast<int>(axes.x_range().high);
       power += 2) {
    double x = axes.x(std::exp2(power));
    out << "<line x1='" << x << "' x2='" << x << "' y1='" << kTop << "' y2='" << kHeight - kBottom
        << "' stroke='#ddd'/><text x='" << x << "' y='" << kHeight - kBottom + 18 << "' text-anchor='middle'>"
        << bytes_text(std::uint64_t{1} << power) << "</text>\n";
  }
  for (int power = static_cast<int>(axes.y_range().low); power <= static_cast<int>(axes.y_range().high);
       ++power) {
    double y = axes.y(std::pow(10.0, power));
    out << "<line x1='" << kLeft << "' x2='" << kWidth - kRight << "' y1='" << y << "' y2='" << y
        << "' stroke='#ddd'/><text x='" << kLeft - 8 << "' y='" << y + 4 << "' text-anchor='end'>"
        << std::pow(10.0, power) << "</text>\n";
  }
}

using Series = std::map<std::string, std::vector<std::pair<double, double>>>;

void draw_series(std::ostream& out, const Axes& axes, const Series& series, bool dashed, std::size_t& line) {
  for (const auto& [label, points] : series) {
    const char* colour = kColours[line % std::size(kColours)];
    out << "<polyline fill='none' stroke='" << colour << "' stroke-width='2'"
        << (dashed ? " stroke-dasharray='6 4'" : "") << " points='";
    for (auto [bytes, rate] : points) out << axes.x(bytes) << ',' << axes.y(rate) << ' ';
    double y = kTop + 18 * static_cast<double>(line);
    out << "'/>\n<line x1='" << kWidth - kRight + 12 << "' x2='" << kWidth - kRight + 40 << "' y1='" << y
        << "' y2='" << y << "' stroke='" << colour << "' stroke-width='2'"
        << (dashed ? " stroke-dasharray='6 4'" : "") << "/><text x='" << kWidth - kRight + 46 << "' y='"
        << y + 4 << "'>" << label << "</text>\n";
    ++line;
  }
}

}  // namespace

bool write_plot(const std::string& path, const std::string& title, const std::vector<Row>& rows,
                const std::string& unit) {
  Series measured;
  Series limits;
  Range x;
  Range y;
  for (const Row& row : rows) {
    if (row.unit != unit || row.bytes == 0 || row.value <= 0) continue;
    auto bytes = static_cast<double>(row.bytes);
    measured[row.transport + " " + row.metric].emplace_back(bytes, row.value);
    x.include(std::floor(std::log2(bytes)));
    y.include(std::floor(std::log10(row.value)));
    y.include(std::ceil(std::log10(row.value)));
    if (row.limit > 0) {
      limits[row.limit_name + " (limit)"].emplace_back(bytes, row.limit);
      y.include(std::ceil(std::log10(row.limit)));
    }
  }
  if (measured.empty()) return false;
  for (auto& [label, points] : limits) std::sort(points.begin(), points.end());
  Axes axes(x, y);
  std::ofstream out(path);
  out << "<svg xmlns='http://www.w3.org/2000/svg' width='" << kWidth << "' height='" << kHeight
      << "' font-family='sans-serif' font-size='12'>\n<rect width='100%' height='100%' fill='white'/>\n<text "
         "x='"
      << kLeft << "' y='28' font-size='16'>" << title << "</text>\n<text x='16' y='" << kHeight / 2
      << "' transform='rotate(-90 16 " << kHeight / 2 << ")'>" << unit << "</text>\n";
  draw_grid(out, axes);
  std::size_t line = 0;
  draw_series(out, axes, measured, false, line);
  draw_series(out, axes, limits, true, line);
  out << "</svg>\n";
  return static_cast<bool>(out);
}

}  // namespace tf::bench
