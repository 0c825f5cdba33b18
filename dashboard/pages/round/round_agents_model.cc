#include "dashboard/pages/round/round_agents_model.h"

#include <limits>

#include "dashboard/pages/round/round_rows.h"

namespace tributary::dashboard {
namespace {

enum RoundAgentColumn : int {
  kRoundAgentId,
  kRoundAgentPart,
  kRoundAgentBusy,
  kRoundAgentCompute,
  kRoundAgentEncode,
  kRoundAgentWait,
  kRoundAgentDecode,
  kRoundAgentUp,
  kRoundAgentDown,
  kRoundAgentLoss,
  kRoundAgentResidual,
  kRoundAgentRatio,
  kRoundAgentGain,
  kRoundAgentWeight,
};

std::vector<TableColumn> round_agent_columns() {
  constexpr auto kNumber = CellKind::number;
  return {
      {"agent", "Agent", CellKind::text, Unit::one, "", true},
      {"part", "Part", CellKind::text, Unit::one, "Whether the update is in the result", true},
      {"busy", "Busy", kNumber, Unit::seconds, "Time of computing and encoding", true},
      {"compute", "Compute", kNumber, Unit::seconds, "", true},
      {"encode", "Encode", kNumber, Unit::seconds, "", true},
      {"wait", "Wait", kNumber, Unit::seconds, "Time from the end of the update to the result",
       true},
      {"decode", "Decode", kNumber, Unit::seconds, "Decoding time of the previous round's result",
       true},
      {"up", "Up", kNumber, Unit::bytes, "", true},
      {"down", "Down", kNumber, Unit::bytes, "", true},
      {"loss", "Loss", kNumber, Unit::one, "", true},
      {"residual", "Residual norm", kNumber, Unit::one,
       "Norm of the updates held back for later rounds", true},
      {"ratio", "Ratio", kNumber, Unit::one, "Largest share of the update that the agent sends",
       true},
      {"gain", "Gain", kNumber, Unit::share, "Share of the update's energy that the agent sent",
       true},
      {"weight", "Weight", kNumber, Unit::one, "", false},
  };
}

std::string part_with_notes(const AgentInRound& agent, const RoundDetail& detail, bool late) {
  QString part = part_text(agent, detail);
  if (late && agent.part == AgentPart::contributed) part += ", slow";
  if (!agent.reported && agent.part != AgentPart::not_asked) part += ", no report";
  if (agent.reported && agent.attempt != detail.attempt) {
    part += QString(", reported on attempt %1").arg(agent.attempt);
  }
  return part.toStdString();
}

}  // namespace

RoundAgentsModel::RoundAgentsModel(QObject* parent) : RowsModel(round_agent_columns(), parent) {}

void RoundAgentsModel::update(const RoundDetail& detail) {
  const std::vector<bool> late = stragglers_of(detail);
  std::vector<RoundAgent> now;
  now.reserve(detail.agents.size());
  for (std::size_t i = 0; i < detail.agents.size(); ++i) {
    now.push_back({detail.agents[i], part_with_notes(detail.agents[i], detail, late[i]), late[i]});
  }
  show_rows(std::move(now));
}

bool RoundAgentsModel::same_item(const RoundAgent& a, const RoundAgent& b) const {
  return a.agent.agent_id == b.agent.agent_id;
}

// Almost every number differs between two rounds, so a comparison would save nothing.
bool RoundAgentsModel::same_values(const RoundAgent& /*a*/, const RoundAgent& /*b*/) const {
  return false;
}

double RoundAgentsModel::number(int row, int column) const {
  const AgentInRound& agent = row_at(row).agent;
  if (column == kRoundAgentRatio) return agent.ratio;
  if (column == kRoundAgentWeight) return agent.weight;
  if (!agent.reported) return std::numeric_limits<double>::quiet_NaN();
  switch (column) {
    case kRoundAgentBusy:
      return busy_seconds(agent);
    case kRoundAgentCompute:
      return agent.compute_s;
    case kRoundAgentEncode:
      return agent.encode_s;
    case kRoundAgentWait:
      return agent.wait_s;
    case kRoundAgentDecode:
      return agent.decode_s;
    case kRoundAgentGain:
      return agent.gain;
    // An agent that reported sent something; 0 says that the figure is not known yet.
    case kRoundAgentUp:
      return agent.bytes_up > 0 ? static_cast<double>(agent.bytes_up)
                                : std::numeric_limits<double>::quiet_NaN();
    case kRoundAgentDown:
      return agent.bytes_down > 0 ? static_cast<double>(agent.bytes_down)
                                  : std::numeric_limits<double>::quiet_NaN();
    case kRoundAgentLoss:
      return agent.loss;
    case kRoundAgentResidual:
      return agent.residual_norm;
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

std::string_view RoundAgentsModel::words(int row, int column) const {
  const RoundAgent& agent = row_at(row);
  if (column == kRoundAgentId) return agent.agent.agent_id;
  return column == kRoundAgentPart ? std::string_view(agent.part) : std::string_view();
}

CellMark RoundAgentsModel::mark(int row, int /*column*/) const {
  return row_at(row).late ? CellMark::warning : CellMark::none;
}

}  // namespace tributary::dashboard
