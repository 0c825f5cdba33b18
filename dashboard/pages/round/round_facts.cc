#include "dashboard/pages/round/round_facts.h"

#include <algorithm>
#include <cmath>

#include "core/run/mechanisms.h"
#include "dashboard/pages/common/texts.h"
#include "dashboard/plot/data/quantity.h"

namespace tributary::dashboard {
namespace {

// A plan may have more exchanges; a line states how many.
constexpr std::size_t kExchangesShownMax = 4;

// 16 hexadecimal digits, as in the JSON output of the command line.
QString hash_text(std::uint64_t hash) { return QString("%1").arg(hash, 16, 16, QChar('0')); }

QString exchange_text(const PlanExchange& exchange) {
  QString text = plain_text(exchange.codec) + " by " + plain_text(exchange.collective);
  if (exchange.ratio < 1) text += ", ratio " + QString::number(exchange.ratio, 'g', 3);
  text += QString(exchange.buckets == 1 ? ", %1 bucket" : ", %1 buckets")
              .arg(grouped(exchange.buckets));
  return exchange.fallback.empty() ? text
                                   : text + ", falls back to " + plain_text(exchange.fallback);
}

QString attempt_text(std::uint32_t attempt) {
  if (attempt == 0) return "first attempt";
  return QString("succeeded after %1 failed").arg(grouped(attempt));
}

std::size_t count_of(const RoundDetail& detail, AgentPart part) {
  return static_cast<std::size_t>(std::ranges::count(detail.agents, part, &AgentInRound::part));
}

// Contributors of all members, and the number of the others by reason.
QString parts_text(const RoundDetail& detail) {
  QString text =
      QString("%1 of %2")
          .arg(grouped(count_of(detail, AgentPart::contributed)), grouped(detail.members));
  const auto add = [&](AgentPart part, const QString& words) {
    const std::size_t count = count_of(detail, part);
    if (count > 0) text += QString(", %1 %2").arg(grouped(count), words);
  };
  add(AgentPart::partly, "partly");
  add(AgentPart::left_out, "left out");
  add(AgentPart::not_asked, "not asked");
  return text;
}

// The plan may be unreadable for this build; everything else comes from the round's record.
void add_plan(const RoundDetail& detail, std::vector<Fact>& facts) {
  if (!detail.planned) {
    facts.push_back({"Plan", "not readable by this build"});
    return;
  }
  std::size_t shown = 0;
  for (const PlanExchange& exchange : detail.exchanges) {
    if (++shown > kExchangesShownMax) break;
    facts.push_back({shown == 1 ? "Exchange" : "", exchange_text(exchange)});
  }
  if (detail.exchanges.size() > kExchangesShownMax) {
    facts.push_back({"", QString("%1 more").arg(detail.exchanges.size() - kExchangesShownMax)});
  }
  facts.push_back(
      {"Quorum", QString("%1 of %2").arg(grouped(detail.quorum), grouped(detail.members))});
  facts.push_back({"Deadline", detail.deadline_ms == 0
                                   ? "none"
                                   : text_of(Unit::seconds, detail.deadline_ms / 1e3)});
  facts.push_back({"Local steps", grouped(detail.local_steps)});
  facts.push_back({"Learning rate", text_of(Unit::one, detail.learning_rate)});
  facts.push_back({"Purpose", words_of(detail.purpose)});
}

QString mechanism_name(const std::string& name, const std::string& of) {
  return of.empty() ? words_of(name) : words_of(name) + " · " + plain_text(of);
}

// The facts that are not zero, those of agents as ranges.
void add_mechanisms(const RoundDetail& detail, std::vector<Fact>& facts) {
  const auto number = [](double value) { return text_of(Unit::one, value); };
  std::vector<Fact> found;
  for (const Mechanism& mechanism : detail.mechanisms) {
    if (mechanism.value != 0)
      found.push_back({mechanism_name(mechanism.name, mechanism.of), number(mechanism.value)});
  }
  for (const MechanismRange& range : ranges_of_agents(detail.agents)) {
    if (range.high == 0) continue;
    const QString value = range.low == range.high ? number(range.low)
                                                  : number(range.low) + " to " + number(range.high);
    found.push_back({mechanism_name(range.name, range.of), value + " per agent"});
  }
  if (found.empty()) return;
  facts.push_back({"Mechanisms", ""});
  facts.insert(facts.end(), found.begin(), found.end());
}

}  // namespace

std::vector<Fact> round_facts(const RoundDetail& detail, double predicted_s) {
  std::vector<Fact> facts;
  QString seconds = text_of(Unit::seconds, detail.seconds);
  if (std::isfinite(predicted_s)) seconds += ", predicted " + text_of(Unit::seconds, predicted_s);
  facts.push_back({"Took", seconds});
  facts.push_back({"Agents", parts_text(detail)});
  facts.push_back({"Up", text_of(Unit::bytes, static_cast<double>(detail.bytes_up))});
  facts.push_back({"Down", text_of(Unit::bytes, static_cast<double>(detail.bytes_down))});
  facts.push_back(
      {"Buckets counted",
       QString("%1 of %2").arg(grouped(detail.buckets_counted), grouped(detail.buckets))});
  facts.push_back({"Attempt", attempt_text(detail.attempt)});
  add_plan(detail, facts);
  facts.push_back({"Epoch", grouped(detail.epoch)});
  facts.push_back({"Model before", hash_text(detail.previous_hash)});
  facts.push_back({"Model after", hash_text(detail.model_hash)});
  add_mechanisms(detail, facts);
  return facts;
}

}  // namespace tributary::dashboard
