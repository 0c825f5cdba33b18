#include "core/run/round_detail.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "core/round/common/machine/bitmap.h"
#include "core/run/frame_facts.h"
#include "core/run/mechanisms.h"
#include "core/store/coordinator/stored_frames.h"
#include "schemas/limits.h"

namespace tributary {
namespace {

constexpr double kNotReported = std::numeric_limits<double>::quiet_NaN();

// Facts of all agents of a round. A message to an observer has room for them (core/watch); further
// agents have none.
constexpr std::size_t kFactsMax = 16u << 10;

// A file may contain any text as an id, so its length is bounded.
std::string short_id(const std::string& agent_id) {
  return agent_id.substr(0, wire::kAgentIdBytesMax);
}

// Fills a RoundDetail from the stored record, the epoch, the plan and the reports.
class RoundDetailReading {
 public:
  RoundDetailReading(const RoundRecord& record, RoundDetail& detail)
      : record_(record), detail_(detail) {}

  // The order matters: members first, then the plan, which says who was asked, then the parts and
  // the reports.
  void read(const std::optional<EpochRecord>& epoch, const std::vector<AgentRoundRecord>& reports) {
    read_record();
    name_members(epoch);
    count_buckets();
    if (const wire::Plan* const plan = stored_plan(record_.plan)) read_plan(*plan);
    for (AgentInRound& agent : detail_.agents) agent.part = part_of(agent);
    for (const AgentRoundRecord& report : reports) take(report);
  }

 private:
  void read_record() {
    detail_.job = record_.id.job;
    detail_.round = record_.id.round;
    detail_.epoch = record_.id.epoch;
    detail_.attempt = record_.id.attempt;
    detail_.members = std::min(record_.members, wire::kMembersMax);
    detail_.seconds = static_cast<double>(record_.committed_at_ns) / 1e9 -
                      static_cast<double>(record_.began_at_ns) / 1e9;
    detail_.bytes_up = record_.bytes_up;
    detail_.bytes_down = record_.bytes_down;
    detail_.previous_hash = record_.previous_hash;
    detail_.model_hash = record_.model_hash;
    detail_.buckets = record_.buckets;
    detail_.buckets_counted = record_.outcomes.size();
    detail_.exchanges_per_round = 1;
  }

  void name_members(const std::optional<EpochRecord>& epoch) {
    asked_ = Bitmap(detail_.members, true);
    for (std::uint32_t index = 0; index < detail_.members; ++index) {
      AgentInRound& agent = detail_.agents.emplace_back(unknown_agent());
      agent.agent_id = fmt::format("#{}", index);
      if (!epoch || index >= epoch->members.size()) continue;
      agent.agent_id = short_id(epoch->members[index].agent_id);
      agent.weight = epoch->members[index].weight;
    }
  }

  // An agent without a report: all measured values are NaN.
  static AgentInRound unknown_agent() {
    return {.part = AgentPart::not_asked,
            .ratio = kNotReported,
            .compute_s = kNotReported,
            .encode_s = kNotReported,
            .wait_s = kNotReported,
            .loss = kNotReported,
            .update_norm = kNotReported,
            .residual_norm = kNotReported,
            .decode_s = kNotReported,
            .gain = kNotReported};
  }

  // Counts the buckets of each set once, and then adds the count to each member of the set.
  void count_buckets() {
    std::vector<std::uint64_t> uses(record_.contributor_sets.size());
    for (const OutcomeRecord& outcome : record_.outcomes) ++uses[outcome.contributor_set];
    for (std::size_t set = 0; set < uses.size(); ++set) {
      const Bitmap in(record_.contributor_sets[set].bits, detail_.members);
      for (std::size_t index = 0; index < detail_.agents.size(); ++index) {
        if (in.test(index)) detail_.agents[index].buckets += uses[set];
      }
    }
  }

  AgentPart part_of(const AgentInRound& agent) const {
    if (agent.buckets > 0) {
      return agent.buckets == detail_.buckets_counted ? AgentPart::contributed : AgentPart::partly;
    }
    const auto index = static_cast<std::size_t>(&agent - detail_.agents.data());
    return asked_.test(index) ? AgentPart::left_out : AgentPart::not_asked;
  }

  // --- plan

  void read_plan(const wire::Plan& plan) {
    detail_.planned = true;
    detail_.purpose = wire::EnumNamePurpose(plan.purpose());
    detail_.quorum = plan.quorum();
    detail_.deadline_ms = plan.deadline_ms();
    detail_.local_steps = plan.local_steps();
    detail_.learning_rate = plan.learning_rate();
    detail_.exchanges_per_round = plan.exchanges_per_round();
    detail_.buckets *= plan.exchanges_per_round();
    if (plan.participants() && plan.participants()->size() > 0) {
      asked_ = Bitmap({plan.participants()->begin(), plan.participants()->end()}, detail_.members);
    }
    read_exchanges(plan);
    if (plan.reason()) read_reason(*plan.reason());
    const std::string_view inputs = stored_inputs(plan);
    detail_.inputs.assign(inputs.begin(), inputs.end());
  }

  // Indices in the plan are checked, because the file may be hostile.
  void read_exchanges(const wire::Plan& plan) {
    if (!plan.exchanges()) return;
    const std::vector<std::uint64_t> values = exchange_values(plan);
    for (const wire::Exchange* exchange : *plan.exchanges()) {
      detail_.exchanges.push_back({.codec = stored_text(exchange->codec()),
                                   .collective = wire::EnumNameCollective(exchange->collective()),
                                   .fallback = exchange->fallback() == wire::Collective::unspecified
                                                   ? ""
                                                   : wire::EnumNameCollective(exchange->fallback()),
                                   .ratio = planned_ratio(plan, *exchange),
                                   .values = values[detail_.exchanges.size()]});
      if (!exchange->ratios()) continue;
      const std::size_t known =
          std::min<std::size_t>(exchange->ratios()->size(), detail_.agents.size());
      for (std::size_t index = 0; index < known; ++index) {
        detail_.agents[index].ratio =
            exchange->ratios()->Get(static_cast<flatbuffers::uoffset_t>(index));
      }
    }
    if (!plan.buckets()) return;
    for (const wire::Bucket* bucket : *plan.buckets()) {
      if (bucket->exchange() >= detail_.exchanges.size()) continue;
      ++detail_.exchanges[bucket->exchange()].buckets;
    }
  }

  void read_reason(const wire::Reason& reason) {
    detail_.trigger = wire::EnumNameTrigger(reason.trigger());
    detail_.sentence = stored_text(reason.sentence());
    if (reason.alternatives()) {
      for (const wire::Alternative* alternative : *reason.alternatives()) {
        detail_.alternatives.push_back(
            {.codec = stored_text(alternative->codec()),
             .collective = wire::EnumNameCollective(alternative->collective()),
             .ratio = alternative->ratio(),
             .encode_s = alternative->encode_s(),
             .wire_s = alternative->wire_s(),
             .decode_s = alternative->decode_s(),
             .round_s = alternative->round_s(),
             .gain = alternative->gain(),
             .pareto = alternative->pareto(),
             .chosen = alternative->chosen()});
      }
    }
    if (!reason.observations()) return;
    for (const wire::Observation* observation : *reason.observations())
      read_observation(*observation);
  }

  void read_observation(const wire::Observation& observation) {
    if (!observation.measure()) return;
    const auto index = static_cast<std::size_t>(std::max(0, observation.agent_index()));
    const bool of_agent = observation.agent_index() >= 0 && index < detail_.agents.size();
    detail_.observations.push_back(
        {.name = stored_text(observation.measure()->name()),
         .unit = wire::EnumNameUnit(observation.measure()->unit()),
         .value = observation.measure()->value(),
         .agent_id = of_agent ? detail_.agents[index].agent_id : std::string(),
         .age_s = observation.age_ms() / 1e3});
  }

  // --- reports

  // Keeps an agent's report on the successful attempt, or else its last report.
  void take(const AgentRoundRecord& report) {
    AgentInRound& agent = agent_of(short_id(report.agent_id));
    if (agent.reported && agent.attempt == record_.id.attempt) return;
    agent.reported = true;
    agent.attempt = report.id.attempt;
    agent.compute_s = report.compute_s;
    agent.encode_s = report.encode_s;
    agent.wait_s = report.wait_s;
    agent.decode_s = report.decode_s;
    agent.gain = report.gain;
    agent.loss = report.loss;
    agent.update_norm = report.update_norm;
    agent.residual_norm = report.residual_norm;
    agent.examples = report.examples;
    agent.bytes_up = report.bytes_up;
    agent.bytes_down = report.bytes_down;
    agent.mechanisms = mechanisms_of_agent(report.mechanisms);
    facts_ += agent.mechanisms.size();
    if (facts_ > kFactsMax) agent.mechanisms.clear();
  }

  // An agent that reported without being a member gets a row at the end.
  AgentInRound& agent_of(const std::string& agent_id) {
    if (places_.empty()) {
      for (std::size_t i = 0; i < detail_.agents.size(); ++i)
        places_[detail_.agents[i].agent_id] = i;
    }
    const auto [place, is_new] = places_.emplace(agent_id, detail_.agents.size());
    if (!is_new) return detail_.agents[place->second];
    AgentInRound& agent = detail_.agents.emplace_back(unknown_agent());
    agent.agent_id = agent_id;
    return agent;
  }

  const RoundRecord& record_;
  RoundDetail& detail_;
  Bitmap asked_;
  std::map<std::string, std::size_t> places_;
  std::size_t facts_ = 0;
};

}  // namespace

Result<RoundDetail> read_round_detail(RunFile& file, std::uint64_t job, std::uint64_t round) {
  TRIBUTARY_ASSIGN(const RoundLoaded loaded, file.load_round(job, round));
  if (!loaded.round) {
    return Status(StatusCode::not_found, {.what = fmt::format("round {} of job {}", round, job),
                                          .expected = "a committed round",
                                          .got = "no such round in this file"});
  }
  TRIBUTARY_ASSIGN(const std::vector<AgentRoundRecord> reports, file.agent_rounds(job, round));
  RoundDetail detail;
  RoundDetailReading(*loaded.round, detail).read(loaded.epoch, reports);
  TRIBUTARY_ASSIGN(const SharedBytes mechanisms, file.round_mechanisms(job, round));
  detail.mechanisms = mechanisms_of_round(mechanisms);
  return detail;
}

}  // namespace tributary
