#include "dashboard/plot/layers/plot_content.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "dashboard/plot/data/name_colours.h"

namespace tributary::dashboard {
namespace {

constexpr double kSameShare = 1e-9;    // relative difference below which values are equal
constexpr double kMarginShare = 0.05;  // margin above the highest value
// With more kinds, the legend would hide the plot.
constexpr std::size_t kStretchLegendMax = 12;

void unite(std::optional<Extent>& all, std::optional<Extent> more) {
  if (!more) return;
  all = all ? Extent{std::min(all->low, more->low), std::max(all->high, more->high)} : *more;
}

std::vector<SharedSeries> series_of(const PlotCurve& curve) {
  std::vector<SharedSeries> found;
  for (const SharedSeries& series : {curve.series, curve.raw, curve.low, curve.high}) {
    if (series) found.push_back(series);
  }
  return found;
}

// Returns the lowest value above 0, the lower end of a log axis.
std::optional<double> lowest_positive(const Series& series, Extent x) {
  // The series has no query for this. Drawing it with 512 columns gives the minimum of each column,
  // which is exact enough for an axis.
  constexpr int kColumns = 512;
  std::vector<double> borders(kColumns + 1);
  for (int i = 0; i <= kColumns; ++i) {
    borders[static_cast<std::size_t>(i)] = x.low + (x.high - x.low) * i / kColumns;
  }
  std::vector<Sample> drawn;
  series.draw(borders, drawn);
  std::optional<double> lowest;
  for (const Sample& sample : drawn) {
    if (sample.y > 0) lowest = std::min(lowest.value_or(sample.y), sample.y);
  }
  return lowest;
}

Extent with_margin(Extent range, bool log, bool from_zero) {
  if (log) {
    const double factor = std::max(std::pow(range.high / range.low, kMarginShare), 1.05);
    return {range.low / factor, range.high * factor};
  }
  if (from_zero && range.low > 0) range.low = 0;
  double margin = (range.high - range.low) * kMarginShare;
  // Rounding makes the mean of equal values differ slightly from them.
  const double size = std::max(std::fabs(range.low), std::fabs(range.high));
  if (range.high - range.low <= size * kSameShare) margin = size > 0 ? size * kMarginShare : 1;
  return {from_zero && range.low == 0 ? 0 : range.low - margin, range.high + margin};
}

}  // namespace

std::optional<Extent> x_extent(const PlotContent& content) {
  std::optional<Extent> all;
  for (const PlotCurve& curve : content.curves) {
    for (const SharedSeries& series : series_of(curve)) unite(all, series->x_extent());
  }
  for (const Bars& bars : content.bars) {
    for (const Bar& bar : bars.bars) unite(all, Extent{bar.x_low, bar.x_high});
  }
  const auto stretch = [&](const Stretch& each) { unite(all, Extent{each.x_low, each.x_high}); };
  for (const Band& band : content.bands) std::ranges::for_each(band.stretches, stretch);
  for (const GanttRow& row : content.rows) {
    std::ranges::for_each(row.spans, stretch);
    for (const GanttMoment& moment : row.moments) unite(all, Extent{moment.x, moment.x});
  }
  return all;
}

// A sum of counters that only increase changes with every change of any of them.
std::uint64_t revision(const PlotContent& content) {
  std::uint64_t sum = 0;
  for (const PlotCurve& curve : content.curves) {
    for (const SharedSeries& series : series_of(curve)) sum += series->revision();
  }
  return sum;
}

Extent fitted_y(const PlotContent& content, const YFit& fit,
                FunctionRef<bool(const QString& key)> shown) {
  if (!content.rows.empty()) return {0, static_cast<double>(content.rows.size())};
  std::optional<Extent> all;
  std::optional<double> positive;
  for (const PlotCurve& curve : content.curves) {
    if (!shown(curve.key)) continue;
    for (const SharedSeries& series : series_of(curve)) {
      unite(all, series->y_extent(fit.x.low, fit.x.high));
      if (!fit.log) continue;
      const auto lowest = lowest_positive(*series, fit.x);
      if (lowest) positive = std::min(positive.value_or(*lowest), *lowest);
    }
  }
  for (const Bars& bars : content.bars) {
    if (!shown(bars.key)) continue;
    for (const Bar& bar : bars.bars) {
      unite(all, Extent{fit.log ? bar.y : 0, bar.y});
      if (bar.y > 0) positive = std::min(positive.value_or(bar.y), bar.y);
    }
  }
  // Without a finite value the axis shows 0 to 1.
  if (!all || !std::isfinite(all->low) || !std::isfinite(all->high)) all = Extent{0, 1};
  if (fit.log) {
    if (!positive) positive = 1;
    all = Extent{*positive, std::max(all->high, *positive)};
  }
  return with_margin(*all, fit.log, fit.from_zero || !content.bars.empty());
}

std::vector<LegendEntry> legend_entries(const PlotContent& content, bool spans) {
  std::vector<LegendEntry> entries;
  for (const PlotCurve& curve : content.curves) entries.push_back({curve.key, curve.name});
  for (const Bars& bars : content.bars) entries.push_back({bars.key, bars.name});
  std::vector<LegendEntry> kinds;
  std::set<QString> known;
  const auto kind = [&](const Stretch& stretch) {
    if (known.insert(key_of(stretch)).second) kinds.push_back({key_of(stretch), key_of(stretch)});
  };
  for (const Band& band : content.bands) std::ranges::for_each(band.stretches, kind);
  if (spans) {
    for (const GanttRow& row : content.rows) std::ranges::for_each(row.spans, kind);
  }
  if (kinds.size() <= kStretchLegendMax) entries.insert(entries.end(), kinds.begin(), kinds.end());
  return entries;
}

void look_up_colours(const PlotContent& content, ColourSlots& colours,
                     std::map<QString, std::size_t>& slots_of_keys) {
  const auto give = [&](const QString& key) { slots_of_keys[key] = colours.slot_of(key); };
  const auto give_stretch = [&](const Stretch& stretch) {
    if (!stretch.named) return give(key_of(stretch));
    slots_of_keys[key_of(stretch)] = slot_of_name(key_of(stretch));
  };
  for (const PlotCurve& curve : content.curves) {
    // Curves of the same run share a colour in all plots, whatever their keys.
    slots_of_keys[curve.key] =
        colours.slot_of(colour_key_of(curve)) + (curve.pale ? kPaleSlotsBegin : 0);
  }
  for (const Bars& bars : content.bars) give(bars.key);
  for (const Band& band : content.bands) std::ranges::for_each(band.stretches, give_stretch);
  for (const GanttRow& row : content.rows) std::ranges::for_each(row.spans, give_stretch);
}

}  // namespace tributary::dashboard
