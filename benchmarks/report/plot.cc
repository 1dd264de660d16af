// SPDX-License-Identifier: Apache-2.0
// Draws plots of results as SVG.
#include "benchmarks/report/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "benchmarks/report/words.h"

namespace tf::bench {
namespace {

constexpr double kPlotWidth = 640;
constexpr double kPlotHeight = 420;
constexpr double kLeft = 84;
constexpr double kBottom = 66;
constexpr double kTitleHeight = 46;
constexpr double kNoteHeight = 17;
constexpr double kLegendGap = 20;
constexpr double kLegendRow = 22;
constexpr double kLetter = 7.5;  // mean width of one at 12 px
constexpr double kEdge = 0.03;   // of the axis, left free at both ends

// Told apart also by the colour-blind (Okabe and Ito), and each with a mark of its own.
constexpr std::array<const char*, 8> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                 "#b38600", "#56b4e9", "#6a3d9a", "#444444"};
constexpr const char* kLimitColour = "#777777";
constexpr std::array<const char*, 3> kDashes = {"6 4", "2 3", "10 3 2 3"};

struct Curve {
  std::string label;
  std::vector<std::pair<double, double>> points;  // bytes, figure
  bool is_limit = false;
  std::size_t style = 0;  // colour and mark: the same for a label in every picture of these figures
};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '&')
      out += "&amp;";
    else if (letter == '<')
      out += "&lt;";
    else if (letter == '>')
      out += "&gt;";
    else
      out += letter;
  }
  return out;
}

// Logarithmic, from the first to the last value with a little room.
class Axis {
 public:
  Axis(double from, double to, double low, double high) : from_(from), to_(to) {
    const double room = (std::log2(high) - std::log2(low)) * kEdge + 0.05;
    low_ = std::log2(low) - room;
    high_ = std::log2(high) + room;
  }
  double at(double value) const { return from_ + (std::log2(value) - low_) / (high_ - low_) * (to_ - from_); }

 private:
  double from_;
  double to_;
  double low_ = 0;
  double high_ = 0;
};

// 1, 2 and 5 times a power of ten: those from `low` to `high`, and one beyond where it is near.
std::vector<double> steps(double low, double high) {
  std::vector<double> found;
  for (int power = static_cast<int>(std::floor(std::log10(low))) - 1; power <= std::log10(high) + 1;
       ++power) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10.0, power);
      if (value > low / 2.6 && value < high * 2.6) found.push_back(value);
    }
  }
  while (found.size() > 2 && found[1] <= low) found.erase(found.begin());
  while (found.size() > 2 && found[found.size() - 2] >= high) found.pop_back();
  return found;
}

std::string tick_text(double value, const std::string& unit) {
  std::ostringstream text;
  if (unit != "ns") {
    text << value;
  } else {
    const Scale scale = scale_for(unit, "", value * 10.01);  // from 1 us on in us
    text << value / scale.divisor << ' ' << scale.unit;
  }
  return text.str();
}

const char* axis_title(const std::string& unit) {
  if (unit == "GB/s") return "bandwidth in GB/s (more is better)";
  return unit == "ns" ? "time (less is better)" : "";
}

class Picture {
 public:
  Picture(const PlotText& text, std::vector<Curve> curves, const std::string& unit)
      : text_(text), curves_(std::move(curves)), unit_(unit) {}

  void write(std::ostream& out) {
    measure();
    out << "<svg xmlns='http://www.w3.org/2000/svg' width='" << width() << "' height='" << height()
        << "' viewBox='0 0 " << width() << ' ' << height()
        << "' font-family='DejaVu Sans, Helvetica, Arial, sans-serif' font-size='12'>\n"
        << "<rect width='100%' height='100%' fill='white'/>\n<text x='" << kLeft << "' y='30' font-size='17'>"
        << escaped(text_.title) << "</text>\n";
    for (std::size_t note = 0; note < text_.notes.size(); ++note)
      out << "<text x='" << kLeft << "' y='" << kTitleHeight + 6 + kNoteHeight * static_cast<double>(note)
          << "' font-size='11' fill='#555'>" << escaped(text_.notes[note]) << "</text>\n";
    axes(out);
    std::size_t row = 0;
    for (const Curve& curve : curves_) {
      draw(out, curve, curve.style);
      legend(out, curve, curve.style, row++);
    }
    out << "</svg>\n";
  }

 private:
  double top() const { return kTitleHeight + kNoteHeight * static_cast<double>(text_.notes.size()) + 14; }
  double bottom() const { return top() + kPlotHeight; }
  double right() const { return kLeft + kPlotWidth; }
  double height() const {
    const double legend = top() + kLegendRow * static_cast<double>(curves_.size()) + 20;
    return std::max(bottom() + kBottom, legend);
  }
  double width() const {
    std::size_t longest = 8;
    for (const Curve& curve : curves_) longest = std::max(longest, curve.label.size());
    std::size_t note = text_.title.size() * 3 / 2;
    for (const std::string& line : text_.notes) note = std::max(note, line.size());
    const double legend = right() + kLegendGap + 44 + kLetter * static_cast<double>(longest) + 16;
    return std::ceil(std::max(legend, kLeft + kLetter * 0.92 * static_cast<double>(note) + 16));
  }

  void measure() {
    low_x_ = low_y_ = 1e300;
    high_x_ = high_y_ = 0;
    for (const Curve& curve : curves_) {
      for (const auto& [bytes, figure] : curve.points) {
        low_x_ = std::min(low_x_, bytes);
        high_x_ = std::max(high_x_, bytes);
        low_y_ = std::min(low_y_, figure);
        high_y_ = std::max(high_y_, figure);
      }
    }
    ticks_ = steps(low_y_, high_y_);
    low_y_ = std::min(low_y_, ticks_.front());
    high_y_ = std::max(high_y_, ticks_.back());
  }
  Axis x() const { return {kLeft, right(), low_x_, high_x_}; }
  Axis y() const { return {bottom(), top(), low_y_, high_y_}; }

  // Sizes by powers of two; every second or fourth where there are many.
  void axes(std::ostream& out) const {
    const int first = static_cast<int>(std::ceil(std::log2(low_x_)));
    const int last = static_cast<int>(std::floor(std::log2(high_x_)));
    const int step = last - first > 12 ? 2 : 1;
    for (int power = first; power <= last; power += step) {
      const double at = x().at(std::exp2(power));
      line(out, at, top(), at, bottom(), "#e4e4e4");
      out << "<text x='" << at << "' y='" << bottom() + 18 << "' text-anchor='middle' font-size='10.5'>"
          << bytes_text(std::uint64_t{1} << power) << "</text>\n";
    }
    for (const double tick : ticks_) {
      const bool decade = std::fabs(std::log10(tick) - std::round(std::log10(tick))) < 1e-9;
      line(out, kLeft, y().at(tick), right(), y().at(tick), decade ? "#c4c4c4" : "#ececec");
      if (decade || ticks_.size() <= 12)
        out << "<text x='" << kLeft - 8 << "' y='" << y().at(tick) + 4 << "' text-anchor='end'>"
            << tick_text(tick, unit_) << "</text>\n";
    }
    out << "<rect x='" << kLeft << "' y='" << top() << "' width='" << kPlotWidth << "' height='"
        << kPlotHeight << "' fill='none' stroke='#888'/>\n<text x='" << kLeft + kPlotWidth / 2 << "' y='"
        << bottom() + 46
        << "' text-anchor='middle' font-size='13'>size</text>\n<text transform='translate(22 "
        << top() + kPlotHeight / 2 << ") rotate(-90)' text-anchor='middle' font-size='13'>"
        << axis_title(unit_) << "</text>\n";
  }

  void draw(std::ostream& out, const Curve& curve, std::size_t style) const {
    out << "<polyline fill='none' " << stroke(curve, style) << " points='";
    for (const auto& [bytes, figure] : curve.points) out << x().at(bytes) << ',' << y().at(figure) << ' ';
    out << "'/>\n";
    for (const auto& [bytes, figure] : curve.points) mark(out, curve, style, x().at(bytes), y().at(figure));
  }

  void legend(std::ostream& out, const Curve& curve, std::size_t style, std::size_t row) const {
    const double left = right() + kLegendGap;
    const double at = top() + 12 + kLegendRow * static_cast<double>(row);
    out << "<polyline fill='none' " << stroke(curve, style) << " points='" << left << ',' << at << ' '
        << left + 32 << ',' << at << "'/>\n";
    mark(out, curve, style, left + 16, at);
    out << "<text x='" << left + 42 << "' y='" << at + 4 << "'>" << escaped(curve.label) << "</text>\n";
  }

  static std::string stroke(const Curve& curve, std::size_t style) {
    if (curve.is_limit)
      return std::string("stroke='") + kLimitColour + "' stroke-width='1.6' stroke-dasharray='" +
             kDashes[style % kDashes.size()] + "'";
    return std::string("stroke='") + kColours[style % kColours.size()] + "' stroke-width='2'";
  }

  static void line(std::ostream& out, double x1, double y1, double x2, double y2, const char* colour) {
    out << "<line x1='" << x1 << "' y1='" << y1 << "' x2='" << x2 << "' y2='" << y2 << "' stroke='" << colour
        << "'/>\n";
  }

  static void mark(std::ostream& out, const Curve& curve, std::size_t style, double x, double y) {
    const char* const colour = curve.is_limit ? kLimitColour : kColours[style % kColours.size()];
    const auto path = [&](const char* shape) {
      out << "<path transform='translate(" << x << ' ' << y << ")' d='" << shape << "' fill='" << colour
          << "' stroke='white' stroke-width='0.8'/>\n";
    };
    if (curve.is_limit) {
      out << "<circle cx='" << x << "' cy='" << y << "' r='2.4' fill='" << colour << "'/>\n";
      return;
    }
    constexpr std::array<const char*, 6> kShapes = {"M-4,-4H4V4H-4Z",
                                                    "M0,-5.2L4.8,3.6H-4.8Z",
                                                    "M0,-5.4L5.4,0L0,5.4L-5.4,0Z",
                                                    "M0,5.2L4.8,-3.6H-4.8Z",
                                                    "M-5,-2V2H-2V5H2V2H5V-2H2V-5H-2V-2Z",
                                                    "M-4.4,0A4.4,4.4 0 1 0 4.4,0A4.4,4.4 0 1 0 -4.4,0Z"};
    path(kShapes[(style + kShapes.size() - 1) % kShapes.size()]);
  }

  const PlotText& text_;
  std::vector<Curve> curves_;
  const std::string unit_;
  std::vector<double> ticks_;
  double low_x_ = 0;
  double high_x_ = 0;
  double low_y_ = 0;
  double high_y_ = 0;
};

// One for each transport and metric, highest at its last size first, as they end on the right; then the
// limits.
std::vector<Curve> curves_of(const std::vector<Row>& rows, const std::string& unit) {
  std::map<std::string, Curve> measured;
  std::map<std::string, std::map<double, double>> limits;
  std::map<std::string, int> transports;
  for (const Row& row : rows)
    if (row.unit == unit && row.bytes != 0 && row.value > 0) ++transports[row.transport];
  for (const Row& row : rows) {
    if (row.unit != unit || row.bytes == 0 || row.value <= 0) continue;
    std::string label = metric_text(row.metric);
    if (transports.size() > 1 || label.empty()) label = row.transport + (label.empty() ? "" : ": " + label);
    Curve& curve = measured[label];
    curve.label = label;
    curve.points.emplace_back(static_cast<double>(row.bytes), row.value);
    if (row.limit > 0) limits["limit: " + row.limit_name][static_cast<double>(row.bytes)] = row.limit;
  }
  std::vector<Curve> curves;
  for (auto& [label, curve] : measured) {
    std::sort(curve.points.begin(), curve.points.end());
    curve.style = curves.size();
    curves.push_back(std::move(curve));
  }
  std::stable_sort(curves.begin(), curves.end(), [](const Curve& one, const Curve& other) {
    return one.points.back().second > other.points.back().second;
  });
  std::size_t limit = 0;
  for (const auto& [label, points] : limits)
    curves.push_back({label, {points.begin(), points.end()}, true, limit++});
  return curves;
}

}  // namespace

bool write_plot(const std::string& path, const PlotText& text, const std::vector<Row>& rows,
                const std::string& unit) {
  std::vector<Curve> curves = curves_of(rows, unit);
  if (curves.empty()) return false;
  std::ofstream out(path);
  Picture(text, std::move(curves), unit).write(out);
  out.close();
  return static_cast<bool>(out);
}

}  // namespace tf::bench
