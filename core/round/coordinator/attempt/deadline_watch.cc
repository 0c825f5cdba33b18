#include "core/round/coordinator/attempt/deadline_watch.h"

#include <algorithm>
#include <vector>

namespace tributary {
namespace {

constexpr TimeNs kCheckDeadlineEveryNs = 1'000 * kNsPerMs;

double deadline_seconds(TimeNs ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace

void DeadlineWatch::start() {
  if (waits_for_downlinks()) part_arrived();
}

// Parts arrive far more often than rates change, so at most one check per second is planned. Rounds
// among peers have no uploads that a deadline could be compared with.
void DeadlineWatch::part_arrived() {
  if (round_.plan().by_members() || too_short_) return;
  check_at_ns_ = std::min(check_at_ns_, job_.coordinator.now + kCheckDeadlineEveryNs);
}

// True if participants still receive data that they need before they can begin.
bool DeadlineWatch::waits_for_downlinks() const {
  return std::ranges::any_of(round_.members(), [&](const RoundMember& member) {
    if (!member.present() || member.part_arrived) return false;
    AgentSession* const session = job_.coordinator.roster.by_session(member.session);
    return session && !session->conversation.bulk().idle();
  });
}

// Payload sizes that an agent has not announced yet are estimated from those of the other agents,
// which have the same codecs.
DeadlineInput DeadlineWatch::input() const {
  const TimeNs began = round_.began_at_ns;
  DeadlineInput input{.agents = {},
                      .quorum = round_.plan().wire().quorum,
                      .elapsed_s = deadline_seconds(job_.coordinator.now - began),
                      .deadline_s = deadline_seconds(round_.deadline_ns - began),
                      .job_deadline_s = deadline_seconds(job_.policy().deadline_ms * kNsPerMs),
                      .values = job_.model->values()};
  std::vector<UploadProgress::Sizes> all(round_.sizes().groups());
  for (const RoundMember& member : round_.members()) round_.sizes().add_to(all, member.upload);
  for (std::uint32_t i = 0; i < membership_.size(); ++i) {
    const RoundMember& member = round_.members()[i];
    if (!member.participates || member.withdrawn) continue;
    DeadlineInput::Agent& agent = input.agents.emplace_back();
    agent.agent_id = membership_.members()[i].agent_id;
    AgentSession* const session = job_.coordinator.roster.by_session(member.session);
    if (!session) continue;
    if (member.part_arrived) {
      agent.uplink_bytes_per_s = member.upload.rate.bytes_per_s();
      agent.update_bytes = round_.sizes().update_bytes(member.upload, all);
      agent.received_bytes = member.upload.received_bytes;
      continue;
    }
    const BulkSender& bulk = session->conversation.bulk();
    agent.down_bytes = static_cast<double>(bulk.bytes_under_way() + bulk.bytes_waiting());
    // While the window still fills the link, the measured rate is only a lower bound.
    if (!bulk.window().filling()) agent.downlink_bytes_per_s = bulk.window().bytes_per_s();
  }
  return input;
}

void DeadlineWatch::check() {
  if (job_.coordinator.now < check_at_ns_) return;
  check_at_ns_ = kNever;  // until another part arrives
  // Checks again in a second while participants are still receiving, because then no part of theirs
  // arrives that would trigger it.
  start();
  too_short_ = check_deadline(input());
  if (!too_short_) return;
  check_at_ns_ = kNever;
  job_.coordinator.note(LogLevel::warning, "deadline_too_short",
                        too_short_->link == SlowLink::uplink ? "uplink" : "downlink",
                        too_short_->agents.front().agent_id, too_short_->text(round_.key().round),
                        round_.key());
}

}  // namespace tributary
