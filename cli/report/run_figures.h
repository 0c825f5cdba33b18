// The key figures of a run, which a report shows first, and totals over all rounds. Pure functions.
// A figure that the journal does not contain is empty, never 0.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/report/run_data.h"

namespace tributary::report {

// A round whose plan differs from the previous one in codec, ratio or collective.
struct Switch {
  std::uint64_t round = 0;
  double at_s = 0;
  std::string from;
  std::string to;
  std::string trigger;
  std::string sentence;
};

// Counts refer to committed rounds that the journal still contains.
struct RunFigures {
  std::uint64_t job = 0;
  std::string job_name;
  std::string state;
  std::uint64_t rounds = 0;
  std::uint64_t rounds_configured = 0;
  double wall_s = 0;  // from the start of the first round to the last commit, including pauses
  std::uint64_t agents = 0;

  // Measured on the coordinator's test set; without one, the mean of the agents' hold-out sets.
  std::optional<double> accuracy_final;
  std::optional<double> accuracy_best;
  std::optional<double> loss_final;
  bool evaluated_by_agents = false;
  std::optional<double> train_loss_final;  // mean of the agents' last reports

  // Payload bytes as counted by the coordinator. Dense is their size as float32.
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  std::optional<std::uint64_t> bytes_dense_up;  // empty: number of parameters unknown
  std::optional<std::uint64_t> bytes_dense_down;
  // Including frames, retries and control messages, counted at the sockets. Empty: not in the
  // journal.
  std::optional<std::uint64_t> wire_bytes_up;
  std::optional<std::uint64_t> wire_bytes_down;

  std::map<std::string, std::uint64_t> codecs;       // number of rounds in which each was used
  std::map<std::string, std::uint64_t> collectives;  // likewise
  std::string main_codec;  // the codec of most values; empty: no plan could be read
  std::string main_collective;
  std::map<std::string, std::uint64_t> choices;  // rounds by codec, ratio and collective together
  std::vector<Switch> switches;

  MissingRounds missing;
  bool replicas_identical = false;  // the journal contains no divergence
  std::uint64_t divergences = 0;
  std::uint64_t aborts = 0;
  std::uint64_t contributions_missed = 0;  // requested, but not in the commit
  std::uint64_t contributions_asked = 0;
  // Share of the rounding bound: a value above 1 means that a part of an update was lost.
  std::optional<double> conservation_error_max;
};

// Costs one pass over the data.
RunFigures figures_of(const RunData& data);

// Returns dense / bytes. Empty if either is unknown.
std::optional<double> ratio_of(std::optional<std::uint64_t> dense, std::uint64_t bytes);

}  // namespace tributary::report
