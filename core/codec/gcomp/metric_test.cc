// Tests of the metric by which GComp truncates. The paper's table 2 is computed in double precision
// as the reference, for every optimizer.
#include "core/codec/gcomp/metric.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "core/base/random.h"

namespace tributary::gcomp {
namespace {

constexpr OptimizerKind kKinds[] = {OptimizerKind::sgd,      OptimizerKind::momentum,
                                    OptimizerKind::nesterov, OptimizerKind::adagrad,
                                    OptimizerKind::rmsprop,  OptimizerKind::adam,
                                    OptimizerKind::adamw};

constexpr StreamKey kMetricKey = {.a = 17, .b = 4711};

OptimizerView view_of(OptimizerKind kind) {
  return {.kind = kind,
          .learning_rate = 0.02f,
          .learning_rate_decay = 1e-3f,
          .weight_decay = 0.01f,
          .momentum = 0.9f,
          .dampening = 0.25f,
          .alpha = 0.99f,
          .beta1 = 0.9f,
          .beta2 = 0.999f,
          .epsilon = 1e-8f,
          .step = 7};
}

struct Element {
  double g, theta, first, second;
};

// Values of many magnitudes and both signs that float32 represents exactly.
Element element(std::uint32_t i) {
  const auto draw = [i](std::uint32_t k) {
    const std::uint32_t bits = random_bits(kMetricKey, 8 * i + k);
    const double sign = (bits & 1u) != 0 ? -1.0 : 1.0;
    return sign * std::ldexp(1.0 + static_cast<double>(bits >> 9) * 0x1p-23,
                             -static_cast<int>(bits >> 1 & 15u));
  };
  const auto as_float = [](double x) { return static_cast<double>(static_cast<float>(x)); };
  return {as_float(draw(0) * 1e-3), as_float(draw(1)), as_float(draw(2) * 1e-3),
          as_float(std::abs(draw(3)) * 1e-5)};
}

// The right column of Table 2, as printed in the paper.
double delta_of_table_2(const OptimizerView& v, const Element& e) {
  const double eta = static_cast<double>(v.learning_rate);
  const double lambda = static_cast<double>(v.weight_decay);
  const double mu = static_cast<double>(v.momentum);
  const double tau = static_cast<double>(v.dampening);
  const double b1 = static_cast<double>(v.beta1);
  const double b2 = static_cast<double>(v.beta2);
  const double alpha = static_cast<double>(v.alpha);
  const double epsilon = static_cast<double>(v.epsilon);
  const auto t = static_cast<double>(v.step);
  const double decayed = e.g + lambda * e.theta;
  const double c1 = 1 - std::pow(b1, t);
  const double c2 = 1 - std::pow(b2, t);
  switch (v.kind) {
    case OptimizerKind::sgd:
      return e.theta / (eta * e.g) - lambda * e.theta / e.g;
    case OptimizerKind::momentum:
      return (e.theta - eta * mu * e.first) / (eta * (1 - tau) * e.g) - lambda * e.theta / e.g;
    case OptimizerKind::nesterov:
      return ((1 - eta * lambda * (1 + mu)) * e.theta - eta * mu * mu * e.first) /
             (eta * (1 + mu) * e.g);
    case OptimizerKind::adagrad: {
      const double eta_t = eta / (1 + (t - 1) * static_cast<double>(v.learning_rate_decay));
      const double r = e.second + decayed * decayed;
      return e.theta * (std::sqrt(r) + epsilon) / (eta_t * e.g) - lambda * e.theta / e.g;
    }
    case OptimizerKind::rmsprop: {
      const double square = alpha * e.second + (1 - alpha) * decayed * decayed;
      return e.theta * (std::sqrt(square) + epsilon) / (eta * e.g) - lambda * e.theta / e.g;
    }
    case OptimizerKind::adam: {
      const double square = (b2 * e.second + (1 - b2) * decayed * decayed) / c2;
      return (e.theta * (std::sqrt(square) + epsilon) * c1 - eta * b1 * e.first) /
                 (eta * (1 - b1) * e.g) -
             lambda * e.theta / e.g;
    }
    case OptimizerKind::adamw: {
      const double square = (b2 * e.second + (1 - b2) * e.g * e.g) / c2;
      return (e.theta * (std::sqrt(square) + epsilon) * c1 * (1 - eta * lambda) -
              eta * b1 * e.first) /
             (eta * (1 - b1) * e.g);
    }
  }
  return 0;
}

// The metric as the kernels compute it, in float.
Metric metric_of(const MetricCoefficients& k, const Element& e, float scale = 1) {
  const auto g = static_cast<float>(e.g) * scale;
  const auto theta = static_cast<float>(e.theta);
  const auto first = static_cast<float>(e.first);
  return k.adaptive ? adaptive_metric(k, g, theta, first, static_cast<float>(e.second))
                    : linear_metric(k, g, theta, first);
}

class Table2 : public testing::TestWithParam<OptimizerKind> {};

TEST_P(Table2, MetricIsThePapers) {
  const OptimizerView view = view_of(GetParam());
  const MetricCoefficients k = metric_coefficients(view, 1);
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    const Element e = element(i);
    const Metric metric = metric_of(k, e);
    const double got =
        static_cast<double>(metric.numerator) / static_cast<double>(metric.denominator);
    const double expected = delta_of_table_2(view, e);
    // If terms cancel, the rounding error is relative to the terms.
    const double terms =
        std::abs(delta_of_table_2(view, {e.g, e.theta, 0, e.second})) + std::abs(expected);
    ASSERT_NEAR(got, expected, terms * 1e-3) << "element " << i;
  }
}

// A factor of 4 is exact, so the metrics must be equal and not only close.
TEST_P(Table2, ASumIsJudgedAsItsMean) {
  const OptimizerView view = view_of(GetParam());
  const MetricCoefficients one = metric_coefficients(view, 1);
  const MetricCoefficients four = metric_coefficients(view, 4);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const Metric single = metric_of(one, element(i));
    const Metric sum = metric_of(four, element(i), 4.0f);
    ASSERT_EQ(single.numerator, sum.numerator);
    ASSERT_EQ(single.denominator, sum.denominator);
  }
}

// An agent's weight of 4, or deltas in the other direction: the view states the scale of a value.
TEST_P(Table2, AValueIsJudgedAsTheGradientInIt) {
  OptimizerView view = view_of(GetParam());
  const MetricCoefficients one = metric_coefficients(view, 1);
  view.value_scale = -0.25f;
  const MetricCoefficients scaled = metric_coefficients(view, 1);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const Metric gradient = metric_of(one, element(i));
    const Metric value = metric_of(scaled, element(i), -4.0f);
    ASSERT_EQ(gradient.numerator, value.numerator);
    ASSERT_EQ(gradient.denominator, value.denominator);
  }
}

std::string kind_name(const testing::TestParamInfo<OptimizerKind>& info) {
  constexpr const char* kNames[] = {"sgd",     "momentum", "nesterov", "adagrad",
                                    "rmsprop", "adam",     "adamw"};
  return kNames[static_cast<std::size_t>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(All, Table2, testing::ValuesIn(kKinds), kind_name);

TEST(Level, CountsTheThresholdsExceeded) {
  EXPECT_EQ(level_of({64.0f, 1.0f}), 0u);
  EXPECT_EQ(level_of({std::nextafter(64.0f, 100.0f), 1.0f}), 1u);
  EXPECT_EQ(level_of({4096.0f, -1.0f}), 1u);
  EXPECT_EQ(level_of({-4097.0f, 1.0f}), 2u);
  EXPECT_EQ(level_of({0x1p18f, 1.0f}), 2u);
  EXPECT_EQ(level_of({-0x1p19f, -1.0f}), 3u);
}

// The server optimizers of deltas: the exact step of one value, and what the metric says of it.
TEST(Metric, IsThatOfAdamWithoutBiasCorrection) {
  OptimizerView view = view_of(OptimizerKind::adam);
  view.weight_decay = 0;
  view.bias_correction = false;
  const double b1 = static_cast<double>(view.beta1);
  const double b2 = static_cast<double>(view.beta2);
  const double eta = static_cast<double>(view.learning_rate);
  const MetricCoefficients adam = metric_coefficients(view, 1);
  view.yogi = true;
  const MetricCoefficients yogi = metric_coefficients(view, 1);
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    const Element e = element(i);
    const auto delta = [&](double square) {
      return std::abs(
          (e.theta * (std::sqrt(square) + static_cast<double>(view.epsilon)) - eta * b1 * e.first) /
          (eta * (1 - b1) * e.g));
    };
    const auto got = [&](const MetricCoefficients& k) {
      const Metric metric = metric_of(k, e);
      return std::abs(static_cast<double>(metric.numerator) /
                      static_cast<double>(metric.denominator));
    };
    const double square = e.g * e.g;
    const double terms = delta(b2 * e.second + square) + 2 * e.first / e.g + 1;
    ASSERT_NEAR(got(adam), delta(b2 * e.second + (1 - b2) * square), std::abs(terms) * 1e-3) << i;
    // Yogi moves towards the square. The metric assumes the lower second moment.
    const double lower = e.second - (1 - b2) * square;
    if (lower < 0) {
      ASSERT_EQ(level_of(metric_of(yogi, e)), 0u) << i;
    } else {
      ASSERT_NEAR(got(yogi), delta(lower), std::abs(terms) * 1e-3) << i;
    }
  }
}

// Without a reliable δ, all bits are sent.
TEST(Level, IsZeroWhereDeltaIsNoNumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(level_of({nan, 1.0f}), 0u);
  EXPECT_EQ(level_of({1.0f, nan}), 0u);
  EXPECT_EQ(level_of({0.0f, 1.0f}), 0u);
}

TEST(Level, NotFiniteGradientsAndZeroParametersAreNeverTruncated) {
  EXPECT_FALSE(may_truncate(kNotFiniteExponent, 1.0f));
  EXPECT_FALSE(may_truncate(100, 0.0f));
  EXPECT_FALSE(may_truncate(100, -0.0f));
  EXPECT_TRUE(may_truncate(100, 1.0f));
}

}  // namespace
}  // namespace tributary::gcomp
