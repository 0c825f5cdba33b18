#include "dashboard/pages/aggregator/aggregator_facts.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "dashboard/pages/common/run_facts.h"

namespace tributary::dashboard {
namespace {

constexpr std::string_view kSummedInNetwork = "in_network";
constexpr std::string_view kSummedByStar = "star";
constexpr std::string_view kExchangeFailed = "collective_failed";
constexpr double kTicksPerSecond = 1e9;

struct InstalledEpoch {
  std::string text;
  bool ended = false;
};

struct KnownAggregator {
  std::string id;
  std::string address;
  std::string slot_text;
  bool connected = false;
  std::string state;
  double since_s = kUnknown;
  std::map<std::uint64_t, InstalledEpoch> epochs;  // by job

  void end_epochs() {
    for (auto& [job, epoch] : epochs) epoch.ended = true;
  }
};

// The journal's text is "at ADDRESS, N slots"; earlier coordinators did not write the slots.
void read_address(std::string_view text, KnownAggregator& aggregator) {
  constexpr std::string_view kAt = "at ";
  if (text.starts_with(kAt)) text.remove_prefix(kAt.size());
  const std::size_t comma = text.find(", ");
  aggregator.address = text.substr(0, comma);
  aggregator.slot_text = comma == std::string_view::npos ? "" : text.substr(comma + 2);
}

// Goes through the events from the oldest on.
class AggregatorEvents {
 public:
  explicit AggregatorEvents(std::uint64_t job) : job_(job) {}

  void read(const EventRow& event) {
    const bool of_job = event.job == 0 || event.job == job_;
    if (apply(event) && of_job) incidents_.push_back(event);
  }

  std::vector<KnownAggregator>& aggregators() { return aggregators_; }
  std::vector<EventRow>& incidents() { return incidents_; }
  // The events of refused sums name the aggregator by its address.
  std::uint64_t refused(std::uint64_t job, const std::string& address) const {
    const auto found = refused_.find({job, address});
    return found == refused_.end() ? 0 : found->second;
  }
  std::uint64_t refused(std::uint64_t job) const {
    std::uint64_t sum = 0;
    for (const auto& [of, count] : refused_) sum += of.first == job ? count : 0;
    return sum;
  }
  // The aggregator that installed the job's newest epoch.
  const std::string& newest_of_job() const { return newest_of_job_; }

 private:
  // Returns whether the event concerns aggregators.
  bool apply(const EventRow& event) {
    if (event.name == "aggregator_connected") return connected(event);
    if (event.name == "epoch_installed") return installed(event);
    if (event.name == "agent_gone") return gone(event);
    if (event.name == "sums_refused") {
      if (refused_.size() < kAggregatorRowsMax) ++refused_[{event.job, event.source}];
      return true;
    }
    if (event.name == "round_aborted") {
      return event.reason == kExchangeFailed && !aggregators_.empty();
    }
    return event.name == "epoch_refused" || event.name == "aggregator_gone";
  }
  bool connected(const EventRow& event) {
    KnownAggregator* const aggregator = with_id(event.source, true);
    if (!aggregator) return true;
    aggregator->connected = true;
    aggregator->state = "connected";
    aggregator->since_s = static_cast<double>(event.at_wall_ns) / kTicksPerSecond;
    // A new session begins without epochs.
    aggregator->end_epochs();
    read_address(event.text, *aggregator);
    return true;
  }
  bool installed(const EventRow& event) {
    if (event.job == job_) newest_of_job_ = event.source;
    KnownAggregator* const aggregator = with_id(event.source, true);
    if (aggregator && aggregator->epochs.size() < kAggregatorRowsMax) {
      aggregator->epochs[event.job] = {.text = event.text};
    }
    return true;
  }
  // Agents leave by the same event, so only known aggregators count.
  bool gone(const EventRow& event) {
    KnownAggregator* const aggregator = with_id(event.source, false);
    if (!aggregator) return false;
    aggregator->connected = false;
    aggregator->state = event.reason.empty() ? "gone" : "gone: " + event.reason;
    aggregator->since_s = static_cast<double>(event.at_wall_ns) / kTicksPerSecond;
    aggregator->end_epochs();
    return true;
  }
  // Null if it is unknown and must not be added, or the list is full.
  KnownAggregator* with_id(const std::string& id, bool add) {
    const auto found = std::ranges::find(aggregators_, id, &KnownAggregator::id);
    if (found != aggregators_.end()) return &*found;
    if (!add || aggregators_.size() >= kAggregatorRowsMax) return nullptr;
    KnownAggregator& added = aggregators_.emplace_back();
    added.id = id;
    return &added;
  }

  std::uint64_t job_;
  std::vector<KnownAggregator> aggregators_;
  std::vector<EventRow> incidents_;
  std::map<std::pair<std::uint64_t, std::string>, std::uint64_t> refused_;
  std::string newest_of_job_;
};

const JobInfo* job_of(const RunView& view, std::uint64_t job) {
  const auto found = std::ranges::find(view.jobs(), job, &JobInfo::job);
  return found == view.jobs().end() ? nullptr : &*found;
}

// A plan with several exchanges has several collectives, separated by commas.
bool names_collective(std::string_view collectives, std::string_view one) {
  while (!collectives.empty()) {
    const std::size_t comma = collectives.find(',');
    std::string_view name = collectives.substr(0, comma);
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    if (name == one) return true;
    if (comma == std::string_view::npos) return false;
    collectives.remove_prefix(comma + 1);
  }
  return false;
}

// Plans arrive after their rounds, so the newest round is that with a known plan.
void count_rounds(const RoundTable& table, AggregatorFacts& facts) {
  enum class Kind : std::uint8_t { unknown, in_network, star, other };
  std::vector<Kind> kinds;
  for (std::size_t i = 0; i < table.names.collectives.size(); ++i) {
    const std::string& name = table.names.collectives.name(static_cast<std::uint16_t>(i));
    kinds.push_back(name.empty()                               ? Kind::unknown
                    : names_collective(name, kSummedInNetwork) ? Kind::in_network
                    : name == kSummedByStar                    ? Kind::star
                                                               : Kind::other);
  }
  std::uint16_t newest_name = 0;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const Kind kind = kinds[table.columns.collective[row]];
    ++facts.rounds.all;
    facts.rounds.in_network += kind == Kind::in_network ? 1u : 0u;
    facts.rounds.star += kind == Kind::star ? 1u : 0u;
    facts.rounds.other += kind == Kind::other ? 1u : 0u;
    facts.rounds.unknown += kind == Kind::unknown ? 1u : 0u;
    if (kind == Kind::star) facts.newest_star_round = table.columns.round[row];
    if (kind == Kind::unknown) continue;
    facts.newest_round = table.columns.round[row];
    facts.in_use = kind == Kind::in_network;
    newest_name = table.columns.collective[row];
  }
  facts.newest_collective = table.names.collectives.name(newest_name);
}

}  // namespace

AggregatorFacts aggregator_facts(const RunView& view, std::uint64_t job) {
  AggregatorFacts facts;
  AggregatorEvents events(job);
  for (const EventRow& event : view.events()) events.read(event);
  for (const KnownAggregator& aggregator : events.aggregators()) {
    const AggregatorRow without_epoch = {.id = aggregator.id,
                                         .address = aggregator.address,
                                         .slot_text = aggregator.slot_text,
                                         .connected = aggregator.connected,
                                         .state = aggregator.state,
                                         .since_s = aggregator.since_s};
    if (aggregator.epochs.empty()) facts.rows.push_back(without_epoch);
    for (const auto& [number, epoch] : aggregator.epochs) {
      if (facts.rows.size() >= kAggregatorRowsMax) break;
      AggregatorRow& row = facts.rows.emplace_back(without_epoch);
      const JobInfo* const info = job_of(view, number);
      row.epoch = epoch.text;
      row.epoch_ended = epoch.ended || (info && has_ended(info->state));
      row.job = number;
      row.job_name = info ? info->name : "";
      row.sums_refused = events.refused(number, aggregator.address);
    }
  }
  if (const RoundTable* const table = view.rounds(job)) count_rounds(*table, facts);
  if (facts.in_use) facts.used_id = events.newest_of_job();
  facts.sums_refused = events.refused(job);
  std::vector<EventRow>& incidents = events.incidents();
  std::ranges::reverse(incidents);
  if (incidents.size() > kIncidentsMax) incidents.resize(kIncidentsMax);
  facts.incidents = std::move(incidents);
  return facts;
}

}  // namespace tributary::dashboard
