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
#include "core/optimizer/optimizer_on_device.h"

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

// The rates of a rule, and the places of buffers. Buffers are sorted and disjoint.
class RuleRuns {
 public:
  RuleRuns(double server_rate, bool gradient, const wire::LayerMap& layers)
      : gradient_(gradient), server_rate_(server_rate), buffers_(buffers_of(layers)) {}

  // Cuts a step at the borders of buffers, and calls body(averaged, first, end) for each run in
  // ascending order. Returns the first error.
  template <typename Body>
  Status for_each(const RuleStep& step, const Body& body) const {
    std::uint64_t at = step.first_value;
    const std::uint64_t end = at + step.sum.size();
    for (const ValueRange& buffer : buffers_) {
      if (buffer.end <= at || buffer.first >= end) continue;
      const std::uint64_t from = std::max(buffer.first, at);
      const std::uint64_t to = std::min(buffer.end, end);
      if (at < from) TRIBUTARY_TRY(body(false, at, from));
      TRIBUTARY_TRY(body(true, from, to));
      at = to;
    }
    return at < end ? body(false, at, end) : Status();
  }
  bool have_buffer(const ValueRange& range) const {
    return std::ranges::any_of(buffers_, [&](const ValueRange& buffer) {
      return buffer.first < range.end && buffer.end > range.first;
    });
  }

  bool gradient() const { return gradient_; }
  double server_rate() const { return server_rate_; }
  // A negative divisor marks a sum of deltas, which move the model in the opposite direction to
  // gradients. The rate of deltas is the server's, because agents have applied their own.
  double divisor(const RuleStep& step) const { return gradient_ ? step.divisor : -step.divisor; }
  double rate(const RuleStep& step, bool averaged) const {
    if (gradient_) return step.learning_rate;
    return averaged ? 1 : server_rate_;
  }

 private:
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

  bool gradient_;
  double server_rate_;
  std::vector<ValueRange> buffers_;
};

class OptimizerRuleOnDevice final : public RuleOnDevice {
 public:
  OptimizerRuleOnDevice(RuleRuns runs, OptimizerOnDevice optimizer, OptimizerOnDevice averaging)
      : runs_(std::move(runs)),
        optimizer_(std::move(optimizer)),
        averaging_(std::move(averaging)) {}

  void begin() override { optimizer_.begin(); }
  Status apply(const RuleStep& step, DeviceVector& model) override {
    return runs_.for_each(step, [&](bool averaged, std::uint64_t first, std::uint64_t end) {
      return (averaged ? averaging_ : optimizer_)
          .apply({.sum = step.sum.subspan(first - step.first_value, end - first),
                  .first_value = first,
                  .divisor = runs_.divisor(step),
                  .learning_rate = runs_.rate(step, averaged)},
                 model);
    });
  }
  Result<Bytes> save() const override { return optimizer_.save(); }

 private:
  RuleRuns runs_;
  OptimizerOnDevice optimizer_;
  OptimizerOnDevice averaging_;
};

// The optimizer changes parameters; buffers become the mean. All arithmetic is in float and in the
// order of the values, so that every device computes the same bits.
class OptimizerRule final : public ModelRule {
 public:
  OptimizerRule(const OptimizerSettings& settings, double server_rate, bool gradient,
                const wire::LayerMap& layers)
      : values_(values_of(layers)),
        stateless_(settings.moments() == 0 && settings.weight_decay == 0),
        runs_(server_rate, gradient, layers),
        optimizer_(settings, values_),
        averaging_({}, values_) {}

  void begin(std::uint64_t /*round*/) override { optimizer_.begin(); }

  void apply(const RuleStep& step, std::span<float> model) override {
    assert(step.first_value + step.sum.size() <= model.size());
    const auto apply_run = [&](bool averaged, std::uint64_t first, std::uint64_t end) {
      (averaged ? averaging_ : optimizer_)
          .apply(first, step.sum.subspan(first - step.first_value, end - first),
                 runs_.divisor(step), runs_.rate(step, averaged), model, step.execution);
      return Status();
    };
    ignore_error(runs_.for_each(step, apply_run));
  }

  // A run with a buffer in it has no view: a codec would judge averaged statistics as if the
  // optimizer moved them.
  std::optional<OptimizerView> view(std::uint64_t first_value, std::span<const float> parameters,
                                    double learning_rate) const override {
    const ValueRange range = {.first = first_value, .end = first_value + parameters.size()};
    if (runs_.have_buffer(range)) return std::nullopt;
    std::optional<OptimizerView> view = optimizer_.view(
        first_value, parameters, runs_.gradient() ? learning_rate : runs_.server_rate());
    if (view && !runs_.gradient()) view->value_scale = -1;
    return view;
  }

  Result<std::unique_ptr<RuleOnDevice>> on_device(CodecDevice& device) const override {
    TRIBUTARY_ASSIGN(OptimizerOnDevice optimizer,
                     OptimizerOnDevice::make(device, optimizer_, values_));
    TRIBUTARY_ASSIGN(OptimizerOnDevice averaging,
                     OptimizerOnDevice::make(device, averaging_, values_));
    return std::unique_ptr<RuleOnDevice>(
        std::make_unique<OptimizerRuleOnDevice>(runs_, std::move(optimizer), std::move(averaging)));
  }

  // Without state, a step adds a multiple of the sum, and buffers the mean.
  bool certainly_finite(const RuleStep& step, std::span<const float> model) const override {
    const double rate = std::max(std::abs(runs_.rate(step, false)), 1.0);
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
  std::unique_ptr<ModelRule> copy() const override {
    auto other = std::make_unique<OptimizerRule>(*this);
    other->optimizer_ = optimizer_.copy();
    return other;
  }
  std::uint64_t state_bytes_max() const override { return optimizer_.state_bytes(); }

 private:
  static std::uint64_t values_of(const wire::LayerMap& layers) {
    std::uint64_t values = 0;
    for (const wire::Layer* layer : *layers.layers()) values += layer->values();
    return values;
  }

  const std::uint64_t values_;
  const bool stateless_;
  const RuleRuns runs_;
  Optimizer optimizer_;
  Optimizer averaging_;  // plain SGD
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
