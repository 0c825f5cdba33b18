#include "core/round/common/plan/model_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>
#include <utility>
#include <vector>

#include "core/codec/chunks.h"
#include "core/optimizer/optimizer.h"

namespace tributary {
namespace {

// The wire's enum has `unspecified` at 0. The conversion in optimizer_settings() relies on the same
// order after it.
static_assert(static_cast<int>(wire::OptimizerKind::sgd) ==
              static_cast<int>(OptimizerKind::sgd) + 1);
static_assert(static_cast<int>(wire::OptimizerKind::MAX) ==
              static_cast<int>(OptimizerKind::adamw) + 1);

struct ValueRange {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
};

// Products and quotients of a safe value and two safe factors are finite, and so are their sums.
constexpr float kSafeValue = 1e20f;
constexpr double kSafeFactor = 1e6;

bool all_safe(const Execution& execution, std::span<const float> values) {
  std::atomic<bool> safe = true;
  for_each_chunk(execution, values.size(), kChunkValues,
                 [&](std::size_t, std::size_t begin, std::size_t end) {
                   bool within = true;
                   for (const float value : values.subspan(begin, end - begin)) {
                     within &= std::abs(value) <= kSafeValue;  // false for NaN
                   }
                   if (!within) safe = false;
                 });
  return safe;
}

// The optimizer changes parameters; buffers become the mean. All arithmetic is in float and in the
// order of the values, so that every device computes the same bits.
class OptimizerRule final : public ModelRule {
 public:
  OptimizerRule(const OptimizerSettings& settings, double server_rate, bool gradient,
                const wire::LayerMap& layers)
      : gradient_(gradient),
        server_rate_(server_rate),
        stateless_(settings.moments() == 0 && settings.weight_decay == 0),
        optimizer_(settings, values_of(layers)),
        averaging_({}, values_of(layers)),
        buffers_(buffers_of(layers)) {}

  void begin(std::uint64_t /*round*/) override { optimizer_.begin(); }

  // Cuts the step at the borders of buffers, which are sorted and disjoint. The optimizer gets each
  // run of parameters, the average each run of buffers.
  void apply(const RuleStep& step, std::span<float> model) override {
    assert(step.first_value + step.sum.size() <= model.size());
    std::uint64_t at = step.first_value;
    const std::uint64_t end = at + step.sum.size();
    for (const ValueRange& buffer : buffers_) {
      if (buffer.end <= at || buffer.first >= end) continue;
      const std::uint64_t from = std::max(buffer.first, at);
      const std::uint64_t to = std::min(buffer.end, end);
      apply_run(optimizer_, step, at, from, model);
      apply_run(averaging_, step, from, to, model);
      at = to;
    }
    apply_run(optimizer_, step, at, end, model);
  }

  // A run with a buffer in it has no view: a codec would judge averaged statistics as if the
  // optimizer moved them.
  std::optional<OptimizerView> view(std::uint64_t first_value, std::span<const float> parameters,
                                    double learning_rate) const override {
    const std::uint64_t end = first_value + parameters.size();
    const bool averaged = std::ranges::any_of(buffers_, [&](const ValueRange& buffer) {
      return buffer.first < end && buffer.end > first_value;
    });
    if (averaged) return std::nullopt;
    std::optional<OptimizerView> view =
        optimizer_.view(first_value, parameters, gradient_ ? learning_rate : server_rate_);
    if (view && !gradient_) view->value_scale = -1;
    return view;
  }

  // Without state, a step adds a multiple of the sum, and buffers the mean.
  bool certainly_finite(const RuleStep& step, std::span<const float> model) const override {
    const double rate = std::max(std::abs(gradient_ ? step.learning_rate : server_rate_), 1.0);
    return stateless_ && rate <= kSafeFactor && std::abs(step.divisor) >= 1 / kSafeFactor &&
           all_safe(step.execution, step.sum) && all_safe(step.execution, model);
  }

  bool finite(std::uint64_t first_value, std::uint64_t values) const override {
    return optimizer_.finite(first_value, values);
  }

  std::shared_ptr<const Bytes> save() const override {
    std::shared_ptr<const Bytes> state = optimizer_.save();
    return state ? state : ModelRule::save();
  }
  Status restore(ByteSpan state) override { return optimizer_.restore(state); }
  std::uint64_t state_bytes_max() const override { return optimizer_.state_bytes(); }

 private:
  static std::uint64_t values_of(const wire::LayerMap& layers) {
    std::uint64_t values = 0;
    for (const wire::Layer* layer : *layers.layers()) values += layer->values();
    return values;
  }

  static std::vector<ValueRange> buffers_of(const wire::LayerMap& layers) {
    std::vector<ValueRange> buffers;
    std::uint64_t at = 0;
    for (const wire::Layer* layer : *layers.layers()) {
      const std::uint64_t end = at + layer->values();
      if (layer->kind() == wire::LayerKind::buffer) {
        if (!buffers.empty() && buffers.back().end == at) {
          buffers.back().end = end;
        } else {
          buffers.push_back({.first = at, .end = end});
        }
      }
      at = end;
    }
    return buffers;
  }

  void apply_run(Optimizer& optimizer, const RuleStep& step, std::uint64_t first, std::uint64_t end,
                 std::span<float> model) {
    if (first == end) return;
    const bool averaged = &optimizer == &averaging_;
    const double server_rate = averaged ? 1 : server_rate_;
    // A negative divisor marks a sum of deltas, which move the model in the opposite direction to
    // gradients. The rate of deltas is the server's, because agents have applied their own.
    optimizer.apply(first, step.sum.subspan(first - step.first_value, end - first),
                    gradient_ ? step.divisor : -step.divisor,
                    gradient_ ? step.learning_rate : server_rate, model, step.execution);
  }

  const bool gradient_;
  const double server_rate_;
  const bool stateless_;
  Optimizer optimizer_;
  Optimizer averaging_;  // plain SGD
  std::vector<ValueRange> buffers_;
};

}  // namespace

Result<OptimizerSettings> optimizer_settings(const wire::Optimizer& optimizer) {
  if (optimizer.kind() < wire::OptimizerKind::sgd || optimizer.kind() > wire::OptimizerKind::MAX) {
    return Status(StatusCode::unsupported,
                  {.what = "optimizer",
                   .expected = "one that this version has",
                   .got = fmt::format("number {}", static_cast<int>(optimizer.kind())),
                   .remedy = "update this program"});
  }
  const OptimizerSettings settings = {
      .kind = static_cast<OptimizerKind>(static_cast<int>(optimizer.kind()) - 1),
      .momentum = optimizer.momentum(),
      .beta1 = optimizer.beta1(),
      .beta2 = optimizer.beta2(),
      .epsilon = optimizer.epsilon(),
      .weight_decay = optimizer.weight_decay(),
      .second_moment_start = optimizer.second_moment_start()};
  TRIBUTARY_TRY(check(settings));
  return settings;
}

Status ModelRule::restore(ByteSpan state) {
  if (state.empty()) return {};
  return Status(StatusCode::mismatch, {.what = "optimizer state",
                                       .expected = "none, as this optimizer has none",
                                       .got = fmt::format("{} bytes", state.size()),
                                       .remedy = "have the job's definition sent again"});
}

Result<std::unique_ptr<ModelRule>> make_model_rule(const wire::Job& job) {
  TRIBUTARY_ASSIGN(const OptimizerSettings optimizer, optimizer_settings(*job.optimizer()));
  const bool gradient = job.mode() == wire::ExchangeMode::gradient;
  Strategy strategy;
  if (!gradient && job.strategy() && job.strategy()->size() > 0) {
    TRIBUTARY_ASSIGN(strategy, parse_strategy(job.strategy()->string_view()));
  }
  return std::unique_ptr<ModelRule>(std::make_unique<OptimizerRule>(
      gradient ? optimizer : strategy.server, strategy.server_rate, gradient, *job.layer_map()));
}

}  // namespace tributary
