// The results that members of an exchange among peers or in the network report, and their
// comparison. Belongs to an attempt.
#pragma once

#include <cstdint>

#include "core/round/coordinator/attempt/active_round.h"
#include "core/round/coordinator/context/job_context.h"
#include "core/round/coordinator/context/membership.h"

namespace tributary {

class ReportedResults {
 public:
  // All references must outlive the object.
  ReportedResults(const JobContext& job, const Membership& membership, ActiveRound& round)
      : job_(job), membership_(membership), round_(round) {}

  // Records the hash of the results, and the combinations for the linear check, which may be null.
  void add(std::uint32_t member, std::uint64_t hash, const wire::SumsCheck* sums = nullptr);
  std::uint64_t hash_of(std::uint32_t member) const {
    return round_.members()[member].results_hash;
  }
  // Whether all participants have reported.
  bool complete() const;
  // Whether all hashes are that of the results here and, in the network, the sums are those of the
  // contributions. Notes a difference. Requires complete().
  bool agree() const;

 private:
  bool hashes_agree() const;
  bool sums_agree() const;

  const JobContext& job_;
  const Membership& membership_;
  ActiveRound& round_;
};

}  // namespace tributary
