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
std::string step_setting(const JobCase& it) {
  return it.gradient ? fmt::format("optimizer = \"{}\"", it.job.optimizer)
                     : fmt::format("strategy = \"{}\"", it.job.strategy);
}

// Below this number of rounds 3LC with a sparsity multiplier and the paper's M learns little: it
// takes dozens of rounds until a value has been sent (docs/codecs/threelc.md).
constexpr std::uint64_t kSparseRoundsMin = 500;
// Ratios from this on need no warm-up: DGC's own begins here.
constexpr double kWarmUpShare = 0.25;

// A rule that refuses ends the submission. Any other is a warning: the job runs, and the operator
// reads `why` and `instead` as one sentence. Rules read only the settings, never the model.
struct JobRule {
  bool refuses;
  bool (*applies)(const JobCase& it);
  std::string (*why)(const JobCase& it);
  std::string_view instead;
};

constexpr std::array kJobRules = {
    JobRule{.refuses = true,
            .applies =
                [](const JobCase& it) {
                  return it.codec_name == "dgc" && it.codec_params.real("momentum") != 0 &&
                         accumulates_momentum(it.step);
                },
            .why =
                [](const JobCase& it) {
                  return fmt::format(
                      "momentum twice: {} accumulates it on the agents, and {} again in the step",
                      it.codec.spec(), step_setting(it));
                },
            .instead = "take optimizer = \"sgd\" (mode = \"delta\": strategy = \"fedavg\"), or add "
                       "momentum=0 to the codec"},
    JobRule{
        .refuses = false,
        .applies =
            [](const JobCase& it) {
              return it.codec_name == "dgc" && it.gradient && it.job.clip_norm == 0 &&
                     it.codec_params.real("momentum") != 0;
            },
        .why =
            [](const JobCase& it) {
              return fmt::format(
                  "{} accumulates gradients that are not clipped, so that a large one stays for "
                  "many rounds",
                  it.codec.spec());
            },
        .instead = "set clip_norm to the norm for one agent over the square root of the number "
                   "of agents, as in its paper"},
    JobRule{.refuses = false,
            .applies =
                [](const JobCase& it) {
                  return it.codec_name == "dgc" && it.codec_params.real("cr") < kWarmUpShare &&
                         it.codec_params.integer("warmup") == 0;
                },
            .why =
                [](const JobCase& it) {
                  return fmt::format(
                      "{} sends few values from the first round on, when updates change fastest",
                      it.codec.spec());
                },
            .instead = "add warmup=N to the codec, N being a few hundredths of the rounds"},
    JobRule{.refuses = false,
            .applies =
                [](const JobCase& it) {
                  return it.codec_name == "threelc" && it.codec_params.real("s") > 1 &&
                         it.codec_params.real("clip") == 0 && it.job.rounds < kSparseRoundsMin;
                },
            .why =
                [](const JobCase& it) {
                  return fmt::format(
                      "{} sends most values dozens of rounds late, and the job has {} rounds",
                      it.codec.spec(), it.job.rounds);
                },
            .instead = "leave out clip=0, take codec = \"thc:bits=4\", or more and shorter rounds"},
    JobRule{
        .refuses = false,
        .applies =
            [](const JobCase& it) {
              return it.codec_name == "gcomp" && it.codec_params.choice("truncation") == "metric" &&
                     it.step.kind == OptimizerKind::rmsprop && it.step.momentum != 0;
            },
        .why =
            [](const JobCase& it) {
              return fmt::format("{} has no metric for {}, so it leaves out no bit of a mantissa",
                                 it.codec.spec(), step_setting(it));
            },
        .instead = "take codec = \"gcomp\", or RMSProp without momentum"},
    JobRule{.refuses = false,
            .applies =
                [](const JobCase& it) {
                  return it.job.policy.exchanges_per_round > 1 && !it.codec.conserves();
                },
            .why =
                [](const JobCase& it) {
                  return fmt::format("{} keeps no residual, so rounds have one exchange and not {}",
                                     it.codec.spec(), it.job.policy.exchanges_per_round);
                },
            .instead = "take exchanges_per_round = 1, or a codec with error feedback such as "
                       "\"topk:cr=0.01\""},
    JobRule{.refuses = false,
            .applies =
                [](const JobCase& it) {
                  return it.job.policy.exchanges_per_round > 1 && it.job.collective == "star" &&
                         !it.planned();
                },
            .why =
                [](const JobCase& it) {
                  return fmt::format("the star has one exchange a round and not {}",
                                     it.job.policy.exchanges_per_round);
                },
            .instead = "take exchanges_per_round = 1, or a collective among peers"},
};

std::string sentence_of(const JobRule& rule, const JobCase& it) {
  return fmt::format("{}; {}", rule.why(it), rule.instead);
}

// Calls visit(rule, case) for each rule that applies to the job with one of its codecs. Settings
// that cannot be parsed are skipped: the checks of a submission report them on their own, and a
// rule would only add a second error.
template <typename Visit>
void for_each_rule(const JobSettings& job, const Visit& visit) {
  const bool gradient = job.mode == "gradient";
  const Result<OptimizerSettings> optimizer = parse_optimizer(job.optimizer);
  const Result<Strategy> strategy = parse_strategy(job.strategy);
  if (!optimizer.ok() || !strategy.ok()) return;
  std::vector<std::string> specs = job.policy.codecs;
  if (specs.empty()) specs = {job.policy.codec};
  for (const std::string& spec : specs) {
    const Result<std::unique_ptr<Codec>> codec = make_codec(spec);
    const Result<SpecText> text = split_spec(spec);
    if (!codec.ok() || !text.ok()) continue;
    const auto family = std::ranges::find(codec_families(), text->name, &CodecFamily::name);
    const Result<Params> params = Params::make(*text, family->params);
    if (!params.ok()) continue;
    const JobCase it = {.job = job,
                        .gradient = gradient,
                        .step = gradient ? *optimizer : strategy->server,
                        .codec_name = text->name,
                        .codec_params = *params,
                        .codec = **codec};
    for (const JobRule& rule : kJobRules) {
      if (rule.applies(it)) visit(rule, it);
    }
  }
}

}  // namespace

// An operator mends one setting at a time, so only the first rule that refuses is reported.
Status check_rules(const JobSettings& job) {
  Status refused;
  for_each_rule(job, [&](const JobRule& rule, const JobCase& it) {
    if (!rule.refuses || !refused.ok()) return;
    refused = Status(StatusCode::mismatch, {.what = "job",
                                            .expected = "settings that fit together",
                                            .got = rule.why(it),
                                            .remedy = std::string(rule.instead)});
  });
  return refused;
}

std::vector<std::string> job_warnings(const JobSettings& job) {
  std::vector<std::string> warnings;
  for_each_rule(job, [&](const JobRule& rule, const JobCase& it) {
    if (rule.refuses) return;
    std::string warning = sentence_of(rule, it);
    // Several codecs of a job may break the same rule.
    if (std::ranges::find(warnings, warning) == warnings.end()) {
      warnings.push_back(std::move(warning));
    }
  });
  return warnings;
}

}  // namespace tributary
