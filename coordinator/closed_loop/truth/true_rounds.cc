#include "coordinator/closed_loop/truth/true_rounds.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coordinator/closed_loop/truth/declared_codecs.h"
#include "core/cost/stage_sizes.h"
#include "core/plan/search/predict.h"

namespace tributary {
namespace {

// CPU time per message at each end. The planner assumes more.
constexpr double kTrueMessage_s = 30e-6;

const PlanCodec& codec_of(const std::vector<PlanCodec>& codecs, const PlanChoice& choice) {
  const auto named = [&](const PlanCodec& codec) {
    if (codec.family == PlanFamily::fixed) return codec.spec == choice.codec;
    return choice.codec.substr(0, choice.codec.find(':')) == codec.spec;
  };
  const auto found = std::ranges::find_if(codecs, named);
  return found == codecs.end() ? codecs.front() : *found;
}

// The stages of a bucket of `values` values, with the true times of the coordinator's machine.
std::vector<StagePayload> stages_of(const TrueFederation& federation, const PlanCodec& codec,
                                    double values, double ratio, std::uint32_t members) {
  std::vector<StagePayload> stages;
  const double size = federation.payload_size.at(codec.spec);
  const double time = federation.codec_time.at(codec.spec);
  if (codec.family == PlanFamily::top_k) stages = top_k_stages(values, ratio, members);
  if (codec.family == PlanFamily::ar_top_k) stages = ar_top_k_stages(values, ratio);
  if (codec.family == PlanFamily::fixed) {
    for (const PlanStage& stage : codec.stages) {
      stages.push_back({.flow = stage.flow,
                        .up_bytes = stage.up_bytes + stage.up_bytes_per_value * size * values,
                        .down_bytes = stage.down_bytes + stage.down_bytes_per_value * size * values,
                        .encode_s = stage.encode_s_per_value * time * values,
                        .aggregate_s = stage.aggregate_s_per_value * time * values});
    }
    return stages;
  }
  stages.front().encode_s = codec.stages.front().encode_s_per_value * time * values;
  stages.back().aggregate_s = codec.stages.back().aggregate_s_per_value * time * values;
  return stages;
}

}  // namespace

double true_gain(const TrueFederation& federation, const PlanChoice& choice,
                 const std::vector<double>& ratios, std::size_t members) {
  static const std::vector<PlanCodec> codecs = declared_codecs();
  static const GainPoints curve = declared_curve();
  static const std::map<std::string, double> known_gains = declared_known_gains();
  const PlanCodec& codec = codec_of(codecs, choice);
  if (codec.family == PlanFamily::fixed) {
    const auto known = known_gains.find(codec.spec);
    return known == known_gains.end() ? codec.gain : known->second;
  }
  const double own = curve.at(choice.ratio);
  if (codec.family == PlanFamily::top_k) {
    if (ratios.empty()) return own;
    double sum = 0;
    for (const double ratio : ratios) sum += curve.at(ratio);
    return sum / static_cast<double>(ratios.size());
  }
  const double others = std::min(choice.ratio + federation.agreement * (own - choice.ratio), own);
  return (own + (static_cast<double>(members) - 1) * others) / static_cast<double>(members);
}

double mean_noise(const HiddenSettings& hidden) {
  const double usual = std::exp(hidden.round_noise * hidden.round_noise / 2);
  const double width = std::log(hidden.hiccup.high / hidden.hiccup.low);
  const double hiccup =
      width > 0 ? (hidden.hiccup.high - hidden.hiccup.low) / width : hidden.hiccup.low;
  return usual * (1 - hidden.hiccups + hidden.hiccups * hiccup);
}

TrueRounds::TrueRounds(const PlanScenario& scenario, const TrueFederation& federation,
                       std::optional<std::uint64_t> noise_seed)
    : hidden_(scenario.hidden),
      train_ahead_(scenario.train_ahead),
      federation_(federation),
      values_(scenario.values),
      codecs_(declared_codecs()) {
  if (noise_seed) noise_.emplace(*noise_seed, DrawUse::round_noise, 0);
}

double TrueRounds::drawn_noise() {
  if (!noise_) return mean_noise(hidden_);
  const double usual = std::exp(hidden_.round_noise * draw_normal(*noise_));
  if (!noise_->chance(hidden_.hiccups)) return usual;
  return usual * draw_log_uniform(hidden_.hiccup, *noise_);
}

TrueWork TrueRounds::work_of(const PlanChoice& choice, const std::vector<double>& ratios,
                             const TrueRound& round) const {
  const PlanCodec& codec = codec_of(codecs_, choice);
  const auto all = static_cast<double>(values_);
  const double buckets =
      std::ceil(all / static_cast<double>(std::max<std::uint64_t>(choice.bucket_values, 1)));
  const double values = all / buckets;
  TrueWork work = {
      .kind = choice.collective,
      .buckets = static_cast<std::uint32_t>(buckets),
      .stages = stages_of(federation_, codec, values, choice.ratio,
                          static_cast<std::uint32_t>(round.members.size())),
      .decode_s = codec.decode_s_per_value * federation_.codec_time.at(codec.spec) * values,
      .cpu_slowdown = federation_.cpu_slowdown,
      .message_s = kTrueMessage_s,
      .upload_last = train_ahead_};
  for (std::size_t i = 0; i < round.members.size(); ++i) {
    const std::uint32_t member = round.members[i];
    const TrueAgent& agent = federation_.agents[member];
    const double plan_s = round.began_s + agent.down.latency_s(round.began_s);
    const double hidden_s = round.hidden_s[i];
    work.begins_s.push_back(hidden_s > 0
                                ? std::max(plan_s, round.began_s + agent.training_s - hidden_s)
                                : plan_s + agent.training_s);
    if (!ratios.empty()) work.upload_share.push_back(ratios[member] / choice.ratio);
  }
  return work;
}

TrueRound TrueRounds::play(const PlanChoice& choice, const std::vector<double>& ratios,
                           double began_s) {
  TrueRound round = {.began_s = began_s, .members = federation_.present(began_s)};
  std::vector<double> member_ratios;
  for (const std::uint32_t member : round.members) {
    const double training_s = federation_.agents[member].training_s;
    const auto ahead = began_ahead_s_.find(member);
    const double hidden_s =
        ahead == began_ahead_s_.end() ? 0 : std::clamp(began_s - ahead->second, 0.0, training_s);
    round.hidden_s.push_back(hidden_s);
    round.training_s = std::max(round.training_s, training_s - hidden_s);
    if (!ratios.empty()) member_ratios.push_back(ratios[member]);
  }
  round.gain = true_gain(federation_, choice, member_ratios, round.members.size());
  const TrueWork work = work_of(choice, ratios, round);
  round.exchanged = play_exchange(federation_, round.members, windows_, work);
  const double factor =
      drawn_noise() * federation_.collective_time[static_cast<std::size_t>(choice.collective)];
  const double trained_s = std::ranges::max(work.begins_s);
  round.ends_s = trained_s + (round.exchanged.ends_s - trained_s) * factor + federation_.overhead_s;
  // Noise also delays the arrivals that links are measured by.
  for (TrueExchanged::Upload& upload : round.exchanged.uploads) {
    if (choice.collective == wire::Collective::star) round.bytes_up += upload.bytes;
    upload.last_s = upload.first_s + (upload.last_s - upload.first_s) * factor;
  }
  round.bytes_up /= static_cast<double>(round.members.size());
  for (TrueExchanged::Pair& pair : round.exchanged.pairs) pair.seconds *= factor;
  for (double& wait_s : round.exchanged.waits_s) {
    if (wait_s > 0) wait_s = wait_s * factor + federation_.overhead_s;
  }
  began_ahead_s_.clear();
  for (std::size_t i = 0; train_ahead_ && i < round.members.size(); ++i) {
    const double wait_s = round.exchanged.waits_s[i];
    if (wait_s > 0) began_ahead_s_[round.members[i]] = round.ends_s - wait_s;
  }
  return round;
}

}  // namespace tributary
