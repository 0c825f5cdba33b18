#include "core/run/round_counts.h"

#include <algorithm>

namespace tributary {

RoundCounts count_round(std::uint32_t members, std::uint32_t buckets,
                        const std::vector<OutcomeRecord>& outcomes,
                        const std::vector<ContributorSetRecord>& sets) {
  std::vector<std::uint64_t> uses(sets.size());
  for (const OutcomeRecord& outcome : outcomes) {
    if (outcome.contributor_set < uses.size()) ++uses[outcome.contributor_set];
  }
  RoundCounts counts{.contributors = Bitmap(members)};
  double sent_up = 0;
  for (std::size_t place = 0; place < sets.size(); ++place) {
    if (uses[place] == 0) continue;
    const Bitmap in(sets[place].bits, members);
    counts.contributors.add(in);
    sent_up += static_cast<double>(uses[place]) * in.count();
  }
  const double buckets_or_one = std::max(1u, buckets);
  counts.dense_updates_up = sent_up / buckets_or_one;
  counts.dense_updates_down = static_cast<double>(outcomes.size()) * members / buckets_or_one;
  return counts;
}

}  // namespace tributary
