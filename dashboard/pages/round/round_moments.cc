#include "dashboard/pages/round/round_moments.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "dashboard/pages/common/texts.h"

namespace tributary::dashboard {
namespace {

struct MomentName {
  std::string_view event = {};
  const char* text = "";
  bool of_agent = false;  // the event's source is an agent's identifier
};

// Events that the coordinator records with a round's number (core/round).
constexpr std::array<MomentName, 11> kMomentNames = {{
    {"round_aborted", "attempt aborted, the next one starts", false},
    {"deadline_too_short", "links too slow for the deadline", false},
    {"exchange_overdue", "no result from peers in time, star used instead", false},
    {"results_differ", "result differs from its peers", true},
    {"stage_failed", "stage failed", false},
    {"bucket_dropped", "bucket dropped", false},
    {"agent_withdrew", "withdrew", true},
    {"payload_refused", "sent an unusable payload", true},
    {"agent_excluded", "excluded, its numbers cannot be added", true},
    {"cause_searched", "result not finite, half of the suspects are left out", false},
    {"job_diverged", "no attempt has finite numbers, the job is stopped", false},
}};

}  // namespace

// Searches all events that are kept. Those of an old round may be gone; the result is then empty.
std::vector<RoundMoment> moments_of(const std::deque<EventRow>& events, std::uint64_t job,
                                    std::uint64_t round, double began_s) {
  std::vector<RoundMoment> moments;
  for (const EventRow& event : events) {
    if (event.job != job || event.round != round) continue;
    const auto name = std::ranges::find(kMomentNames, event.name, &MomentName::event);
    if (name == kMomentNames.end()) continue;
    RoundMoment& moment = moments.emplace_back();
    moment.at_s = event.time_s - began_s;
    if (name->of_agent) moment.agent_id = event.source;
    moment.text = name->text;
    if (!event.reason.empty()) {
      moment.text += QString(" (%1)").arg(plain_text(event.reason).replace('_', ' '));
    }
    if (moments.size() == kRoundMomentsMax) break;
  }
  std::ranges::stable_sort(moments, {}, &RoundMoment::at_s);
  return moments;
}

}  // namespace tributary::dashboard
