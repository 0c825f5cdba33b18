#include "dashboard/tables/models/alternatives_model.h"

#include <algorithm>

#include "core/run/view/run_view.h"

namespace tributary::dashboard {
namespace {

enum AlternativeColumn : int {
  // The most important columns stand first. A narrow window hides the parts of the predicted time.
  kAlternativeChoice,
  kAlternativeRound,
  kAlternativeGain,
  kAlternativeCodec,
  kAlternativeCollective,
  kAlternativeRatio,
  kAlternativeEncode,
  kAlternativeWire,
  kAlternativeDecode,
};

std::vector<TableColumn> alternative_columns() {
  constexpr auto kNumber = CellKind::number;
  return {
      {"choice", "Choice", CellKind::rank, Unit::one,
       "Pareto front (time against gain); the knee is chosen", true},
      {"round_time", "Round time", kNumber, Unit::seconds, "Predicted time of the whole round",
       true},
      {"gain", "Gain", kNumber, Unit::share, "Predicted share of the update's energy that is sent",
       true},
      {"codec", "Codec", CellKind::text, Unit::one, "", true},
      {"collective", "Collective", CellKind::text, Unit::one, "", true},
      {"ratio", "Ratio", kNumber, Unit::one, "Share of the update that is sent", true},
      {"encode", "Encode", kNumber, Unit::seconds, "Predicted encoding time", true},
      {"wire", "Wire", kNumber, Unit::seconds, "Predicted transfer time", true},
      {"decode", "Decode", kNumber, Unit::seconds, "Predicted decoding time", true},
  };
}

}  // namespace

AlternativesModel::AlternativesModel(QObject* parent) : RowsModel(alternative_columns(), parent) {}

void AlternativesModel::update(const RoundDetail& detail) {
  show_rows(std::vector<PlanAlternative>(detail.alternatives));
}

int AlternativesModel::chosen_row() const {
  const auto found = std::ranges::find(rows(), true, &PlanAlternative::chosen);
  return found == rows().end() ? -1 : static_cast<int>(found - rows().begin());
}

bool AlternativesModel::same_item(const PlanAlternative& a, const PlanAlternative& b) const {
  return a.codec == b.codec && a.collective == b.collective && same_number(a.ratio, b.ratio);
}

bool AlternativesModel::same_values(const PlanAlternative& a, const PlanAlternative& b) const {
  return same_number(a.encode_s, b.encode_s) && same_number(a.wire_s, b.wire_s) &&
         same_number(a.decode_s, b.decode_s) && same_number(a.round_s, b.round_s) &&
         same_number(a.gain, b.gain) && a.pareto == b.pareto && a.chosen == b.chosen;
}

double AlternativesModel::number(int row, int column) const {
  const PlanAlternative& alternative = row_at(row);
  switch (column) {
    case kAlternativeChoice:
      if (alternative.chosen) return 0;
      return alternative.pareto ? 1 : 2;
    case kAlternativeRatio:
      return alternative.ratio;
    case kAlternativeRound:
      return alternative.round_s;
    case kAlternativeEncode:
      return alternative.encode_s;
    case kAlternativeWire:
      return alternative.wire_s;
    case kAlternativeDecode:
      return alternative.decode_s;
    case kAlternativeGain:
      return alternative.gain;
    default:
      return kUnknown;
  }
}

std::string_view AlternativesModel::words(int row, int column) const {
  const PlanAlternative& alternative = row_at(row);
  switch (column) {
    case kAlternativeChoice:
      if (alternative.chosen) return "● chosen";
      return alternative.pareto ? "○ Pareto" : "";
    case kAlternativeCodec:
      return alternative.codec;
    case kAlternativeCollective:
      return alternative.collective;
    default:
      return {};
  }
}

CellMark AlternativesModel::mark(int row, int /*column*/) const {
  const PlanAlternative& alternative = row_at(row);
  if (alternative.chosen) return CellMark::chosen;
  return alternative.pareto ? CellMark::good : CellMark::none;
}

}  // namespace tributary::dashboard
