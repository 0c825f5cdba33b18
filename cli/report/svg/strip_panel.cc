#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "cli/report/svg/panels.h"
#include "cli/report/svg/xml_text.h"

namespace tributary::report {
namespace {

// In units of the drawing, which are pixels at scale 1.
constexpr double kStripHeight = 24;
constexpr double kBetweenStrips = 6;
// More bands than this would be narrower than a pixel.
constexpr std::size_t kBandsMax = 1200;
// Further labels share a neutral colour.
constexpr std::size_t kKindsMax = 12;

// Returns the labels in the order of their first appearance, so that a label has the same colour in
// all figures of a run.
std::vector<std::string> kinds_of(const std::vector<Band>& bands) {
  std::vector<std::string> kinds;
  std::set<std::string_view> seen;
  for (const Band& band : bands) {
    if (seen.insert(band.label).second) kinds.push_back(band.label);
  }
  return kinds;
}

// With more than kBandsMax bands, only the longest band of each interval is kept.
std::vector<Band> thinned(const std::vector<Band>& bands) {
  if (bands.size() <= kBandsMax) return bands;
  std::vector<Band> out;
  for (std::size_t i = 0; i < kBandsMax; ++i) {
    const auto begin = bands.begin() + static_cast<std::ptrdiff_t>(i * bands.size() / kBandsMax);
    const auto end =
        bands.begin() + static_cast<std::ptrdiff_t>((i + 1) * bands.size() / kBandsMax);
    Band longest = *std::max_element(
        begin, end, [](const Band& a, const Band& b) { return a.to - a.from < b.to - b.from; });
    // The band covers its whole interval, so that no gaps appear.
    longest.from = begin->from;
    longest.to = (end - 1)->to;
    out.push_back(std::move(longest));
  }
  return out;
}

// Returns for each label whether it did not fit into any band; the legend then names it.
std::vector<bool> draw_strip(Drawing& drawing, const Strip& strip, const Axis& x, double y,
                             const std::vector<std::string>& kinds) {
  drawing.words(x.begin - 8, y + 16, strip.title, Anchor::end, "tick");
  drawing.box(x.begin, y, x.end - x.begin, kStripHeight, "empty");
  std::vector<bool> unnamed(kinds.size(), true);
  for (const Band& band : thinned(strip.bands)) {
    const double from = std::clamp(x.place(band.from), x.begin, x.end);
    const double to = std::clamp(x.place(band.to), x.begin, x.end);
    const auto kind =
        static_cast<std::size_t>(std::ranges::find(kinds, band.label) - kinds.begin());
    const std::string css_class = kind < kKindsMax ? colour_class(kind) + " band" : "ref band";
    // Very short bands keep a minimum width, so that they remain visible.
    drawing.box(from, y, std::max(to - from, 0.3), kStripHeight, css_class,
                band.why.empty() ? band.label : band.label + ": " + band.why);
    if (width_of(band.label) + 8 > to - from) continue;
    drawing.words((from + to) / 2, y + 16, band.label, Anchor::middle, "inband");
    unnamed[kind] = false;
  }
  return unnamed;
}

}  // namespace

// Each strip has its own legend, because the strips show different kinds of names.
double draw_panel(Drawing& drawing, const StripPanel& panel, const Axis& x, double y) {
  for (const Strip& strip : panel.strips) {
    const std::vector<std::string> kinds = kinds_of(strip.bands);
    const std::vector<bool> unnamed = draw_strip(drawing, strip, x, y, kinds);
    y += kStripHeight + 3;
    std::vector<LegendEntry> entries;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (!unnamed[i]) continue;
      entries.push_back({.css_class = (i < kKindsMax ? colour_class(i) : "ref") + " line",
                         .text = shortened(kinds[i], 60),
                         .area = true});
    }
    if (!entries.empty()) y = draw_legend(drawing, entries, x.begin, y);
    y += kBetweenStrips;
  }
  return y - kBetweenStrips;
}

}  // namespace tributary::report
