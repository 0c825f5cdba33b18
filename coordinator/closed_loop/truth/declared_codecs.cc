#include "coordinator/closed_loop/truth/declared_codecs.h"

#include "core/plan/search/measured_codecs.h"

namespace tributary {
namespace {

constexpr double kDeclaredBucketBytes = 168;
constexpr double kNs = 1e-9;

// Bytes per value and nanoseconds per value.
PlanStage stage(StageFlow flow, double up, double down, double encode_ns, double aggregate_ns) {
  return {.flow = flow,
          .up_bytes = kDeclaredBucketBytes,
          .up_bytes_per_value = up,
          .down_bytes = kDeclaredBucketBytes,
          .down_bytes_per_value = down,
          .encode_s_per_value = encode_ns * kNs,
          .aggregate_s_per_value = aggregate_ns * kNs};
}

PlanCodec codec(const char* spec, double gain, double decode_ns, std::vector<PlanStage> stages) {
  return {.spec = spec,
          .family = family_of(spec),
          .gain = gain,
          .decode_s_per_value = decode_ns * kNs,
          .stages = std::move(stages)};
}

}  // namespace

std::vector<PlanCodec> declared_codecs() {
  constexpr StageFlow kReduced = StageFlow::reduced;
  constexpr StageFlow kGathered = StageFlow::gathered;
  const PlanStage norms = stage(kReduced, 0.0162, 0.0162, 0.24, 0.017);
  return {codec("fp32", 1, 0.21, {stage(kReduced, 4, 4, 0.29, 0.23)}),
          codec("fp16", 1, 0.17, {stage(kReduced, 2, 2, 0.2, 0.89)}),
          codec("gcomp", 1, 3.4, {stage(kReduced, 1.86, 1.85, 4.3, 6.2)}),
          codec("thc:rate=1", 0.997, 1.6, {norms, stage(kReduced, 0.126, 0.352, 1.9, 0.25)}),
          codec("thc:rate=2", 1, 1.8, {norms, stage(kReduced, 0.251, 0.501, 2.1, 0.28)}),
          codec("thc:rate=4", 1, 1.8, {norms, stage(kReduced, 0.501, 0.751, 1.9, 0.15)}),
          codec("threelc", 0.948, 0.35, {stage(kGathered, 0.111, 0.129, 0.61, 0.71)}),
          codec("threelc:s=1.75", 0.802, 0.26, {stage(kGathered, 0.0374, 0.0529, 0.57, 0.67)}),
          codec("topk", 0.73, 0.22, {stage(kGathered, 0.0508, 0.107, 4.3, 0.28)}),
          codec("star_topk", 0.718, 0.15,
                {stage(StageFlow::from_root, 0.0109, 0.0109, 4.6, 0.068),
                 stage(kReduced, 0.0406, 0.0406, 0.083, 0.013)})};
}

GainPoints declared_curve() {
  return {.ratios = {0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3},
          .gains = {0.0528, 0.116, 0.208, 0.356, 0.536, 0.757, 0.927}};
}

std::map<std::string, double> declared_known_gains() {
  return {{"thc:rate=1", 0.686}, {"thc:rate=2", 0.922}, {"thc:rate=4", 0.993}};
}

bool size_depends_on_values(const std::string& spec) {
  return spec.starts_with("threelc") || spec.starts_with("gcomp");
}

}  // namespace tributary
