#include "dashboard/pages/plan/choices.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "dashboard/pages/common/texts.h"
#include "dashboard/plot/data/name_colours.h"
#include "dashboard/plot/data/quantity.h"

namespace tributary::dashboard {
namespace {

constexpr int kBarsPerDecade = 4;
constexpr double kRatioWhole = 1;
constexpr double kRatioAxisLow = 0.001;

// Name number 0 means that the plan has not been read or has no such field.
// The plan of a round is read after the round, and may be missing: then both names are empty.
bool planned(const RoundTable& table, std::size_t row) {
  return table.columns.codec[row] != 0 || table.columns.collective[row] != 0;
}

// Unknown ratios (NaN) are equal to each other.
bool same_ratio(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool continues(const RoundTable& table, const Choice& choice, std::size_t row) {
  return choice.last_row + 1 == row && choice.codec == table.columns.codec[row] &&
         choice.collective == table.columns.collective[row] &&
         same_ratio(choice.ratio, table.columns.ratio[row]);
}

QString name_in(const NameList& names, std::uint16_t number) {
  return plain_text(names.name(number));
}

// Whether the trigger states a reason. A plan that only continues an earlier one states none.
bool has_reason(std::string_view trigger) {
  return !trigger.empty() && trigger != "unchanged" && trigger != "unspecified";
}

Band band_of_names(const QString& title, const RoundTable& table, const NameList& names,
                   const std::vector<std::uint16_t>& column, bool over_time) {
  Band band = {.name = title};
  if (column.empty()) return band;
  for (const NameStretch& each : RoundTable::stretches(column, 0, column.size() - 1)) {
    if (each.name == 0) continue;
    Stretch stretch = stretch_of_rows(table, each.first_row, each.last_row, over_time);
    stretch.label = name_in(names, each.name);
    stretch.colour_key = stretch.short_label = name_without_settings(stretch.label);
    stretch.named = true;
    band.stretches.push_back(std::move(stretch));
  }
  return band;
}

}  // namespace

// Extends half a round to both sides, but not beyond the rounds of the table: bands must not make a
// chart wider than its curves.
Stretch stretch_of_rows(const RoundTable& table, std::size_t first_row, std::size_t last_row,
                        bool over_time) {
  if (over_time) {
    const double low = table.columns.began_s[first_row];
    return {.x_low = low, .x_high = std::max(low, table.columns.ended_s[last_row])};
  }
  const auto place = [&](std::size_t row) { return static_cast<double>(table.columns.round[row]); };
  return {.x_low = std::max(place(first_row) - 0.5, place(0)),
          .x_high = std::min(place(last_row) + 0.5, place(table.size() - 1))};
}

// Consecutive rounds with the same codec, collective and ratio are one choice. A round without a
// plan ends it.
std::vector<Choice> choices_of(const RoundTable& table) {
  std::vector<Choice> choices;
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (!planned(table, row)) continue;
    if (choices.empty() || !continues(table, choices.back(), row)) {
      choices.push_back({.first_row = row,
                         .last_row = row,
                         .codec = table.columns.codec[row],
                         .collective = table.columns.collective[row],
                         .ratio = table.columns.ratio[row]});
    }
    choices.back().last_row = row;
  }
  return choices;
}

QString ratio_text(double ratio) {
  return std::isnan(ratio) ? QString() : QString::number(ratio, 'g', 3);
}

QString ratio_class(double ratio) {
  if (!(ratio > 0)) return "ratio 0";
  if (ratio >= kRatioWhole) return "ratio 1";
  const double power = std::pow(10, std::floor(std::log10(ratio)));
  // Two classes per power of ten: 1 to 3 and 3 to 10.
  const bool upper = ratio >= 3 * power;
  return QString("ratio %1 to %2")
      .arg(QString::number(upper ? 3 * power : power, 'g', 1),
           QString::number(upper ? 10 * power : 3 * power, 'g', 1));
}

QString choice_text(const RoundTable& table, const Choice& choice) {
  QString text = name_in(table.names.codecs, choice.codec);
  // Some codecs include the ratio in their own specification.
  if (choice.ratio < kRatioWhole && !text.contains("cr="))
    text += " at " + ratio_text(choice.ratio);
  const QString collective = name_in(table.names.collectives, choice.collective);
  return collective.isEmpty() ? text : text + " by " + collective;
}

std::vector<Band> choice_bands(const RoundTable& table, const std::vector<Choice>& choices,
                               bool over_time) {
  Band ratio = {.name = "Ratio"};
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (std::isnan(choices[i].ratio)) continue;
    const std::size_t first = i;
    while (i + 1 < choices.size() && choices[i + 1].ratio == choices[first].ratio &&
           choices[i + 1].first_row == choices[i].last_row + 1) {
      ++i;
    }
    Stretch stretch =
        stretch_of_rows(table, choices[first].first_row, choices[i].last_row, over_time);
    stretch.label = ratio_text(choices[first].ratio);
    stretch.short_label = QString::number(choices[first].ratio, 'g', 2);
    stretch.colour_key = ratio_class(choices[first].ratio);
    stretch.named = true;
    ratio.stretches.push_back(std::move(stretch));
  }
  return {band_of_names("Codec", table, table.names.codecs, table.columns.codec, over_time),
          std::move(ratio),
          band_of_names("Collective", table, table.names.collectives, table.columns.collective,
                        over_time)};
}

std::vector<Decision> decisions_of(const RoundTable& table, const std::vector<Choice>& choices,
                                   std::size_t decisions_max) {
  std::vector<Decision> decisions;  // the newest first, until the end
  for (std::size_t i = choices.size(); i-- > 0;) {
    const Choice& choice = choices[i];
    const std::string to = choice_text(table, choice).toStdString();
    // A choice may continue after rows whose plan is unknown; that is no decision.
    const std::string before =
        i == 0 ? std::string() : choice_text(table, choices[i - 1]).toStdString();
    // A row is a decision if it begins another choice, or if its plan states a reason for keeping
    // this one.
    for (std::size_t row = choice.last_row + 1; row-- > choice.first_row;) {
      const std::string& trigger = table.names.triggers.name(table.columns.trigger[row]);
      const bool other = row == choice.first_row && to != before;
      if (!other && !has_reason(trigger)) continue;
      // The list is built from the newest decision back, so the limit drops the oldest ones.
      if (decisions.size() == decisions_max) break;
      decisions.push_back({.round = table.columns.round[row],
                           .row = row,
                           .from = row == choice.first_row ? before : to,
                           .to = to,
                           .trigger = words_of(trigger).toStdString(),
                           .switched = other && i > 0});
    }
  }
  std::ranges::reverse(decisions);
  return decisions;
}

bool decides(const RoundTable& table, std::size_t row) {
  if (row == 0 || has_reason(table.names.triggers.name(table.columns.trigger[row]))) return true;
  return table.columns.codec[row - 1] != table.columns.codec[row] ||
         table.columns.collective[row - 1] != table.columns.collective[row] ||
         !same_ratio(table.columns.ratio[row - 1], table.columns.ratio[row]);
}

// Ends at row 0 at the latest, which always counts as a decision.
std::size_t decided_in(const RoundTable& table, std::size_t row) {
  while (!decides(table, row)) --row;
  return row;
}

// All settings of a codec count as the same codec; the ratios have a chart of their own.
std::vector<ChoiceShare> shares_of_names(const std::vector<Choice>& choices,
                                         std::uint16_t Choice::*column, const NameList& names) {
  std::map<QString, std::size_t> rounds;
  std::size_t all = 0;
  for (const Choice& choice : choices) {
    all += choice.rounds();
    const std::uint16_t name = choice.*column;
    rounds[name == 0 ? "unknown" : name_without_settings(name_in(names, name))] += choice.rounds();
  }
  std::vector<ChoiceShare> shares;
  for (const auto& [name, count] : rounds) {
    shares.push_back({name, count, static_cast<double>(count) / static_cast<double>(all)});
  }
  std::ranges::stable_sort(shares, std::greater<>(), &ChoiceShare::rounds);
  return shares;
}

std::vector<Bar> shares_of_ratios(const std::vector<Choice>& choices) {
  std::map<int, std::size_t> rounds;
  std::size_t all = 0;
  for (const Choice& choice : choices) {
    if (!(choice.ratio > 0)) continue;
    all += choice.rounds();
    // The upper edge belongs to a bar, so that a ratio of 1 falls into the last one.
    const double place = std::log10(std::min(choice.ratio, kRatioWhole)) * kBarsPerDecade;
    rounds[static_cast<int>(std::ceil(place - 1e-9))] += choice.rounds();
  }
  std::vector<Bar> bars;
  if (all == 0) return bars;
  // The axis has the same extent for every run, so that runs can be compared.
  bars.push_back({.x_low = kRatioAxisLow, .x_high = kRatioWhole, .y = 0});
  for (const auto& [upper, count] : rounds) {
    bars.push_back({.x_low = std::pow(10, (upper - 1.0) / kBarsPerDecade),
                    .x_high = std::pow(10, static_cast<double>(upper) / kBarsPerDecade),
                    .y = static_cast<double>(count) / static_cast<double>(all)});
  }
  return bars;
}

std::vector<GanttRow> share_rows(const std::vector<ChoiceShare>& shares) {
  std::vector<GanttRow> rows;
  for (const ChoiceShare& share : shares) {
    const QString percent = text_of(Unit::share, share.share);
    rows.push_back({.name = share.name + "  " + percent,
                    .spans = {{.x_low = 0,
                               .x_high = share.share,
                               .colour_key = name_without_settings(share.name),
                               .named = true}}});
  }
  return rows;
}

std::optional<std::uint64_t> round_next_to(const RoundTable& table, bool over_time, double x) {
  if (table.size() == 0 || !std::isfinite(x)) return std::nullopt;
  if (over_time) {
    const auto ended = std::ranges::lower_bound(table.columns.ended_s, x);
    const auto row = static_cast<std::size_t>(ended - table.columns.ended_s.begin());
    return table.columns.round[std::min(row, table.size() - 1)];
  }
  const auto at = std::ranges::lower_bound(
      table.columns.round, x, {}, [](std::uint64_t each) { return static_cast<double>(each); });
  auto row = static_cast<std::size_t>(at - table.columns.round.begin());
  if (row == table.size()) return table.columns.round.back();
  if (row > 0 && x - static_cast<double>(table.columns.round[row - 1]) <
                     static_cast<double>(table.columns.round[row]) - x) {
    --row;
  }
  return table.columns.round[row];
}

}  // namespace tributary::dashboard
