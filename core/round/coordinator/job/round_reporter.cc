#include "core/round/coordinator/job/round_reporter.h"

#include <limits>
#include <utility>

#include "core/cost/gain_points.h"
#include "core/round/common/plan/mechanisms.h"

namespace tributary {
namespace {

constexpr double kNoGain = std::numeric_limits<double>::quiet_NaN();

// The curve does not include the rounding of values that are all kept.
double reported_gain(const wire::Report& report, double ratio) {
  const wire::GainCurve* const curve = report.gain();
  if (!curve || !curve->ratios() || !curve->gains() || ratio >= 1) return kNoGain;
  const GainPoints points = {.ratios = {curve->ratios()->begin(), curve->ratios()->end()},
                             .gains = {curve->gains()->begin(), curve->gains()->end()}};
  return points.known() && check(points).ok() ? points.at(ratio) : kNoGain;
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

// Moves the session's counts here, so that bytes of a session that ends are not lost and none is
// counted twice.
void RoundReporter::count(AgentSession& session) {
  up_.add(std::exchange(session.received, {}));
  const Conversation::Traffic traffic = session.conversation.take_traffic();
  down_.add(traffic.sent);
  repeats_.add(traffic.repeated);
}

void RoundReporter::keep(const AgentSession& session, const wire::Report& report,
                         std::optional<double> ratio) {
  if (report.trials()) trials_ += report.trials()->size();
  // Reports are stored with the next commit. The bound holds even if agents report without limit
  // between two commits.
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
                      .gain = ratio ? reported_gain(report, *ratio) : kNoGain,
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
    add_reading(*known, measure->value(), report.id()->round() - 1, session.agent_id);
  }
}

void RoundReporter::add_reading(ReadingKind kind, double value, std::uint64_t round,
                                std::string agent_id) {
  job_.coordinator.out.emplace_back(Reading{.kind = kind,
                                            .value = value,
                                            .job = job_.id(),
                                            .round = round,
                                            .agent_id = std::move(agent_id)});
}

void RoundReporter::report_commit(const RoundRecord& record, const ActiveRound& round) {
  add_reading(ReadingKind::round_s,
              static_cast<double>(job_.coordinator.now - record.began_at_ns) / 1e9,
              record.id.round);
  report_uplinks(record, round);
  report_downlinks(record, round);
}

// The measured rate is a lower bound on that of the uplink: parts after the first may have waited
// for the agent, and among peers each bucket's result waits for its exchange. A few bytes may pass
// a link in one burst before its rate limits them, so they are no bound.
void RoundReporter::report_uplinks(const RoundRecord& record, const ActiveRound& round) {
  for (const RoundMember& member : round.members()) {
    const AgentSession* const session = job_.coordinator.roster.by_session(member.session);
    const TimeNs took = member.last_part_at_ns - member.first_part_at_ns;
    if (!session || member.bytes_after_first == 0 || took <= 0) continue;
    const bool few = member.bytes_after_first < Delivery::kLargeBytes;
    ReadingKind kind = few ? ReadingKind::uplink_s_per_byte_of_few : ReadingKind::uplink_s_per_byte;
    if (round.plan().by_members()) {
      if (few) continue;
      kind = ReadingKind::uplink_s_per_byte_at_most;
    }
    add_reading(kind,
                static_cast<double>(took) / 1e9 / static_cast<double>(member.bytes_after_first),
                record.id.round, session->agent_id);
  }
}

// Models that members have downloaded since the last commit count, too.
void RoundReporter::report_downlinks(const RoundRecord& record, const ActiveRound& round) {
  downlinks_.clear();
  for (const RoundMember& member : round.members()) {
    AgentSession* const session = job_.coordinator.roster.by_session(member.session);
    const auto delivery = session ? session->conversation.bulk().take_delivery() : std::nullopt;
    if (!delivery) continue;
    ReadingKind kind = delivery->is_large() ? ReadingKind::downlink_s_per_byte
                                            : ReadingKind::downlink_s_per_byte_of_few;
    if (!delivery->measures_rate()) kind = ReadingKind::downlink_s_per_byte_at_most;
    add_reading(kind, delivery->s_per_byte(), record.id.round, session->agent_id);
    if (kind == ReadingKind::downlink_s_per_byte) {
      downlinks_[session->agent_id] = delivery->s_per_byte();
    }
  }
}

void RoundReporter::report_bytes(std::uint64_t round) {
  for (const auto& [number, session] : job_.coordinator.roster.all()) {
    if (session->run == job_.id()) count(*session);
  }
  const auto add_bytes = [&](ReadingKind kind, std::uint64_t bytes) {
    if (bytes > 0) add_reading(kind, static_cast<double>(bytes), round);
  };
  for (const MessageUseNames& names : kMessageUseNames) {
    add_bytes(names.up, up_.of(names.use));
    add_bytes(names.down, down_.of(names.use));
  }
  for (const RepeatedBytes::Field& field : RepeatedBytes::kFields) {
    add_bytes(field.reading, repeats_.*field.bytes);
  }
  up_ = down_ = {};
  repeats_ = {};
}

}  // namespace tributary
