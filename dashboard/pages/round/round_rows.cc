#include "dashboard/pages/round/round_rows.h"

#include <QStringList>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "dashboard/pages/common/texts.h"

namespace tributary::dashboard {
namespace {

constexpr std::size_t kStragglerReportsMin = 3;  // fewer reports have no meaningful median

// Unknown and non-positive durations count as 0.
double known_s(double seconds) { return seconds > 0 && std::isfinite(seconds) ? seconds : 0; }

// Agents report durations and no times, so the phases are drawn one after another from the arrival
// of the plan.
std::vector<Stretch> spans_of(const AgentInRound& agent, const RoundDetail& detail) {
  if (!agent.reported) {
    // An agent that was asked and did not report occupies the whole round.
    if (agent.part == AgentPart::not_asked || !(detail.seconds > 0)) return {};
    return {{.x_low = 0, .x_high = detail.seconds, .label = "no report"}};
  }
  std::vector<Stretch> spans;
  double at = 0;
  const auto add = [&](const QString& kind, double seconds) {
    if (known_s(seconds) == 0) return;
    spans.push_back({.x_low = at,
                     .x_high = at + seconds,
                     .label = text_of(Unit::seconds, seconds),
                     .colour_key = kind});
    at += seconds;
  };
  add("compute", agent.compute_s);
  add("encode", agent.encode_s);
  add("wait", agent.wait_s);
  add("decode", agent.decode_s);
  return spans;
}

QString row_name(const AgentInRound& agent, const RoundDetail& detail, bool straggler) {
  QString name = plain_text(agent.agent_id);
  if (agent.part != AgentPart::contributed) return name + ", " + part_text(agent, detail);
  return straggler ? name + ", slow" : name;
}

QString note_of(const RoundDetail& detail, std::size_t shown, bool marked) {
  QString note;
  if (shown < detail.agents.size()) {
    note = QString("The %1 slowest of %2 agents; the table has all.")
               .arg(grouped(shown), grouped(detail.agents.size()));
  }
  if (!marked) return note;
  if (!note.isEmpty()) note += ' ';
  return note + QString("The vertical line is the deadline (%1).")
                    .arg(text_of(Unit::seconds, detail.deadline_ms / 1e3));
}

// A fault far outside the round is described in the note but not drawn: it would compress the round
// into a narrow strip.
bool drawn(const RoundMoment& moment, double seconds) {
  return moment.at_s >= -seconds && moment.at_s <= 2 * seconds;
}

QString note_of(const std::vector<RoundMoment>& moments) {
  constexpr std::size_t kNotesMax = 3;
  QStringList notes;
  for (const RoundMoment& moment : moments) {
    if (notes.size() == kNotesMax) break;
    const QString when = moment.at_s < 0
                             ? text_of(Unit::seconds, -moment.at_s) + " before this attempt"
                             : "after " + text_of(Unit::seconds, moment.at_s);
    QString subject;
    if (!moment.agent_id.empty()) subject = plain_text(moment.agent_id) + " ";
    notes.push_back(when + ": " + subject + moment.text);
  }
  if (notes.isEmpty()) return {};
  const std::size_t left = moments.size() - static_cast<std::size_t>(notes.size());
  QString note = "▼ " + notes.join("; ");
  if (left > 0) note += QString("; %1 more on the page Events").arg(grouped(left));
  return note + ".";
}

}  // namespace

double busy_seconds(const AgentInRound& agent) {
  return known_s(agent.compute_s) + known_s(agent.encode_s);
}

// Agents without a report come first, because the round waited for them, and agents that were not
// asked come last.
std::vector<std::size_t> slowest_first(const RoundDetail& detail) {
  std::vector<std::size_t> order(detail.agents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto rank = [&](std::size_t index) {
    const AgentInRound& agent = detail.agents[index];
    const bool asked = agent.part != AgentPart::not_asked;
    const int group = !asked && !agent.reported ? 2 : (agent.reported ? 1 : 0);
    return std::tuple(group, -busy_seconds(agent));
  };
  std::ranges::stable_sort(order, {}, rank);
  return order;
}

// An agent is late if it missed the result, wholly or in part, or if it was busy much longer than
// the median agent. A few reports have no meaningful median.
std::vector<bool> stragglers_of(const RoundDetail& detail) {
  std::vector<double> busy;
  for (const AgentInRound& agent : detail.agents) {
    if (agent.reported) busy.push_back(busy_seconds(agent));
  }
  std::vector<bool> late(detail.agents.size());
  double limit = std::numeric_limits<double>::infinity();
  if (busy.size() >= kStragglerReportsMin) {
    const auto middle = busy.begin() + static_cast<std::ptrdiff_t>(busy.size() / 2);
    std::ranges::nth_element(busy, middle);
    limit = *middle * kStragglerFactor;
  }
  for (std::size_t i = 0; i < late.size(); ++i) {
    const AgentInRound& agent = detail.agents[i];
    const bool missed = agent.part == AgentPart::left_out || agent.part == AgentPart::partly;
    late[i] = missed || (agent.reported && busy_seconds(agent) > limit);
  }
  return late;
}

QString part_text(const AgentInRound& agent, const RoundDetail& detail) {
  switch (agent.part) {
    case AgentPart::contributed:
      return "in the result";
    case AgentPart::partly:
      return QString("in %1 of %2 buckets")
          .arg(grouped(agent.buckets), grouped(detail.buckets_counted));
    case AgentPart::left_out:
      return "left out";
    case AgentPart::not_asked:
      return "not asked";
  }
  return {};
}

RoundRows round_rows(const RoundDetail& detail, std::size_t rows_max,
                     const std::vector<RoundMoment>& moments) {
  RoundRows out;
  out.agents = slowest_first(detail);
  if (out.agents.size() > rows_max) out.agents.resize(rows_max);
  const std::vector<bool> late = stragglers_of(detail);
  const double deadline_s = detail.deadline_ms / 1e3;
  double end_s = 0;
  for (const std::size_t index : out.agents) {
    const AgentInRound& agent = detail.agents[index];
    GanttRow& row = out.rows.emplace_back();
    row.name = row_name(agent, detail, late[index]);
    row.spans = spans_of(agent, detail);
    row.late = late[index];
    if (deadline_s > 0) row.marks.push_back(deadline_s);
    for (const RoundMoment& moment : moments) {
      const bool of_it = moment.agent_id.empty() || moment.agent_id == agent.agent_id;
      if (of_it && drawn(moment, detail.seconds)) row.moments.push_back({moment.at_s, moment.text});
    }
    if (!row.spans.empty()) end_s = std::max(end_s, row.spans.back().x_high);
  }
  out.note = note_of(detail, out.agents.size(), deadline_s > 0 && deadline_s <= end_s);
  const QString wrong = note_of(moments);
  if (!wrong.isEmpty()) out.note = out.note.isEmpty() ? wrong : wrong + " " + out.note;
  return out;
}

}  // namespace tributary::dashboard
