// Measures one rank of an all-reduce. Our program and its peers share this code, so all are
// measured with the same clock, the same values and the same accounting of time and bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"

namespace tributary::bench {

// Size and number of the exchanges of one rank.
struct RankSettings {
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  std::string address;  // this rank's address; the counters of its interface are read
  std::uint64_t bytes = 25u << 20;
  std::uint32_t rounds = 10;
  // Rounds before the measured ones: windows grow and pages are faulted in.
  std::uint32_t warm_ups = 2;
  // False for a lossy codec, whose sums cannot be predicted. Updates then resemble gradients, and
  // equal values of sums_hash show that all ranks have the same sums.
  bool exact = true;
  FloatVector gradient = {};  // this rank's update if not exact; empty: synthetic
};

// `barrier` runs between rounds and is not timed. `all_reduce` replaces the update by the sum.
struct Exchange {
  std::function<Status()> barrier;
  std::function<Status(FloatVector& update)> all_reduce;
};

// Measurements of one rank, over the timed rounds.
struct RankFigures {
  std::vector<double> round_s;
  // Start of each round by the machine's clock, which all ranks on one machine share. The barrier
  // releases ranks up to a latency apart, so a round of all ranks lasts from the last rank's start
  // to the last rank's end.
  std::vector<double> began_s;
  // CPU time of the whole process, only in timed rounds.
  double cpu_user_s = 0;
  double cpu_system_s = 0;
  // As counted by the interface, including headers; 0 if no interface has the address.
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t sums_hash = 0;  // over the sums of all timed rounds
};

// Runs the warm-ups and the timed rounds, and blocks meanwhile. A wrong sum (mismatch), a sum that
// is not finite (not_finite) or an error of the exchange ends the measurement.
Result<RankFigures> measure_rank(const RankSettings& settings, const Exchange& exchange);

// The median of the values; 0 without any.
double median_of(std::vector<double> values);

// The output of the programs: one JSON object, or lines for people.
std::string figures_json(std::string_view program, std::string_view algorithm,
                         const RankSettings& settings, const RankFigures& figures);
std::string figures_text(std::string_view program, std::string_view algorithm,
                         const RankSettings& settings, const RankFigures& figures);

}  // namespace tributary::bench
