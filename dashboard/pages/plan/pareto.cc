#include "dashboard/pages/plan/pareto.h"

#include <algorithm>
#include <cmath>

#include "dashboard/pages/common/texts.h"

namespace tributary::dashboard {
namespace {

// A gap, which keeps dots from being connected.
constexpr double kNoLine = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kPlacesMax = 1 << 16;
// Factor of the margin beyond the outermost alternatives.
constexpr double kMarginFactor = 1.1;
constexpr double kLinearSpreadMax = 20;  // highest / lowest time that a linear axis shows well

std::vector<Sample> places_of(const std::vector<PlanAlternative>& alternatives, bool pareto) {
  std::vector<Sample> places;
  for (const PlanAlternative& alternative : alternatives) {
    if (alternative.pareto != pareto) continue;
    if (const auto place = pareto_place(alternative)) places.push_back(*place);
  }
  std::ranges::sort(
      places, [](const Sample& a, const Sample& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  return places;
}

std::shared_ptr<Series> line_of(const std::vector<Sample>& places) {
  auto series = std::make_shared<Series>(kPlacesMax);
  for (const Sample& place : places) series->append(place);
  return series;
}

// A sample between two gaps is drawn as a dot.
std::shared_ptr<Series> dots_of(const std::vector<Sample>& places) {
  auto series = std::make_shared<Series>(kPlacesMax);
  for (const Sample& place : places) {
    series->append({place.x, kNoLine});
    series->append(place);
  }
  return series;
}

// Two lines through the whole chart that meet at `place`. Its value comes last, so that the legend
// shows it.
std::shared_ptr<Series> cross_at(const Sample& place, const std::vector<Sample>& all) {
  const auto [low, high] = std::ranges::minmax(all, {}, &Sample::y);
  // A small margin keeps lines at the edge apart from the axes.
  const double left = all.front().x / kMarginFactor;
  return line_of({{left, place.y},
                  place,
                  {place.x, low.y / kMarginFactor},
                  {place.x, high.y * kMarginFactor},
                  place,
                  {all.back().x * kMarginFactor, place.y}});
}

}  // namespace

QString alternative_text(const PlanAlternative& alternative) {
  const QString codec = plain_text(alternative.codec);
  // Some codecs include the ratio in their own specification.
  const bool add = alternative.ratio < 1 && !codec.contains("cr=");
  const QString ratio = add ? " at " + QString::number(alternative.ratio, 'g', 3) : QString();
  return codec + ratio + " by " + plain_text(alternative.collective);
}

std::optional<std::size_t> chosen_of(const std::vector<PlanAlternative>& alternatives) {
  const auto chosen = std::ranges::find(alternatives, true, &PlanAlternative::chosen);
  if (chosen == alternatives.end()) return std::nullopt;
  return static_cast<std::size_t>(chosen - alternatives.begin());
}

std::optional<Sample> pareto_place(const PlanAlternative& alternative) {
  const Sample place = {1 / alternative.gain, alternative.round_s};
  if (!(alternative.gain > 0) || !std::isfinite(place.x) || !(place.y > 0)) return std::nullopt;
  return place;
}

std::vector<Sample> pareto_line(const std::vector<PlanAlternative>& alternatives) {
  std::vector<Sample> line;
  for (const Sample& place : places_of(alternatives, true)) {
    if (line.empty() || place.y < line.back().y) line.push_back(place);
  }
  return line;
}

bool spread_widely(const std::vector<PlanAlternative>& alternatives) {
  std::optional<Extent> seconds;
  for (const PlanAlternative& alternative : alternatives) {
    const auto place = pareto_place(alternative);
    if (!place) continue;
    if (!seconds) seconds = Extent{place->y, place->y};
    seconds = Extent{std::min(seconds->low, place->y), std::max(seconds->high, place->y)};
  }
  return seconds && seconds->high > kLinearSpreadMax * seconds->low;
}

std::vector<PlotCurve> pareto_curves(const std::vector<PlanAlternative>& alternatives,
                                     std::optional<std::size_t> selected) {
  const std::vector<Sample> set = places_of(alternatives, true);
  const std::vector<Sample> others = places_of(alternatives, false);
  std::vector<Sample> all;
  std::ranges::merge(set, others, std::back_inserter(all), {}, &Sample::x, &Sample::x);
  if (all.empty()) return {};
  std::vector<PlotCurve> curves;
  if (!set.empty()) {
    curves.push_back({.key = "Pareto set",
                      .name = "Pareto set",
                      .series = dots_of(set),
                      .raw = line_of(pareto_line(alternatives))});
  }
  if (!others.empty()) {
    curves.push_back({.key = "dominated", .name = "dominated", .series = dots_of(others)});
  }
  const auto mark = [&](const QString& key, std::optional<std::size_t> which) {
    if (!which || *which >= alternatives.size()) return;
    const auto place = pareto_place(alternatives[*which]);
    if (place) curves.push_back({.key = key, .name = key, .series = cross_at(*place, all)});
  };
  mark("chosen: the knee", chosen_of(alternatives));
  if (selected != chosen_of(alternatives)) mark("selected", selected);
  return curves;
}

}  // namespace tributary::dashboard
