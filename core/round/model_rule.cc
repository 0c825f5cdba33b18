#include "core/round/model_rule.h"

#include <fmt/format.h>

#include <cassert>

namespace tributary {
namespace {

// model -= rate * (sum / divisor), or model += sum / divisor. In float and in this order.
class PlainRule final : public ModelRule {
 public:
  explicit PlainRule(bool gradient) : gradient_(gradient) {}

  void apply(const RuleStep& step, std::span<float> model) override {
    assert(step.first_value + step.sum.size() <= model.size());
    const std::span<float> values = model.subspan(step.first_value, step.sum.size());
    const auto divisor = static_cast<float>(step.divisor);
    const float factor = gradient_ ? -static_cast<float>(step.learning_rate) : 1.0f;
    const std::size_t whole = values.size() - values.size() % kBlock;
    for (std::size_t i = 0; i < whole; i += kBlock) {
      apply_block(&step.sum[i], divisor, factor, &values[i]);
    }
    for (std::size_t i = whole; i < values.size(); ++i) {
      values[i] += factor * (step.sum[i] / divisor);
    }
  }

 private:
  static constexpr std::size_t kBlock = 16;

  // Of one size, and through memory of its own: so it becomes vector instructions.
  static void apply_block(const float* sum, float divisor, float factor, float* values) {
    float change[kBlock];
    for (std::size_t k = 0; k < kBlock; ++k) change[k] = factor * (sum[k] / divisor);
    for (std::size_t k = 0; k < kBlock; ++k) values[k] += change[k];
  }

  const bool gradient_;
};

}  // namespace

Status ModelRule::restore(ByteSpan state) {
  if (state.empty()) return {};
  return Status(StatusCode::mismatch, {.what = "optimizer state",
                                       .expected = "none, as this optimizer has none",
                                       .got = fmt::format("{} bytes", state.size()),
                                       .remedy = "have the job's definition sent again"});
}

Result<std::unique_ptr<ModelRule>> make_model_rule(const wire::Job& job) {
  if (job.mode() == wire::ExchangeMode::delta) {
    return std::unique_ptr<ModelRule>(std::make_unique<PlainRule>(false));
  }
  if (job.mode() == wire::ExchangeMode::gradient &&
      job.optimizer()->kind() == wire::OptimizerKind::sgd) {
    return std::unique_ptr<ModelRule>(std::make_unique<PlainRule>(true));
  }
  return Status(StatusCode::unsupported,
                {.what = "optimizer",
                 .expected = "sgd, or the mode delta",
                 .got = wire::EnumNameOptimizerKind(job.optimizer()->kind()),
                 .remedy = "submit the job with optimizer sgd, or use a later version"});
}

}  // namespace tributary
