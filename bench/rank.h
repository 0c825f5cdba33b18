// One rank of an all-reduce that is measured: what ours and its peers do alike, so that they are
// compared by the same clock, on the same values and with the same account of time and bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"

namespace tributary::bench {

struct RankSettings {
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  std::string address;  // of this rank; its interface's counters are read
  std::uint64_t bytes = 25u << 20;
  std::uint32_t rounds = 10;
  std::uint32_t warm_ups = 2;  // rounds before the first that counts: windows and pages grow
  // A lossy codec's sums are none that could be known: updates are then like gradients, and whoever
  // compares the ranks' sums_hash knows that all have the same.
  bool exact = true;
  FloatVector gradient = {};  // what this rank gives where it is not exact; empty: made up
};

// `barrier` stands between rounds and is not timed. `all_reduce` replaces the update by the sum.
struct Exchange {
  std::function<Status()> barrier;
  std::function<Status(FloatVector& update)> all_reduce;
};

struct RankFigures {
  std::vector<double> round_s;
  // By the machine's clock, which all ranks on one machine share: the barrier lets them go up to a
  // latency apart, so that a round of all of them lasts from the last one's beginning to the last
  // one's end.
  std::vector<double> began_s;
  // Of the whole process, in the timed rounds alone.
  double cpu_user_s = 0;
  double cpu_system_s = 0;
  // As the interface counted them, headers included; 0 where no interface has the address.
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t sums_hash = 0;  // of the sums of all timed rounds
};

// Every round's sum is verified, where it is exact; one that is wrong ends the measurement.
Result<RankFigures> measure_rank(const RankSettings& settings, const Exchange& exchange);

double median_of(std::vector<double> values);

// What the program prints: one JSON object, or lines for people.
std::string figures_json(std::string_view program, std::string_view algorithm,
                         const RankSettings& settings, const RankFigures& figures);
std::string figures_text(std::string_view program, std::string_view algorithm,
                         const RankSettings& settings, const RankFigures& figures);

}  // namespace tributary::bench
