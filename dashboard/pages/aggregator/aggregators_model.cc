#include "dashboard/pages/aggregator/aggregators_model.h"

namespace tributary::dashboard {
namespace {

enum AggregatorColumn : int {
  kAggregatorId,
  kAggregatorAddress,
  kAggregatorSlots,
  kAggregatorState,
  kAggregatorSince,
  kAggregatorJob,
  kAggregatorEpoch,
  kAggregatorEpochState,
  kAggregatorRefused,
};

constexpr std::string_view kNotInJournal = "–";

std::vector<TableColumn> aggregator_columns() {
  return {
      {"aggregator", "Aggregator", CellKind::text, Unit::one, "", true},
      {"address", "Address", CellKind::text, Unit::one, "Where agents send to", true},
      {"slots", "Slots", CellKind::text, Unit::one, "Slots that all jobs share", true},
      {"state", "State", CellKind::text, Unit::one,
       "As the newest event in the journal says; a killed coordinator writes none", true},
      {"since", "Since", CellKind::number, Unit::wall_time, "Local time of this machine", true},
      {"job", "Job", CellKind::text, Unit::one, "Job of the epoch", true},
      {"epoch", "Epoch", CellKind::text, Unit::one,
       "The newest epoch that it installed, with the job's slots", true},
      {"epoch_state", "Epoch state", CellKind::text, Unit::one,
       "Ended: the aggregator has gone or come back since, or the job is over", true},
      {"refused", "Refused sums", CellKind::number, Unit::count,
       "Attempts of the job whose sums the linear check refused", true},
  };
}

std::string_view or_not_stated(const std::string& text) {
  return text.empty() ? kNotInJournal : std::string_view(text);
}

}  // namespace

AggregatorsModel::AggregatorsModel(QObject* parent) : RowsModel(aggregator_columns(), parent) {}

bool AggregatorsModel::same_item(const AggregatorRow& a, const AggregatorRow& b) const {
  return a.id == b.id && a.job == b.job;
}

bool AggregatorsModel::same_values(const AggregatorRow& a, const AggregatorRow& b) const {
  return a.address == b.address && a.slot_text == b.slot_text && a.connected == b.connected &&
         a.state == b.state && same_number(a.since_s, b.since_s) && a.epoch == b.epoch &&
         a.epoch_ended == b.epoch_ended && a.job_name == b.job_name &&
         a.sums_refused == b.sums_refused;
}

double AggregatorsModel::number(int row, int column) const {
  const AggregatorRow& aggregator = row_at(row);
  switch (column) {
    case kAggregatorSince:
      return aggregator.since_s;
    case kAggregatorRefused:
      return aggregator.job == 0 ? kUnknown : static_cast<double>(aggregator.sums_refused);
    default:
      return kUnknown;
  }
}

std::string_view AggregatorsModel::words(int row, int column) const {
  const AggregatorRow& aggregator = row_at(row);
  switch (column) {
    case kAggregatorId:
      return or_not_stated(aggregator.id);
    case kAggregatorAddress:
      return or_not_stated(aggregator.address);
    case kAggregatorSlots:
      return or_not_stated(aggregator.slot_text);
    case kAggregatorState:
      return aggregator.state.empty() ? "unknown" : std::string_view(aggregator.state);
    case kAggregatorJob:
      return or_not_stated(aggregator.job_name);
    case kAggregatorEpoch:
      return or_not_stated(aggregator.epoch);
    case kAggregatorEpochState:
      if (aggregator.epoch.empty()) return kNotInJournal;
      return aggregator.epoch_ended ? "ended" : "installed";
    default:
      return {};
  }
}

CellMark AggregatorsModel::mark(int row, int column) const {
  const AggregatorRow& aggregator = row_at(row);
  if (column == kAggregatorRefused && aggregator.sums_refused > 0) return CellMark::error;
  return aggregator.connected ? CellMark::none : CellMark::faint;
}

}  // namespace tributary::dashboard
