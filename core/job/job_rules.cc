#include "core/job/job_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "core/codec/registry.h"
#include "core/optimizer/settings.h"

namespace tributary {
namespace {

// A job with one of its codecs, in the form in which the rules read it.
struct JobCase {
  const JobSettings& job;
  bool gradient = false;
  OptimizerSettings step;  // the optimizer that steps along the combined updates
  std::string_view codec_name;
  const Params& codec_params;
  const Codec& codec;

  bool planned() const { return job.planning != "fixed"; }
};

// Adam's first moment is a momentum. RMSProp has one only as an option.
bool accumulates_momentum(const OptimizerSettings& optimizer) {
  switch (optimizer.kind) {
    case OptimizerKind::momentum:
    case OptimizerKind::nesterov:
    case OptimizerKind::adam:
    case OptimizerKind::adamw:
      return true;
    case OptimizerKind::rmsprop:
      return optimizer.momentum != 0;
    case OptimizerKind::sgd:
    case OptimizerKind::adagrad:
      return false;
  }
  return false;
}

// The setting that chooses the step, as an operator writes it.
std::string step_setting(const JobCase& job_case) {
  return job_case.gradient ? fmt::format("optimizer = \"{}\"", job_case.job.optimizer)
                           : fmt::format("strategy = \"{}\"", job_case.job.strategy);
}

// Below this number of rounds 3LC with a sparsity multiplier and the paper's M learns little: it
// takes dozens of rounds until a value has been sent (docs/codecs/threelc.md).
constexpr std::uint64_t kSparseRoundsMin = 500;
// Ratios from this on need no warm-up: DGC's own begins here.
constexpr double kWarmUpShare = 0.25;

// A rule that refuses ends the submission. Any other is a warning: the job runs, and the operator
// reads `why` and `instead` as one sentence. Rules read only the settings, never the model.
struct JobRule {
  // True: the job is refused. False: the operator is warned.
  bool refuses;
  bool (*applies)(const JobCase& job_case);
  std::string (*why)(const JobCase& job_case);
  std::string_view instead;
};

// The order is that of the warnings. If several rules refuse, only the first is reported.
constexpr std::array kJobRules = {
    JobRule{.refuses = true,
            .applies =
                [](const JobCase& job_case) {
                  return job_case.codec_name == "dgc" &&
                         job_case.codec_params.real("momentum") != 0 &&
                         accumulates_momentum(job_case.step);
                },
            .why =
                [](const JobCase& job_case) {
                  return fmt::format(
                      "momentum twice: {} accumulates it on the agents, and {} again in the step",
                      job_case.codec.spec(), step_setting(job_case));
                },
            .instead = "take optimizer = \"sgd\" (mode = \"delta\": strategy = \"fedavg\"), or add "
                       "momentum=0 to the codec"},
    JobRule{
        .refuses = false,
        .applies =
            [](const JobCase& job_case) {
              return job_case.codec_name == "dgc" && job_case.gradient &&
                     job_case.job.clip_norm == 0 && job_case.codec_params.real("momentum") != 0;
            },
        .why =
            [](const JobCase& job_case) {
              return fmt::format(
                  "{} accumulates gradients that are not clipped, so that a large one stays for "
                  "many rounds",
                  job_case.codec.spec());
            },
        .instead = "set clip_norm to the norm for one agent over the square root of the number "
                   "of agents, as in its paper"},
    JobRule{.refuses = true,
            .applies =
                [](const JobCase& job_case) {
                  return job_case.job.policy.fusion == "optimal" && job_case.planned();
                },
            .why =
                [](const JobCase& job_case) {
                  return fmt::format(
                      "fusion = \"optimal\" profiles the job's codec, and planning = \"{}\" may "
                      "change it in any round",
                      job_case.job.planning);
                },
            .instead = "take planning = \"fixed\" with a codec, or fusion = \"layerwise\""},
    JobRule{.refuses = false,
            .applies =
                [](const JobCase& job_case) {
                  return job_case.codec_name == "dgc" &&
                         job_case.codec_params.real("cr") < kWarmUpShare &&
                         job_case.codec_params.integer("warmup") == 0;
                },
            .why =
                [](const JobCase& job_case) {
                  return fmt::format(
                      "{} sends few values from the first round on, when updates change fastest",
                      job_case.codec.spec());
                },
            .instead = "add warmup=N to the codec, N being a few hundredths of the rounds"},
    JobRule{.refuses = false,
            .applies =
                [](const JobCase& job_case) {
                  return job_case.codec_name == "threelc" && job_case.codec_params.real("s") > 1 &&
                         job_case.codec_params.real("clip") == 0 &&
                         job_case.job.rounds < kSparseRoundsMin;
                },
            .why =
                [](const JobCase& job_case) {
                  return fmt::format(
                      "{} sends most values dozens of rounds late, and the job has {} rounds",
                      job_case.codec.spec(), job_case.job.rounds);
                },
            .instead = "leave out clip=0, take codec = \"thc:bits=4\", or more and shorter rounds"},
    JobRule{
        .refuses = false,
        .applies =
            [](const JobCase& job_case) {
              return job_case.codec_name == "gcomp" &&
                     job_case.codec_params.choice("truncation") == "metric" &&
                     job_case.step.kind == OptimizerKind::rmsprop && job_case.step.momentum != 0;
            },
        .why =
            [](const JobCase& job_case) {
              return fmt::format("{} has no metric for {}, so it leaves out no bit of a mantissa",
                                 job_case.codec.spec(), step_setting(job_case));
            },
        .instead = "take codec = \"gcomp\", or RMSProp without momentum"},
    JobRule{.refuses = false,
            .applies =
                [](const JobCase& job_case) {
                  return job_case.job.policy.exchanges_per_round > 1 &&
                         job_case.job.collective == "star" && !job_case.planned();
                },
            .why =
                [](const JobCase& job_case) {
                  return fmt::format("the star has one exchange a round and not {}",
                                     job_case.job.policy.exchanges_per_round);
                },
            .instead = "take exchanges_per_round = 1, or a collective among peers"},
};

// One sentence with the reason and what to do instead.
std::string sentence_of(const JobRule& rule, const JobCase& job_case) {
  return fmt::format("{}; {}", rule.why(job_case), rule.instead);
}

// Calls visit(rule, case) for each rule that applies to the job with one of its codecs. Settings
// that cannot be parsed are skipped: the checks of a submission report them on their own, and a
// rule would only add a second error.
template <typename Visit>
void for_each_rule(const JobSettings& job, const Visit& visit) {
  // Modes and words are not checked here; an unknown mode counts as "delta".
  const bool gradient = job.mode == "gradient";
  const Result<OptimizerSettings> optimizer = parse_optimizer(job.optimizer);
  const Result<Strategy> strategy = parse_strategy(job.strategy);
  if (!optimizer.ok() || !strategy.ok()) return;
  std::vector<std::string> specs = job.policy.codecs;
  if (specs.empty()) specs = {start_codec(job)};
  for (const std::string& spec : specs) {
    const Result<std::unique_ptr<Codec>> codec = make_codec(spec);
    const Result<SpecText> text = split_spec(spec);
    if (!codec.ok() || !text.ok()) continue;
    const auto family = std::ranges::find(codec_families(), text->name, &CodecFamily::name);
    const Result<Params> params = Params::make(*text, family->params);
    if (!params.ok()) continue;
    const JobCase job_case = {.job = job,
                              .gradient = gradient,
                              .step = gradient ? *optimizer : strategy->server,
                              .codec_name = text->name,
                              .codec_params = *params,
                              .codec = **codec};
    for (const JobRule& rule : kJobRules) {
      if (rule.applies(job_case)) visit(rule, job_case);
    }
  }
}

}  // namespace

// An operator mends one setting at a time, so only the first rule that refuses is reported.
Status check_rules(const JobSettings& job) {
  Status refused;
  for_each_rule(job, [&](const JobRule& rule, const JobCase& job_case) {
    if (!rule.refuses || !refused.ok()) return;
    refused = Status(StatusCode::mismatch, {.what = "job",
                                            .expected = "settings that fit together",
                                            .got = rule.why(job_case),
                                            .remedy = std::string(rule.instead)});
  });
  return refused;
}

std::vector<std::string> job_warnings(const JobSettings& job) {
  std::vector<std::string> warnings;
  for_each_rule(job, [&](const JobRule& rule, const JobCase& job_case) {
    if (rule.refuses) return;
    std::string warning = sentence_of(rule, job_case);
    // Several codecs of a job may break the same rule.
    if (std::ranges::find(warnings, warning) == warnings.end()) {
      warnings.push_back(std::move(warning));
    }
  });
  return warnings;
}

}  // namespace tributary
