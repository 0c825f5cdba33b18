#include "core/round/coordinator/context/membership.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/random.h"

namespace tributary {

void Membership::saw_epoch(std::uint32_t number) { last_epoch_ = std::max(last_epoch_, number); }

std::vector<double> Membership::weights() const {
  std::vector<double> weights;
  for (const Member& member : members_) weights.push_back(member.weight);
  return weights;
}

// Membership changes only between rounds, by opening an epoch. It has changed if a member's session
// or weight is another one, or if an agent that is ready is no member, or is one that has
// downloaded the model since.
bool Membership::changed(std::uint64_t model_version) const {
  if (!epoch_) return true;
  const double most = most_examples();
  for (const Member& member : members_) {
    if (!roster_.all().contains(member.session)) return true;
    if (member.weight != weight_of(member.agent_id, most)) return true;
  }
  return std::ranges::any_of(roster_.all(), [&](const auto& item) {
    const AgentSession& session = *item.second;
    if (!session.ready(job_.id(), model_version)) return false;
    const std::optional<std::uint32_t> member = member_of(session);
    return !member || members_[*member].generation != session.generation;
  });
}

// An agent that has not reported yet has the weight of the agent with most examples.
double Membership::weight_of(const std::string& agent_id, double most) const {
  const auto found = examples_.find(agent_id);
  if (found == examples_.end() || found->second == 0) return 1;
  const auto examples = static_cast<double>(found->second);
  return most > 0 ? std::min(examples / most, 1.0) : 1;
}

// The number of examples that counts as weight 1. A number is a claim of its agent, so it counts up
// to a multiple of the median, of two medians the lower one.
double Membership::most_examples() const {
  std::vector<double> counts;
  for (const auto& [number, session] : roster_.all()) {
    const auto found = examples_.find(session->agent_id);
    if (session->job == job_.id() && found != examples_.end()) {
      counts.push_back(static_cast<double>(found->second));
    }
  }
  if (counts.empty()) return 0;
  std::ranges::sort(counts);
  return std::min(counts.back(), job_.policy().weight_cap * counts[(counts.size() - 1) / 2]);
}

void Membership::count_examples(const std::string& agent_id, std::uint64_t examples) {
  // A report without examples must not remove an agent from the sum.
  if (job_.model->wire().weighting() != wire::Weighting::examples || examples == 0) return;
  examples_[agent_id] = examples;
}

void Membership::open(std::uint64_t first_round) {
  members_.clear();
  by_agent_.clear();
  excluded_ = Bitmap();
  auto record = std::make_shared<EpochRecord>();
  record->job = job_.id();
  record->epoch = ++last_epoch_;
  record->first_round = first_round;
  // Sorted by agent id, so that the order of arrival does not change the members' indices.
  std::map<std::string, const AgentSession*> by_name;
  for (const auto& [number, session] : roster_.all()) {
    if (session->job == job_.id() && session->synced && !session->leaving) {
      by_name[session->agent_id] = session.get();
    }
  }
  const double most = most_examples();
  for (const auto& [agent_id, session] : by_name) {
    by_agent_[agent_id] = static_cast<std::uint32_t>(members_.size());
    members_.push_back({.agent_id = agent_id,
                        .session = session->conversation.session(),
                        .generation = session->generation,
                        .weight = weight_of(agent_id, most),
                        .public_key = session->public_key,
                        .endpoint = session->endpoint,
                        .decodes_standalone = session->decodes_standalone,
                        .divides_results = session->divides_results,
                        .sums_in_network = session->sums_in_network,
                        .sizes_packets = session->sizes_packets});
    record->members.push_back({.agent_id = agent_id, .weight = members_.back().weight});
  }
  epoch_ = std::move(record);
  // An agent that receives the model is no member until it has it.
  stragglers_.keep_only(
      [this](const std::string& agent_id) { return roster_.by_agent(agent_id) != nullptr; });
}

void Membership::announce(std::uint64_t peer_session) {
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    if (AgentSession* session = session_of(i)) announce_to(*session, i, peer_session);
  }
}

// The list of peers is sent only if rounds may be exchanged among them: it grows with the number of
// members, and each member gets it.
void Membership::announce_to(AgentSession& session, std::uint32_t member,
                             std::uint64_t peer_session) {
  double weight_sum = 0;
  for (const Member& each : members_) weight_sum += each.weight;
  std::vector<Member> peers;
  if (peer_session != 0) peers = members_;
  session.conversation.ask(
      job_.coordinator.now,
      [epoch = epoch_, member, weight_sum, peers = std::move(peers), peer_session] {
        wire::MembershipT membership;
        membership.job = epoch->job;
        membership.epoch = epoch->epoch;
        membership.first_round = epoch->first_round;
        membership.agents = static_cast<std::uint32_t>(epoch->members.size());
        membership.agent_index = member;
        membership.weight_sum = weight_sum;
        membership.peer_session = peer_session;
        for (const Member& peer : peers) {
          auto made = std::make_unique<wire::MemberT>();
          made->agent_id = peer.agent_id;
          made->public_key.assign(peer.public_key.begin(), peer.public_key.end());
          made->endpoints.push_back(std::make_unique<wire::EndpointT>());
          made->endpoints[0]->address = peer.endpoint;
          membership.members.push_back(std::move(made));
        }
        return frame_with(std::move(membership));
      },
      job_.coordinator.out, epoch_->epoch);
}

// Empty for a session that is newer than the epoch, even if its agent is a member: only resume()
// continues a membership.
std::optional<std::uint32_t> Membership::member_of(const AgentSession& session) const {
  const auto found = by_agent_.find(session.agent_id);
  if (found == by_agent_.end()) return std::nullopt;
  if (members_[found->second].session != session.conversation.session()) return std::nullopt;
  return found->second;
}

AgentSession* Membership::session_of(std::uint32_t member) const {
  return roster_.by_session(members_[member].session);
}

std::optional<std::uint32_t> Membership::resume(AgentSession& session, std::uint64_t before) {
  const auto found = by_agent_.find(session.agent_id);
  // Only the session that the member used last can be continued. Any other one belongs to an
  // earlier process or epoch.
  if (before == 0 || found == by_agent_.end()) return std::nullopt;
  Member& member = members_[found->second];
  if (member.session != before) return std::nullopt;
  member.session = session.conversation.session();
  session.generation = member.generation;
  return found->second;
}

std::ptrdiff_t Membership::ready_agents(std::uint64_t model_version) const {
  return std::ranges::count_if(roster_.all(), [&](const auto& item) {
    return item.second->ready(job_.id(), model_version);
  });
}

bool Membership::some_catch_up(std::uint64_t model_version, const Uploads& uploads) const {
  return std::ranges::any_of(roster_.all(), [&](const auto& item) {
    const AgentSession& session = *item.second;
    const bool awaited = !stragglers_.missed_stage(session.agent_id) ||
                         stragglers_.needs_patience(session.agent_id, uploads(session.agent_id));
    return awaited && session.job == job_.id() && !session.ready(job_.id(), model_version);
  });
}

Bitmap Membership::ready_members(std::uint64_t round) const {
  Bitmap ready(members_.size());
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    const AgentSession* const session = session_of(i);
    if (session && session->ready(job_.id(), round - 1)) ready.set(i);
  }
  return ready;
}

Bitmap Membership::participants(std::uint64_t round, const Bitmap& left_out) const {
  const Bitmap ready = ready_members(round);
  Bitmap candidates(members_.size());
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    if (ready.test(i) && !excluded_.test(i) && !left_out.test(i)) candidates.set(i);
  }
  return drawn_from(candidates, round);
}

bool Membership::decode_standalone() const {
  return std::ranges::all_of(members_, &Member::decodes_standalone);
}

bool Membership::divide_results() const {
  return std::ranges::all_of(members_, &Member::divides_results);
}

Bitmap Membership::without_late(const Bitmap& members) const {
  Bitmap prompt = members;
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    if (stragglers_.missed_stage(members_[i].agent_id)) prompt.clear(i);
  }
  return prompt;
}

// A sample without replacement: every candidate draws a number, and the lowest ones participate.
// The numbers depend only on seed, round and index, so another attempt with the same candidates
// draws the same members.
Bitmap Membership::drawn_from(const Bitmap& candidates, std::uint64_t round) const {
  const std::uint32_t count = candidates.count();
  const auto required =
      std::max(static_cast<std::uint32_t>(std::ceil(job_.policy().fraction * count)),
               job_.policy().agents_min);
  if (required >= count) return candidates;
  const StreamKey key = stream_key({.job_seed = job_.model->wire().seed(),
                                    .round = round,
                                    .purpose = DrawPurpose::participants});
  std::vector<std::pair<std::uint32_t, std::uint32_t>> draws;
  for (std::uint32_t i = 0; i < candidates.size(); ++i) {
    if (candidates.test(i)) draws.emplace_back(random_bits(key, i), i);
  }
  std::ranges::sort(draws);
  Bitmap drawn(candidates.size());
  for (std::uint32_t i = 0; i < required; ++i) drawn.set(draws[i].second);
  return drawn;
}

}  // namespace tributary
