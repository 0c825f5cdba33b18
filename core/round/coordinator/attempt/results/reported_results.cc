#include "core/round/coordinator/attempt/results/reported_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/collective/in_network/linear_check.h"

namespace tributary {

void ReportedResults::add(std::uint32_t member, std::uint64_t hash, const wire::SumsCheck* sums) {
  round_.members()[member].results_hash = hash;
  if (sums) round_.members()[member].sums_check = {.sent = sums->sent(), .got = sums->got()};
}

bool ReportedResults::complete() const {
  return std::ranges::none_of(round_.members(), [](const RoundMember& member) {
    return member.participates && member.results_hash == 0;
  });
}

bool ReportedResults::agree() const {
  return hashes_agree() && (!round_.plan().in_network() || sums_agree());
}

bool ReportedResults::hashes_agree() const {
  const std::uint64_t hash = round_.results_hash();
  for (std::uint32_t i = 0; i < membership_.size(); ++i) {
    const RoundMember& member = round_.members()[i];
    if (!member.participates || member.results_hash == hash) continue;
    job_.coordinator.note(
        LogLevel::error, "results_differ", "mismatch", membership_.members()[i].agent_id,
        fmt::format("expected {:016x}, as the results are, got {:016x}", hash, member.results_hash),
        round_.key());
    return false;
  }
  return true;
}

// The linear check: what all members sent must add up to what each of them got. The results are the
// same for all, so a wrong sum shows at every member.
bool ReportedResults::sums_agree() const {
  std::vector<std::uint64_t> sent;
  for (const RoundMember& member : round_.members()) {
    if (member.participates && member.sums_check) sent.push_back(member.sums_check->sent);
  }
  bool agree = sent.size() == round_.plan().agents();
  for (const RoundMember& member : round_.members()) {
    if (!member.participates || !member.sums_check) continue;
    agree &= in_network::sums_agree(sent, member.sums_check->got);
  }
  if (agree) return true;
  job_.coordinator.note(LogLevel::error, "sums_refused", "mismatch", round_.plan().aggregator(),
                        "expected sums of the contributions, got others from the aggregator; the "
                        "attempt goes on by the star",
                        round_.key());
  return false;
}

}  // namespace tributary
