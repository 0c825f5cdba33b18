// The figures that a report begins with, and what else is counted over a whole run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/report/run_data.h"

namespace tributary::report {

// The plan of a round differs from the one before it in codec, ratio or collective.
struct Switch {
  std::uint64_t round = 0;
  double at_s = 0;
  std::string from;
  std::string to;
  std::string trigger;
  std::string sentence;
};

struct RunFigures {
  std::uint64_t job = 0;
  std::string job_name;
  std::string state;
  std::uint64_t rounds = 0;
  std::uint64_t rounds_wanted = 0;
  double wall_s = 0;  // from the first round's begin to the last commit, pauses included
  std::uint64_t agents = 0;

  // Of the coordinator's test set, or, where it has none, the mean of the agents' hold-outs.
  std::optional<double> accuracy_final;
  std::optional<double> accuracy_best;
  std::optional<double> loss_final;
  bool evaluated_by_agents = false;
  std::optional<double> train_loss_final;  // mean of the agents' last reports

  // Payloads as the coordinator counted them; dense is what float32 would have been.
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  std::optional<std::uint64_t> bytes_dense_up;  // absent: not all plans could be read
  std::optional<std::uint64_t> bytes_dense_down;
  // With frames, retries and control messages, from the sockets; absent: not in the journal.
  std::optional<std::uint64_t> wire_bytes_up;
  std::optional<std::uint64_t> wire_bytes_down;

  std::map<std::string, std::uint64_t> codecs;       // rounds in which each was used
  std::map<std::string, std::uint64_t> collectives;  // the same
  std::string main_codec;  // by which most values were exchanged; empty: no plan
  std::string main_collective;
  std::map<std::string, std::uint64_t> choices;  // codec, ratio and collective together
  std::vector<Switch> switches;

  bool replicas_identical = false;  // no event in the journal says otherwise
  std::uint64_t divergences = 0;
  std::uint64_t aborts = 0;
  std::uint64_t contributions_missed = 0;  // asked for, and not in the commit
  std::uint64_t contributions_asked = 0;
  // A share of what rounding explains: above 1 something was lost.
  std::optional<double> conservation_error_max;
};

RunFigures figures_of(const RunData& data);

// "12.3:1", where both are known.
std::optional<double> ratio_of(std::optional<std::uint64_t> dense, std::uint64_t bytes);

}  // namespace tributary::report
