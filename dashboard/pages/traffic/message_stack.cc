#include "dashboard/pages/traffic/message_stack.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace tributary::dashboard {
namespace {

std::size_t place_of(MessageUse use) { return static_cast<std::size_t>(use); }

// Returns the reading of exactly this round.
std::optional<double> at_round(const Series& series, double round) {
  const std::optional<Sample> found = series.nearest(round);
  return found && found->x == round ? std::optional(found->y) : std::nullopt;
}

}  // namespace

QString MessageStack::key_of(MessageUse use) {
  const std::string_view name = kMessageUseNames[place_of(use)].name;
  return "messages " + QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

std::vector<MessageStack::Layer> MessageStack::layers_of(const RunView& view,
                                                         const Selection& selection) const {
  std::vector<Layer> layers;
  for (const MessageUseNames& names : kMessageUseNames) {
    const MetricCurve* const metric =
        view.metric(selection.job, reading_name(selection.up ? names.up : names.down), "");
    if (metric) layers.push_back({.names = names, .source = metric->curve.over_rounds});
  }
  return layers;
}

bool MessageStack::goes_on(const std::vector<Layer>& layers, const RoundTable& rounds,
                           const Selection& selection) const {
  // A change of all_read alone does not restart the stack.
  Selection before = selection_;
  before.all_read = selection.all_read;
  const bool shorter =
      last_round_ && (rounds.size() == 0 || rounds.columns.round.back() < *last_round_);
  return before == selection && table_ == rounds.curves.seconds.over_rounds && !shorter &&
         std::ranges::equal(layers, layers_, {}, &Layer::source, &Layer::source);
}

// Each layer is stacked on the nearest lower layer that is shown.
void MessageStack::begin(std::vector<Layer> layers, const RoundTable& rounds) {
  table_ = rounds.curves.seconds.over_rounds;
  last_round_.reset();
  const auto empty = [&] { return std::make_shared<Series>(table_->samples_max()); };
  ground_ = empty();
  Filled below = ground_;
  for (Layer& layer : layers) {
    layer.own = empty();
    layer.low = below;
    layer.high = empty();
    if (selection_.shown[place_of(layer.names.use)]) below = layer.high;
  }
  layers_ = std::move(layers);
}

void MessageStack::follow(const RunView& view, const Selection& selection) {
  const RoundTable* const rounds = view.rounds(selection.job);
  std::vector<Layer> layers;
  if (rounds) layers = layers_of(view, selection);
  if (layers.empty()) {
    layers_.clear();
    table_.reset();
    return;
  }
  const bool further = goes_on(layers, *rounds, selection);
  selection_ = selection;
  if (!further) begin(std::move(layers), *rounds);

  double first = std::numeric_limits<double>::infinity();
  double forgotten = -first;
  double newest = -first;
  for (const Layer& layer : layers_) {
    if (layer.source->empty()) continue;
    const Series& source = *layer.source;
    first = std::min(first, source.at(0).x);
    newest = std::max(newest, source.last()->x);
    // A full series has dropped its oldest samples. For earlier rounds it is unknown whether the
    // use had none.
    if (source.size() == source.samples_max()) forgotten = std::max(forgotten, source.at(0).x);
  }
  auto next = rounds->columns.round.begin();
  if (last_round_) next = std::ranges::upper_bound(rounds->columns.round, *last_round_);
  for (; next != rounds->columns.round.end(); ++next) {
    const auto round = static_cast<double>(*next);
    if (round > newest || (round == newest && !selection.all_read)) return;
    last_round_ = *next;
    if (round < std::max(first, forgotten)) continue;
    const auto row = static_cast<std::size_t>(next - rounds->columns.round.begin());
    add(round, selection.over_time ? rounds->columns.ended_s[row] : round);
  }
}

// A round without any reading is a gap: the coordinator could not write its readings.
void MessageStack::add(double round, double x) {
  std::vector<std::optional<double>> layer_values;
  for (const Layer& layer : layers_) layer_values.push_back(at_round(*layer.source, round));
  const bool known =
      std::ranges::any_of(layer_values, [](const auto& each) { return each.has_value(); });
  const std::optional<Sample> before = ground_->last();
  x = before ? std::max(before->x, x) : x;
  const double nothing = known ? 0 : kUnknown;
  ground_->append({x, nothing});
  double height = nothing;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const double own = layer_values[i].value_or(nothing);
    const double top = height + own;
    layers_[i].own->append({x, own});
    layers_[i].high->append({x, top});
    if (selection_.shown[place_of(layers_[i].names.use)]) height = top;
  }
}

std::vector<PlotCurve> MessageStack::curves() const {
  std::vector<PlotCurve> curves;
  for (const Layer& layer : layers_) {
    const std::string_view name = layer.names.name;
    curves.push_back({.key = key_of(layer.names.use),
                      .name = QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())),
                      .series = layer.high,
                      .low = layer.low,
                      .high = layer.high,
                      .own = layer.own});
  }
  return curves;
}

}  // namespace tributary::dashboard
