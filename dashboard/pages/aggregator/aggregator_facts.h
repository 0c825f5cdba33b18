// Reads from a run's journal which aggregators in the network connected, the epochs that
// they installed for a job, and how the job's rounds were summed. Pure functions over a RunView,
// without widgets. They cost time linear in the events and rounds that the view keeps.
//
// The view must not change during a call. The result owns its texts, which are those of the
// journal: not trusted, and empty if the journal does not have them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/run/view/run_view.h"

namespace tributary::dashboard {

// An aggregator and the newest epoch that it installed for one job. An aggregator without epochs
// has one row, one with epochs of several jobs a row for each.
struct AggregatorRow {
  std::string id = {};
  std::string address = {};    // where agents send to
  std::string slot_text = {};  // of the aggregator, for all jobs; "64 slots"
  bool connected = false;      // as the newest event says; a killed coordinator leaves no event
  std::string state = {};      // "connected", or "gone" with the reason
  double since_s = kUnknown;   // wall time of the state, in seconds; NaN: unknown
  std::string epoch = {};      // with the number of agents and the job's share of the slots
  bool epoch_ended = false;    // the aggregator has gone or come back since, or the job is over
  std::uint64_t job = 0;       // of the epoch; 0: none
  std::string job_name = {};
  std::uint64_t sums_refused = 0;  // of that job, by the linear check
};

// The rounds that the view keeps, by the collective of their plan.
struct RoundsSummed {
  std::uint64_t all = 0;
  std::uint64_t in_network = 0;
  std::uint64_t star = 0;
  std::uint64_t other = 0;
  std::uint64_t unknown = 0;  // the plan is missing or not read yet
};

struct AggregatorFacts {
  std::vector<AggregatorRow> rows = {};  // in the order of first connection
  RoundsSummed rounds = {};
  std::optional<std::uint64_t> newest_round = {};  // with a known plan
  std::string newest_collective = {};
  bool in_use = false;       // the newest round was summed in the network
  std::string used_id = {};  // the aggregator that did so; empty: unknown
  std::optional<std::uint64_t> newest_star_round = {};
  std::uint64_t sums_refused = 0;        // of the job
  std::vector<EventRow> incidents = {};  // of aggregators and this job's epochs, newest first
};

inline constexpr std::size_t kAggregatorRowsMax = 256;
inline constexpr std::size_t kIncidentsMax = 100;

AggregatorFacts aggregator_facts(const RunView& view, std::uint64_t job);

}  // namespace tributary::dashboard
