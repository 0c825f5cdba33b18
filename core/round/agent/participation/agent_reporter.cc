#include "core/round/agent/participation/agent_reporter.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "core/codec/sparse/gain.h"
#include "core/codec/thc/gain/rate_gain.h"

namespace tributary {

void AgentReporter::drop_round() {
  reported_ = false;
  reported_at_ns_ = 0;
  trials_.reset();
}

void AgentReporter::measured(const UpdateReady& update, double update_norm) {
  measured_ = {.loss = update.loss,
               .examples = update.examples,
               .compute_s = update.compute_s,
               .update_norm = update_norm,
               .metrics = update.metrics};
}

// A layer is final with the first part that contains all of it. Without parts, all layers are final
// at the end of the training.
void AgentReporter::measure_ready(const RoundPlan& plan, const UpdateReady& update,
                                  const LayerMap& layers) {
  if (!plan.wire().profile_requested || layers.layers().size() > wire::kListItemsMax) return;
  const double end_s = std::isfinite(update.compute_s) ? std::max(update.compute_s, 0.0) : 0;
  std::vector<float> ready_s;
  for (const Layer& layer : layers.layers()) {
    const auto part = std::ranges::find_if(update.parts, [&](const UpdateReady::Part& each) {
      return each.first_value <= layer.offset;
    });
    const double after_s = part == update.parts.end() ? end_s : part->after_s;
    ready_s.push_back(static_cast<float>(after_s >= 0 && after_s <= end_s ? after_s : end_s));
  }
  measured_.ready_s = std::move(ready_s);
}

// The input is the update plus the residual. For a codec with its own memory it is the update
// alone.
void AgentReporter::measure_gain(const RoundPlan& plan, const SharedFloats& input) {
  if (!plan.wire().gain_wanted || !input) return;
  const sparse::GainCurve curve(context_.config.execution, *input);
  wire::GainCurveT gain;
  for (const double ratio : sparse::kGainRatios) {
    const double before = gain.gains.empty() ? 0 : gain.gains.back();
    gain.ratios.push_back(static_cast<float>(ratio));
    // These are lower bounds, which may fall from one ratio to the next. The gain itself cannot, so
    // the previous bound holds as well.
    gain.gains.push_back(static_cast<float>(std::clamp(curve.at_ratio(ratio).low, before, 1.0)));
  }
  measured_.gain = std::move(gain);
  measure_rates(plan, *input);
}

// Nothing is reported if the tables of a number of agents cannot be planned: the planner keeps the
// gain that it assumes.
void AgentReporter::measure_rates(const RoundPlan& plan, std::span<const float> input) {
  const Result<std::vector<double>> gains =
      thc::gains_of_rates(context_.config.execution, input, plan.agents(), thc::kGainRates);
  measured_.rate_gain = {};
  if (!gains.ok()) return;
  measured_.rate_gain.ratios.assign(std::begin(thc::kGainRates), std::end(thc::kGainRates));
  for (const double gain : *gains) measured_.rate_gain.gains.push_back(static_cast<float>(gain));
}

// --- trials ------------------------------------------------------------------------------------

void AgentReporter::begin_trials(const RoundPlan& plan, std::uint32_t rank,
                                 const CodecTrials::InputOf& input_of) {
  if (!plan.wire().trials.empty()) trials_.emplace(plan, rank, input_of);
}

// Trials run only after the report. The last agent of a round has therefore no time for them, and
// does not delay the round.
bool AgentReporter::trying() const { return reported_ && trials_ && !trials_->over(); }

void AgentReporter::try_next(CodecCache& codecs) {
  if (trying()) trials_->step(codecs, context_.config.execution, context_.config.stopwatch);
}

void AgentReporter::end_trials() {
  if (!trials_) return;
  std::vector<wire::TrialT>& kept = before_.trials;
  for (wire::TrialT& trial : trials_->results()) {
    std::erase_if(kept, [&](const wire::TrialT& old) { return old.codec == trial.codec; });
    if (kept.size() >= wire::kTrialsMax) kept.erase(kept.begin());
    kept.push_back(std::move(trial));
  }
  trials_.reset();
}

// --- report ------------------------------------------------------------------------------------

// The maker runs again for each repeat of the message, so it captures values and no references: the
// round may be over by then.
void AgentReporter::report(AgentRound& round, const Facts& facts) {
  reported_ = true;
  reported_at_ns_ = context_.now;
  session_.ask([key = round.key(), member = *round.member(), facts, measured = measured_,
                before = before_, encode_s = static_cast<double>(round.cost().encode_ns) / 1e9,
                dropped = static_cast<double>(round.cost().encoding.mantissa_bits_dropped),
                mechanisms = round.mechanisms()] {
    wire::ReportT report = make_report(key, member, facts, measured, before, encode_s);
    report.mechanisms = std::make_unique<wire::MechanismsT>(mechanisms);
    const auto values = static_cast<double>(std::max<std::uint64_t>(mechanisms.values_encoded, 1));
    report.mechanisms->mantissa_bits_dropped = dropped / values;
    report.mechanisms->trials = static_cast<std::uint32_t>(before.trials.size());
    return frame_with(std::move(report));
  });
  before_.trials.clear();
}

wire::ReportT AgentReporter::make_report(const RoundKey& key, std::uint32_t member,
                                         const Facts& facts, const Measured& measured,
                                         const RoundBefore& before, double encode_s) {
  const auto finite_or_0 = [](double value) { return std::isfinite(value) ? value : 0; };
  wire::ReportT report;
  report.id = std::make_unique<wire::RoundId>(wire_id(key));
  report.agent_index = member;
  report.results_hash = facts.results_hash;
  if (facts.sums_check) report.sums_check = std::make_unique<wire::SumsCheckT>(*facts.sums_check);
  report.model_version = facts.model.version;
  report.model_hash = facts.model.hash;
  report.examples = measured.examples;
  report.loss = finite_or_0(measured.loss);
  report.compute_s = std::max(measured.compute_s, 0.0);
  report.update_norm = finite_or_0(measured.update_norm);
  report.residual_norm = finite_or_0(facts.residual_norm);
  report.encode_s = encode_s;
  report.wait_s = before.wait_s;
  report.decode_s = before.decode_s;
  report.bytes_up = before.bytes_up;
  report.bytes_down = before.bytes_down;
  report.exchange_s = before.exchange_s;
  for (const wire::TrialT& trial : before.trials) {
    report.trials.push_back(std::make_unique<wire::TrialT>(trial));
  }
  if (!measured.gain.ratios.empty()) {
    report.gain = std::make_unique<wire::GainCurveT>(measured.gain);
  }
  if (!measured.rate_gain.ratios.empty()) {
    report.rate_gain = std::make_unique<wire::GainCurveT>(measured.rate_gain);
  }
  report.ready_s = measured.ready_s;
  for (const AgentMetric& metric : measured.metrics) {
    if (!std::isfinite(metric.value)) continue;
    auto measure = std::make_unique<wire::MeasureT>();
    measure->name = reading_name(metric.kind);
    measure->unit = wire::Unit::one;
    measure->value = metric.value;
    report.metrics.push_back(std::move(measure));
  }
  return report;
}

bool AgentReporter::forget_report() { return std::exchange(reported_, false); }

// Time and bytes of a round are complete only when it is committed, after its own report was sent.
// They travel with the report of the next round.
void AgentReporter::committed(const AgentRound& round) {
  const TimeNs waited = reported_ ? context_.now - reported_at_ns_ : 0;
  end_trials();
  const RepeatedBytes repeated = session_.take_repeated();
  for (const RepeatedBytes::Field& field : RepeatedBytes::kFields) {
    const std::uint64_t bytes = repeated.*field.bytes;
    if (bytes == 0) continue;
    context_.out.add(Reading{.kind = field.reading,
                             .value = static_cast<double>(bytes),
                             .job = round.key().job,
                             .round = round.key().round});
  }
  before_.bytes_up = round.cost().bytes_up;
  before_.bytes_down = round.cost().bytes_down;
  before_.decode_s = static_cast<double>(round.cost().decode_ns) / 1e9;
  before_.exchange_s = static_cast<double>(round.cost().exchange_ns) / 1e9;
  before_.wait_s = static_cast<double>(waited) / 1e9;
}

}  // namespace tributary
