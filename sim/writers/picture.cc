// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "writers/experiment.h"
#include "writers/text.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tenure::sim {
namespace {

constexpr double kLeft = 80;
constexpr double kRight = 640;
constexpr double kTop = 70;
constexpr double kBottom = 380;
constexpr double kLeastY = 0.5;
constexpr double kMostY = 10'000;

// Both axes are logarithmic.
class Chart {
 public:
  explicit Chart(std::size_t most) : most_(std::max(2.0, static_cast<double>(most))) {}

  [[nodiscard]] double x(double writers) const {
    return kLeft + (kRight - kLeft) * std::log(writers) / std::log(most_);
  }
  [[nodiscard]] static double y(double writes) {
    const double share =
        std::log(std::clamp(writes, kLeastY, kMostY) / kLeastY) / std::log(kMostY / kLeastY);
    return kBottom - (kBottom - kTop) * share;
  }

  [[nodiscard]] std::string grid() const {
    std::string svg;
    for (double writes = 1; writes <= kMostY; writes *= 10) {
      svg += text_of("<line x1='%.0f' x2='%.0f' y1='%.1f' y2='%.1f' stroke='#e4e4e0'/>\n", kLeft,
                     kRight, y(writes), y(writes));
      svg += text_of("<text x='%.0f' y='%.1f' text-anchor='end'>%.0f</text>\n", kLeft - 8,
                     y(writes) + 4, writes);
    }
    for (double writers = 1; writers <= most_; writers *= 10) {
      svg += text_of("<line x1='%.1f' x2='%.1f' y1='%.0f' y2='%.0f' stroke='#e4e4e0'/>\n",
                     x(writers), x(writers), kTop, kBottom);
      svg += text_of("<text x='%.1f' y='%.0f' text-anchor='middle'>%.0f</text>\n", x(writers),
                     kBottom + 18, writers);
    }
    return svg;
  }

  // The ground shines round its label, since lines may cross it.
  [[nodiscard]] std::string goal(double writes, const char* label) const {
    return text_of(
        "<line x1='%.0f' x2='%.0f' y1='%.1f' y2='%.1f' stroke='#777' "
        "stroke-dasharray='5 4'/>\n<text x='%.0f' y='%.1f' fill='#777' "
        "stroke='#fcfcfa' stroke-width='4' paint-order='stroke' text-anchor='end'>%s</text>\n",
        kLeft, kRight, y(writes), y(writes), kRight - 8, y(writes) - 6, label);
  }

  template <class Of>
  [[nodiscard]] std::string line(const std::vector<ExperimentRow>& rows, const char* colour,
                                 const char* label, Of of) const {
    std::string points;
    std::string dots;
    double last_x = kLeft;
    double last_y = kBottom;
    for (const ExperimentRow& row : rows) {
      const double value = of(row);
      if (value <= 0) continue;
      last_x = x(static_cast<double>(row.writers));
      last_y = y(value);
      points += text_of("%.1f,%.1f ", last_x, last_y);
      dots += text_of(
          "<circle cx='%.1f' cy='%.1f' r='3.5' fill='%s'><title>%zu writers: %.2f"
          "</title></circle>\n",
          last_x, last_y, colour, row.writers, value);
    }
    return text_of("<polyline fill='none' stroke-width='2.5' stroke='%s' points='", colour) +
           points + "'/>\n" + dots +
           text_of("<text x='%.1f' y='%.1f' fill='%s' font-weight='600'>%s</text>\n", last_x + 10,
                   last_y + 4, colour, label);
  }

 private:
  double most_;
};

}  // namespace

std::string picture(const ExperimentOptions& options, const std::vector<ExperimentRow>& rows) {
  const Chart chart(rows.empty() ? 2 : rows.back().writers);
  std::string svg =
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 860 450' font-size='12' "
      "font-family='system-ui, sans-serif' fill='#333'>\n<rect width='860' height='450' "
      "fill='#fcfcfa'/>\n<text x='80' y='32' font-size='17' font-weight='600'>Writes for each key "
      "as replicas are added</text>\n";
  svg += text_of(
      "<text x='80' y='52' fill='#777'>%zu keys, real lease machines in virtual time, "
      "seed %llu; both axes logarithmic</text>\n",
      options.keys, static_cast<unsigned long long>(options.seed));
  svg += chart.grid();
  svg += chart.line(rows, "#1b7837", "each change, agreeing",
                    [](const ExperimentRow& row) { return row.settled_writes; });
  svg += chart.line(rows, "#2166ac", "until settled, agreeing", [&](const ExperimentRow& row) {
    return static_cast<double>(row.settling.writes) / static_cast<double>(options.keys);
  });
  svg += chart.line(rows, "#b2610d", "8 h of disagreement",
                    [](const ExperimentRow& row) { return row.fight_long.accepted; });
  svg += chart.line(rows, "#b2182b", "10 min without a guard", [](const ExperimentRow& row) {
    return row.writers > 1 ? row.unguarded_short : 0.0;
  });
  svg += chart.goal(1.2, "goal for a change: 1.2");
  svg += "<text x='360' y='424' text-anchor='middle'>replicas that write</text>\n</svg>\n";
  return svg;
}

}  // namespace tenure::sim
