// What an agent says of its part in a round, once its payloads are on their way.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "core/codec/sparse/gain.h"
#include "core/round/agent_impl.h"
#include "core/update/norm.h"

namespace tributary {

// Of what is given to the codecs: the update with what was left over before. A codec that keeps a
// memory of its own gets the update alone.
void Agent::Impl::measure_gain() {
  if (!round_->plan().wire().gain_wanted) return;
  const SharedFloats given = round_->plan().conserves() ? residual_.shared() : update_;
  if (!given) return;
  const sparse::GainCurve curve(config_.execution, *given);
  wire::GainCurveT gain;
  for (const double ratio : sparse::kGainRatios) {
    const double before = gain.gains.empty() ? 0 : gain.gains.back();
    gain.ratios.push_back(static_cast<float>(ratio));
    gain.gains.push_back(static_cast<float>(std::clamp(curve.at_ratio(ratio).low, before, 1.0)));
  }
  measured_.gain = std::move(gain);
}

// --- trials ------------------------------------------------------------------------------------

// Of the same: what the round's own codecs are given.
void Agent::Impl::begin_trials() {
  const RoundPlan& plan = round_->plan();
  if (plan.wire().trials.empty()) return;
  round_->trials.emplace(plan, *round_->rank(),
                         [this](const PlannedBucket& bucket) { return input_of(bucket); });
}

// Only while there is nothing to do but to wait for the others: who is the last of them has no time
// for it, and is not held up.
bool Agent::Impl::trying() const {
  return round_ && round_->reported && round_->trials && !round_->trials->over() && !shutting_down_;
}

void Agent::Impl::try_codecs() {
  if (trying()) round_->trials->step(codecs_, config_.execution, config_.stopwatch);
}

// However far they have come. Where nothing is reported for a while, the newest of each codec stay.
void Agent::Impl::end_trials() {
  if (!round_->trials) return;
  std::vector<wire::TrialT>& told = before_.trials;
  for (wire::TrialT& trial : round_->trials->results()) {
    std::erase_if(told, [&](const wire::TrialT& old) { return old.codec == trial.codec; });
    if (told.size() >= wire::kTrialsMax) told.erase(told.begin());
    told.push_back(std::move(trial));
  }
  round_->trials.reset();
}

void Agent::Impl::report() {
  if (!round_ || !round_->working || round_->reported || round_->withdrawn || round_->saving ||
      !round_->unsent.empty() || !talk_) {
    return;
  }
  if (round_->plan().by_peers() && !round_->prepared) return;
  for (const PlannedBucket& bucket : round_->plan().buckets()) {
    const BucketWork& work = round_->work()[bucket.index];
    if (work.encoded < bucket.stages() && work.combined.size() < bucket.stages()) return;
  }
  round_->reported = true;
  round_->reported_at_ns = now_;
  talk_->ask(
      now_,
      [key = round_->key(), member = *round_->member(), measured = measured_, version = version_,
       hash = model_hash_, norm = residual_.norm(), before = before_,
       results_hash = round_->results_hash,
       encode_s = static_cast<double>(round_->encode_ns) / 1e9] {
        wire::ReportT report;
        report.id = std::make_unique<wire::RoundId>(wire_id(key));
        report.agent_index = member;
        report.results_hash = results_hash;
        report.model_version = version;
        report.model_hash = hash;
        report.examples = measured.examples;
        report.local_steps = measured.local_steps;
        report.loss = std::isfinite(measured.loss) ? measured.loss : 0;
        report.compute_s = std::max(measured.compute_s, 0.0);
        report.update_norm = std::isfinite(measured.update_norm) ? measured.update_norm : 0;
        report.residual_norm = std::isfinite(norm) ? norm : 0;
        report.encode_s = encode_s;
        report.wait_s = before.wait_s;
        report.decode_s = before.decode_s;
        report.bytes_up = before.bytes_up;
        report.bytes_down = before.bytes_down;
        for (const wire::TrialT& trial : before.trials) {
          report.trials.push_back(std::make_unique<wire::TrialT>(trial));
        }
        if (!measured.gain.ratios.empty()) {
          report.gain = std::make_unique<wire::GainCurveT>(measured.gain);
        }
        for (const AgentMetric& metric : measured.metrics) {
          if (!std::isfinite(metric.value)) continue;
          auto measure = std::make_unique<wire::MeasureT>();
          measure->name = metric.name;
          measure->unit = wire::Unit::one;
          measure->value = metric.value;
          report.metrics.push_back(std::move(measure));
        }
        return frame_with(std::move(report));
      },
      out_);
  before_.trials.clear();
}

// --- repeats -----------------------------------------------------------------------------------

// A session counts bytes that it has sent again as `lost_down`: for an agent that is up.
void Agent::Impl::count_repeats() {
  if (!talk_) return;
  const RepeatedBytes own = talk_->take_repeated();
  repeats_.lost_up += own.lost_down;
  repeats_.lost_down += own.lost_up;
}

void Agent::Impl::report_repeats(const RoundKey& round) {
  count_repeats();
  for (const RepeatedBytes::Field& field : RepeatedBytes::kFields) {
    const std::uint64_t bytes = std::exchange(repeats_.*field.bytes, 0);
    if (bytes == 0) continue;
    out_.emplace_back(Reading{.name = field.reading,
                              .value = static_cast<double>(bytes),
                              .job = round.job,
                              .round = round.round});
  }
}

}  // namespace tributary
