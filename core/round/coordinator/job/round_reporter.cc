#include "core/round/coordinator/job/round_reporter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/round/common/plan/mechanisms.h"

namespace tributary {
namespace {

// The amount after which peers measure one another (core/net/arrival_timer.h). Fewer bytes may
// arrive in one burst of the link.
constexpr std::uint64_t kRateBytesMin = 64 * 1024;
constexpr double kNoGain = std::numeric_limits<double>::quiet_NaN();

// The reported curve has the gain at a few ratios. Between two of them the gain is interpolated
// over the logarithm of the ratio; below the first ratio it is that of the first.
double gain_at(const wire::Report& report, double ratio) {
  const wire::GainCurve* const curve = report.gain();
  if (!curve || !curve->ratios() || !curve->gains() || curve->ratios()->size() == 0 ||
      curve->ratios()->size() != curve->gains()->size()) {
    return kNoGain;
  }
  // The curve does not include the rounding of values that are all kept.
  if (ratio >= 1) return kNoGain;
  double below = 0;
  double below_gain = 0;
  for (flatbuffers::uoffset_t i = 0; i < curve->ratios()->size(); ++i) {
    const double above = static_cast<double>(curve->ratios()->Get(i));
    const double gain = static_cast<double>(curve->gains()->Get(i));
    if (ratio <= above) {
      if (i == 0 || !(below > 0) || !(above > below)) return gain;
      return below_gain + (gain - below_gain) * std::log(ratio / below) / std::log(above / below);
    }
    below = above;
    below_gain = gain;
  }
  return below > 0 ? below_gain + (1 - below_gain) * std::log(ratio / below) / std::log(1 / below)
                   : kNoGain;
}

}  // namespace

double ratio_of(const RoundPlan& plan, std::uint32_t member, CodecCache& codecs) {
  const wire::PlanT& wire = plan.wire();
  if (wire.exchanges.empty()) return 1;
  const wire::ExchangeT& exchange = *wire.exchanges.front();
  if (member < exchange.ratios.size()) return exchange.ratios[member];
  const auto codec = codecs.get(exchange.codec);
  return codec.ok() ? (*codec)->own_share().value_or(exchange.ratio) : exchange.ratio;
}

void RoundReporter::count(AgentSession& session) {
  up_.add(std::exchange(session.received, {}));
  const Conversation::Traffic traffic = session.conversation.take_traffic();
  down_.add(traffic.sent);
  repeats_.add(traffic.repeated);
}

void RoundReporter::keep(const AgentSession& session, const wire::Report& report,
                         std::optional<double> ratio) {
  if (report.trials()) trials_ += report.trials()->size();
  if (reports_.size() >= kReportsMax) return;
  SharedBytes mechanisms;
  if (report.mechanisms()) {
    wire::MechanismsT facts;
    report.mechanisms()->UnPackTo(&facts);
    mechanisms = pack_mechanisms(facts);
  }
  reports_.push_back({.id = key_of(*report.id()),
                      .agent_id = session.agent_id,
                      .loss = report.loss(),
                      .examples = report.examples(),
                      .compute_s = report.compute_s(),
                      .encode_s = report.encode_s(),
                      .wait_s = report.wait_s(),
                      .decode_s = report.decode_s(),
                      .update_norm = report.update_norm(),
                      .residual_norm = report.residual_norm(),
                      .gain = ratio ? gain_at(report, *ratio) : kNoGain,
                      .bytes_up = report.bytes_up(),
                      .bytes_down = report.bytes_down(),
                      .mechanisms = std::move(mechanisms)});
}

// Unknown names are skipped, because each name becomes a time series.
void RoundReporter::read_metrics(const AgentSession& session, const wire::Report& report) {
  constexpr std::size_t kMeasuresMax = readings_in(ReadingGroup::agent);
  if (!report.metrics() || report.metrics()->size() > kMeasuresMax) return;
  for (const wire::Measure* measure : *report.metrics()) {
    const std::optional<ReadingKind> known = reading_named(measure->name()->string_view());
    if (!known || facts_of(*known).group != ReadingGroup::agent) continue;
    // The agent evaluated the model before the round.
    tell(*known, measure->value(), report.id()->round() - 1, session.agent_id);
  }
}

void RoundReporter::tell(ReadingKind kind, double value, std::uint64_t round,
                         std::string agent_id) {
  job_.coordinator.out.emplace_back(Reading{.kind = kind,
                                            .value = value,
                                            .job = job_.id(),
                                            .round = round,
                                            .agent_id = std::move(agent_id)});
}

void RoundReporter::tell_commit(const RoundRecord& record, const ActiveRound& round) {
  tell(ReadingKind::round_s, static_cast<double>(job_.coordinator.now - record.began_at_ns) / 1e9,
       record.id.round);
  tell_uplinks(record, round);
}

// The measured rate is a lower bound on that of the uplink: parts after the first may have waited
// for the agent, and among peers each bucket's result waits for its exchange. A few bytes may pass
// a link in one burst before its rate limits them.
void RoundReporter::tell_uplinks(const RoundRecord& record, const ActiveRound& round) {
  for (const RoundMember& member : round.members()) {
    const AgentSession* const session = job_.coordinator.roster.by_session(member.session);
    const TimeNs took = member.last_part_at_ns - member.first_part_at_ns;
    if (!session || member.bytes_after_first == 0 || took <= 0) continue;
    const bool few = member.bytes_after_first < kRateBytesMin;
    ReadingKind kind = few ? ReadingKind::uplink_s_per_byte_of_few : ReadingKind::uplink_s_per_byte;
    if (round.plan().by_peers()) kind = ReadingKind::uplink_s_per_byte_at_most;
    tell(kind, static_cast<double>(took) / 1e9 / static_cast<double>(member.bytes_after_first),
         record.id.round, session->agent_id);
  }
}

void RoundReporter::tell_bytes(std::uint64_t round) {
  for (const auto& [number, session] : job_.coordinator.roster.all()) {
    if (session->run == job_.id()) count(*session);
  }
  const auto tell_some = [&](ReadingKind kind, std::uint64_t bytes) {
    if (bytes > 0) tell(kind, static_cast<double>(bytes), round);
  };
  for (const MessageUseNames& names : kMessageUseNames) {
    tell_some(names.up, up_.of(names.use));
    tell_some(names.down, down_.of(names.use));
  }
  for (const RepeatedBytes::Field& field : RepeatedBytes::kFields) {
    tell_some(field.reading, repeats_.*field.bytes);
  }
  up_ = down_ = {};
  repeats_ = {};
}

}  // namespace tributary
