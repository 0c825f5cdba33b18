// Rounds that the agents exchange among themselves. Nothing is applied anywhere before all of them
// have said what the results come to, and that what they would leave behind is stored: the
// coordinator has the results by then, and its commit is the second phase. If anything goes wrong
// the attempt is given up, and the next one goes by the star.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/link/mpi_address.h"
#include "core/round/job_run.h"

namespace tributary {
namespace {

// Everybody connects to everybody.
constexpr std::size_t kPeersMax = 256;
constexpr std::uint32_t kPauseRoundsMax = 64;

// What peers have in common who may reach one another, as far as an address tells: a run of MPI,
// or, for all who are dialled, 0.
Result<std::uint64_t> network_of(const std::string& endpoint) {
  if (!is_mpi_address(endpoint)) return std::uint64_t{0};
  TRIBUTARY_ASSIGN(const MpiAddress address, parse_mpi_address(endpoint));
  return address.run;
}

}  // namespace

// Why the members' addresses lead nowhere; empty: it is to be seen whether they do.
std::string JobRun::apart() const {
  std::optional<std::uint64_t> network;
  for (const EpochMember& member : members_) {
    if (member.endpoint.empty()) return member.agent_id + " names no address for peers";
    const Result<std::uint64_t> own = network_of(member.endpoint);
    if (!own.ok()) return member.agent_id + " names an address for peers that is none";
    if (network && *network != *own) {
      return fmt::format("{} and {} are not in one run of MPI", members_[0].agent_id,
                         member.agent_id);
    }
    network = *own;
  }
  return {};
}

// When an epoch begins.
void JobRun::open_peers() {
  peers_.session = 0;
  peers_.broken = peers_.renew = false;
  peers_.why_not.clear();
  if (!wants_peers()) return;
  if (members_.size() < 2) {
    peers_.why_not = "there is one agent";
  } else if (members_.size() > kPeersMax) {
    peers_.why_not = fmt::format("there are more than {} agents", kPeersMax);
  } else {
    peers_.why_not = apart();
    if (peers_.why_not.empty()) peers_.session = desk_.draw();
  }
}

wire::Collective JobRun::collective_for(const Bitmap& participants, std::string& reason) const {
  const wire::Collective wanted = policy().collective;
  if (wanted == wire::Collective::star) return wanted;
  if (peers_.session == 0) {
    reason = "by the star: " + peers_.why_not;
  } else if (version_ + 1 < peers_.from_round) {
    reason = fmt::format("by the star: the {} failed, and is tried again in round {}",
                         wire::EnumNameCollective(wanted), peers_.from_round);
  } else if (participants.count() < 2) {
    reason = "by the star: one agent takes part";
  } else {
    return wanted;
  }
  return wire::Collective::star;
}

// What a batch that comes to nothing had in it is in the residuals, and so codecs must have them.
std::uint32_t JobRun::exchanges_for(wire::Collective collective, std::string& reason) {
  const RoundPolicy& wanted = policy();
  if (collective == wire::Collective::star) return 1;
  std::vector<std::string> specs = wanted.codecs;
  if (specs.empty()) specs.push_back(wanted.codec);
  for (const std::string& spec : specs) {
    const Result<std::shared_ptr<const Codec>> codec = desk_.shelf.get(spec);
    if (wanted.exchanges_per_round == 1 || !codec.ok() || (*codec)->conserves()) continue;
    reason = fmt::format("one exchange a round: {} keeps no residual", spec);
    return 1;
  }
  return wanted.exchanges_per_round;
}

// Half of a round's time is for the peers, and half for the star that may have to stand in.
std::uint32_t JobRun::attempt_deadline_ms(wire::Collective collective) const {
  const bool stands_in = version_ + 1 == peers_.failed_round;
  const bool half = collective != wire::Collective::star || stands_in;
  return half ? std::max(record_.policy.deadline_ms / 2, 1u) : record_.policy.deadline_ms;
}

bool JobRun::uploaded(std::uint32_t member) const {
  return std::ranges::all_of(round_->buckets(), [&](const auto& bucket) {
    return bucket->finished() || round_->plan().uploader(bucket->bucket().index) != member;
  });
}

std::string JobRun::without_result() const {
  std::string names;
  for (std::uint32_t i = 0; i < members_.size() && names.size() < 200; ++i) {
    const RoundMember& member = round_->members()[i];
    if (!member.participates || (member.results_hash != 0 && uploaded(i))) continue;
    names += (names.empty() ? "" : ", ") + members_[i].agent_id;
  }
  return names;
}

void JobRun::close_if_agreed() {
  bool all = true;
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    const RoundMember& member = round_->members()[i];
    if (!member.participates) continue;
    const bool done = member.results_hash != 0 && uploaded(i);
    // Whoever has said and given everything may go.
    if (member.withdrawn || (member.session == 0 && !done)) {
      return give_up(wire::AbortReason::collective_failed, true);
    }
    all &= done;
  }
  if (!all) return;
  const std::uint64_t hash = round_->results_hash();
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    const RoundMember& member = round_->members()[i];
    if (!member.participates || member.results_hash == hash) continue;
    desk_.note(
        LogLevel::error, "results_differ", "mismatch", members_[i].agent_id,
        fmt::format("expected {:016x}, as the results are, got {:016x}", hash, member.results_hash),
        round_->key());
    return give_up(wire::AbortReason::mismatch, true);
  }
  finish_round();
}

// This round, and the more the more often it happens, goes by the star. Then an epoch begins, with
// new connections between all.
void JobRun::peers_failed() {
  peers_.pause = std::clamp(2 * peers_.pause, 1u, kPauseRoundsMax);
  peers_.failed_round = round_->key().round;
  peers_.from_round = peers_.failed_round + peers_.pause;
  peers_.broken = true;
  peers_.renew = round_->plan().exchanges() > 1;
  excluded_ = Bitmap();
  resume_at_ns_ = desk_.now;
}

}  // namespace tributary
