#include "dashboard/pages/decisions/belief_curves.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dashboard/pages/common/texts.h"
#include "dashboard/pages/plan/choices.h"
#include "dashboard/plot/data/quantity.h"

namespace tributary::dashboard {
namespace {

constexpr BeliefBand kGap = {.low = std::numeric_limits<double>::quiet_NaN(),
                             .median = std::numeric_limits<double>::quiet_NaN(),
                             .high = std::numeric_limits<double>::quiet_NaN()};

// "agent-1 ↑" as in the charts of measured links, or "slowest ↑" for many agents.
QString belief_name(const BelievedLink& link) {
  if (link.kind == LinkKind::peers) return "agents' network";
  if (link.kind == LinkKind::coordinator) return "coordinator";
  const QString owner =
      link.rank == LinkRank::single ? plain_text(link.agent) : QString(name_of(link.rank));
  return owner + (link.kind == LinkKind::uplink ? " ↑" : " ↓");
}

QString named_choice(const PlanChoice& choice) {
  return plain_text(choice.codec) + " by " + wire::EnumNameCollective(choice.collective);
}

}  // namespace

void BeliefCurves::Steps::make(std::size_t samples_max) {
  low = std::make_shared<Series>(samples_max);
  median = std::make_shared<Series>(samples_max);
  high = std::make_shared<Series>(samples_max);
}

void BeliefCurves::Steps::append(double x, const BeliefBand& band) const {
  low->append({x, band.low});
  median->append({x, band.median});
  high->append({x, band.high});
}

void BeliefCurves::add(std::shared_ptr<const DecisionBelief> belief) {
  if (!belief) return;
  const std::uint64_t round = belief->round;
  beliefs_[round] = std::move(belief);
  if (beliefs_.size() > kBeliefsMax) beliefs_.erase(beliefs_.begin());
  ++undrawn_;
}

void BeliefCurves::clear() { *this = {}; }

bool BeliefCurves::update(const RoundTable& table, bool over_time) {
  const std::size_t last = table.size() - 1;
  const double end = stretch_of_rows(table, last, last, over_time).x_high;
  if (undrawn_ == 0 && &table == table_ && over_time == over_time_) {
    if (end > end_) end_at(end);
    return false;
  }
  undrawn_ = 0;
  table_ = &table;
  over_time_ = over_time;
  draw(table, over_time);
  end_at(end);
  return true;
}

void BeliefCurves::draw(const RoundTable& table, bool over_time) {
  links_.clear();
  expected_.make(1u << 20);
  last_expected_ = kGap;
  for (const auto& [round, belief] : beliefs_) {
    const auto row = table.row_of(round);
    if (!row || !belief->known()) continue;
    const double x = stretch_of_rows(table, *row, *row, over_time).x_low;
    draw_links(*belief, x);
    expected_.append(x, last_expected_);
    expected_.append(x, belief->expected_s);
    last_expected_ = belief->expected_s;
  }
}

// A link that a decision does not know has a gap until the next one that knows it.
void BeliefCurves::draw_links(const DecisionBelief& belief, double x) {
  for (Link& link : links_) link.steps.append(x, std::exchange(link.last, kGap));
  for (const BelievedLink& believed : belief.links) {
    if (believed.unlimited()) continue;
    const QString name = belief_name(believed);
    auto found = std::ranges::find(links_, name, &Link::name);
    if (found == links_.end()) {
      const QString colour = believed.rank == LinkRank::single && !believed.agent.empty()
                                 ? plain_text(believed.agent)
                                 : "belief " + name;
      found = links_.insert(links_.end(), Link{.name = name, .colour_key = colour});
      found->pale = believed.kind == LinkKind::downlink;
      found->steps.make(1u << 20);
    }
    found->last = believed.bits_per_s;
  }
  for (const Link& link : links_) link.steps.append(x, link.last);
}

void BeliefCurves::end_at(double x) {
  end_ = x;
  for (const Link& link : links_) link.steps.append(x, link.last);
  if (expected_.low) expected_.append(x, last_expected_);
}

std::vector<PlotCurve> BeliefCurves::rates() const {
  std::vector<PlotCurve> curves;
  for (const Link& link : links_) {
    curves.push_back({.key = link.name,
                      .name = link.name,
                      .colour_key = link.colour_key,
                      .pale = link.pale,
                      .series = link.steps.median,
                      .low = link.steps.low,
                      .high = link.steps.high});
  }
  return curves;
}

const DecisionBelief* BeliefCurves::of(std::uint64_t round) const {
  const auto found = beliefs_.find(round);
  return found == beliefs_.end() ? nullptr : found->second.get();
}

const DecisionBelief* BeliefCurves::judge_of(std::uint64_t round) const {
  const auto found = beliefs_.upper_bound(round);
  return found == beliefs_.end() || !found->second->before ? nullptr : found->second.get();
}

QString belief_text(const DecisionBelief* belief, const DecisionBelief* judge) {
  if (!belief) return {};
  if (!belief->known()) return "The belief is unknown: " + plain_text(belief->why_not);
  QString text = QString("Expected %1 (90 %: %2 to %3).")
                     .arg(text_of(Unit::seconds, belief->expected_s.median),
                          text_of(Unit::seconds, belief->expected_s.low),
                          text_of(Unit::seconds, belief->expected_s.high));
  if (!judge) return text + " Regret: unknown until a later decision.";
  const PlanHindsight& judged = *judge->before;
  const QString by = QString("by the belief of round %1").arg(judge->round);
  if (judged.regret_s == 0) return text + " No regret " + by + '.';
  return text + QString(" Regret %1: %2 per round; %3 takes %4.")
                    .arg(by, text_of(Unit::seconds, judged.regret_s),
                         named_choice(judged.best.choice),
                         text_of(Unit::seconds, judged.best.cost.round_s));
}

}  // namespace tributary::dashboard
