// Compares an attempt's deadline with the measured links. A job whose attempts cannot end in time
// says so at once, with what would fit, and is paused instead of aborting for ever.
#include <algorithm>
#include <utility>

#include "core/round/job_run.h"

namespace tributary {
namespace {

constexpr TimeNs kCheckDeadlineEveryNs = 1'000 * kNsPerMs;
// A first attempt may have waited for a download or a training that the next one does not repeat.
constexpr std::uint32_t kTooShortMax = 2;

double deadline_seconds(TimeNs ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace

// Plans the next check: in a second, unless one is due earlier.
void JobRun::watch_deadline() {
  if (round_->plan().by_peers() || round_->too_short) return;
  round_->check_at_ns = std::min(round_->check_at_ns, desk_.now + kCheckDeadlineEveryNs);
}

// Participants are still being sent what they need before they can begin.
bool JobRun::waits_for_downlinks() const {
  return std::ranges::any_of(round_->members(), [&](const RoundMember& member) {
    if (!member.awaited() || member.heard) return false;
    const AgentSession* const session = desk_.roster.by_session(member.session);
    return session && !session->conversation.bulk().idle();
  });
}

DeadlineInput JobRun::deadline_input() const {
  DeadlineInput input{.agents = {},
                      .quorum = round_->plan().wire().quorum,
                      .elapsed_s = deadline_seconds(desk_.now - round_->began_at_ns),
                      .deadline_s = deadline_seconds(round_->deadline_ns - round_->began_at_ns),
                      .job_deadline_s = deadline_seconds(record_.policy.deadline_ms * kNsPerMs),
                      .values = job_->values()};
  std::vector<UploadProgress::Sizes> all(round_->sizes().groups());
  for (const RoundMember& member : round_->members()) {
    round_->sizes().add_to(all, member.upload);
  }
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    const RoundMember& member = round_->members()[i];
    if (!member.participates || member.withdrawn) continue;
    DeadlineInput::Agent& agent = input.agents.emplace_back();
    agent.agent_id = members_[i].agent_id;
    const AgentSession* const session = desk_.roster.by_session(member.session);
    if (!session) continue;
    if (member.heard) {
      agent.uplink_bytes_per_s = member.upload.rate.bytes_per_s();
      agent.update_bytes = round_->sizes().update_bytes(member.upload, all);
      agent.received_bytes = member.upload.received_bytes;
      continue;
    }
    const BulkSender& bulk = session->conversation.bulk();
    agent.down_bytes = static_cast<double>(bulk.bytes_under_way() + bulk.bytes_waiting());
    if (!bulk.window().filling()) agent.downlink_bytes_per_s = bulk.window().bytes_per_s();
  }
  return input;
}

void JobRun::check_deadline() {
  if (phase_ != Phase::running || desk_.now < round_->check_at_ns) return;
  round_->check_at_ns = kNever;  // until another part comes
  if (waits_for_downlinks()) watch_deadline();
  round_->too_short = tributary::check_deadline(deadline_input());
  if (!round_->too_short) return;
  round_->check_at_ns = kNever;
  desk_.note(LogLevel::warning, "deadline_too_short",
             round_->too_short->link == SlowLink::uplink ? "uplink" : "downlink",
             round_->too_short->agents.front().agent_id,
             round_->too_short->text(round_->key().round), round_->key());
}

// Each attempt sends its updates anew: over the same uplinks it ends the same. A download goes on
// in the next attempt, and so a slow downlink pauses nothing.
void JobRun::pause_if_too_short(const RoundKey& key,
                                const std::optional<DeadlineVerdict>& verdict) {
  const bool counts = verdict && verdict->link == SlowLink::uplink;
  too_short_ = counts ? too_short_ + 1 : 0;
  if (too_short_ < kTooShortMax || record_.policy.planning.planned()) return;
  if (record_.state != wire::JobState::running) return;
  change(wire::JobState::paused, verdict->text(key.round), {});
}

}  // namespace tributary
