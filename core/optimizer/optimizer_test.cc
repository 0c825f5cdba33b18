// Tests of the optimizers. Textbook formulas in double precision are the reference; vectors of
// every width must give the bits of the scalar version.
#include "core/optimizer/optimizer.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/codec/chunks.h"
#include "core/optimizer/kernels_testing.h"

namespace tributary {
namespace {

constexpr std::size_t kValues = 1003;  // not a multiple of any vector length

FloatVector noise(std::uint64_t seed, std::size_t count = kValues) {
  const StreamKey key = stream_key({.job_seed = seed, .purpose = DrawPurpose::synthetic_data});
  FloatVector values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const float uniform = uniform_01(random_bits(key, static_cast<std::uint32_t>(i)));
    // Many orders of magnitude, both signs, and some zeros.
    values[i] = i % 97 == 0 ? 0.0f : std::ldexp(uniform - 0.5f, static_cast<int>(i % 40) - 20);
  }
  return values;
}

OptimizerSettings parsed(std::string_view spec) {
  Result<OptimizerSettings> settings = parse_optimizer(spec);
  EXPECT_TRUE(settings.ok()) << settings.status().text();
  return *settings;
}

// The server's optimizer of a strategy.
OptimizerSettings server_of(std::string_view strategy) {
  Result<Strategy> parsed = parse_strategy(strategy);
  EXPECT_TRUE(parsed.ok()) << parsed.status().text();
  return parsed->server;
}

// The formulas of the papers and of torch.optim's documentation, in double, for one value.
struct Textbook {
  OptimizerSettings o;
  double x = 0;
  double m = 0;
  double v = o.second_moment_start;
  int t = 0;
  double path = 0;  // total length of all moves

  void step(double gradient, double rate) {
    const double before = x;
    move(gradient, rate);
    path += std::abs(x - before);
  }

  void move(double gradient, double rate) {
    ++t;
    const bool adamw = o.kind == OptimizerKind::adamw;
    const double g = gradient + (adamw ? 0 : o.weight_decay * x);
    if (adamw) x -= rate * o.weight_decay * x;
    switch (o.kind) {
      case OptimizerKind::sgd:
        x -= rate * g;
        break;
      case OptimizerKind::momentum:
        m = o.momentum * m + g;
        x -= rate * m;
        break;
      case OptimizerKind::nesterov:
        m = o.momentum * m + g;
        x -= rate * (g + o.momentum * m);
        break;
      case OptimizerKind::adagrad:
        v += g * g;
        x -= rate * g / (std::sqrt(v) + o.epsilon);
        break;
      case OptimizerKind::rmsprop:
        v = o.beta2 * v + (1 - o.beta2) * g * g;
        m = o.momentum * m + g / (std::sqrt(v) + o.epsilon);
        x -= rate * m;
        break;
      case OptimizerKind::adam:
      case OptimizerKind::adamw:
        adam(g, rate);
        break;
    }
  }

  void adam(double g, double rate) {
    m = o.beta1 * m + (1 - o.beta1) * g;
    if (o.yogi) {
      const double sign = v > g * g ? 1 : v < g * g ? -1 : 0;
      v -= (1 - o.beta2) * g * g * sign;
    } else {
      v = o.beta2 * v + (1 - o.beta2) * g * g;
    }
    const double first = o.bias_correction ? m / (1 - std::pow(o.beta1, t)) : m;
    const double second = o.bias_correction ? v / (1 - std::pow(o.beta2, t)) : v;
    x -= rate * first / (std::sqrt(second) + o.epsilon);
  }
};

// Every formula, with and without the options that change it.
std::vector<OptimizerSettings> all_settings() {
  return {parsed("sgd"),
          parsed("sgd:weight_decay=0.01"),
          parsed("momentum:weight_decay=0.01"),
          parsed("nesterov:momentum=0.8"),
          parsed("adagrad:start=0.1"),
          parsed("rmsprop"),
          parsed("rmsprop:momentum=0.9,weight_decay=0.001"),
          parsed("adam"),
          parsed("adam:beta1=0.8,beta2=0.95,epsilon=1e-6,weight_decay=0.01"),
          parsed("adamw"),
          server_of("fedavgm"),
          server_of("fedadam"),
          server_of("fedyogi")};
}

std::string describe(const OptimizerSettings& o) {
  return std::string(name(o.kind)) + (o.yogi ? " yogi" : "") + " decay " +
         std::to_string(o.weight_decay);
}

// The tolerance is relative to the total movement, because each step rounds in proportion to its
// size.
TEST(Optimizer, EveryStepIsTheTextbooks) {
  constexpr double kRate = 0.01;
  for (const OptimizerSettings& settings : all_settings()) {
    Optimizer optimizer(settings, kValues);
    FloatVector model = noise(1);
    std::vector<Textbook> textbook;
    for (const float x : model) textbook.push_back({.o = settings, .x = x});
    for (std::uint64_t round = 0; round < 20; ++round) {
      const FloatVector gradient = noise(10 + round);
      optimizer.begin();
      optimizer.apply(0, gradient, 1, kRate, model);
      for (std::size_t i = 0; i < kValues; ++i) textbook[i].step(gradient[i], kRate);
    }
    for (std::size_t i = 0; i < kValues; ++i) {
      ASSERT_NEAR(model[i], textbook[i].x, 2e-6 * (std::abs(textbook[i].x) + textbook[i].path))
          << describe(settings) << " at value " << i;
    }
  }
}

// Replicas on different devices must stay identical, so the bits are compared.
TEST(Optimizer, VectorsOfEveryWidthGiveTheBitsOfTheScalarSpecification) {
  for (const OptimizerSettings& settings : all_settings()) {
    const optimizer::Factors factors =
        optimizer::factors_of(settings, {.learning_rate = 0.01, .divisor = 3, .step = 5});
    const FloatVector sum = noise(1);
    FloatVector second = noise(4);
    for (float& value : second) value = std::abs(value);
    const auto step = [&](auto&& by) {
      std::vector<FloatVector> run = {noise(2), noise(3), second};
      by(optimizer::formula_of(settings), factors,
         optimizer::Run{.sum = sum.data(),
                        .parameters = run[0].data(),
                        .first = run[1].data(),
                        .second = run[2].data(),
                        .count = kValues});
      return run;
    };
    const std::vector<FloatVector> expected = step(optimizer::step_scalar);
    for (std::int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
      hwy::SetSupportedTargetsForTest(rest & -rest);
      const std::vector<FloatVector> got = step(optimizer::step_simd);
      hwy::SetSupportedTargetsForTest(0);
      for (std::size_t part = 0; part < expected.size(); ++part) {
        for (std::size_t i = 0; i < kValues; ++i) {
          ASSERT_EQ(std::bit_cast<std::uint32_t>(got[part][i]),
                    std::bit_cast<std::uint32_t>(expected[part][i]))
              << describe(settings) << ", part " << part << ", value " << i << ", target "
              << hwy::TargetName(rest & -rest);
        }
      }
    }
  }
}

// A step over any division into runs equals the step over the whole model.
TEST(Optimizer, RunsOfAModelAreIndependent) {
  for (const OptimizerSettings& settings : all_settings()) {
    Optimizer whole(settings, kValues);
    Optimizer cut(settings, kValues);
    FloatVector one = noise(1);
    FloatVector other = one;
    for (std::uint64_t round = 0; round < 3; ++round) {
      const FloatVector sum = noise(10 + round);
      whole.begin();
      whole.apply(0, sum, 4, 0.1, one);
      cut.begin();
      // Out of order and with a run of a single value.
      cut.apply(500, std::span(sum).subspan(500), 4, 0.1, other);
      cut.apply(0, std::span(sum).first(1), 4, 0.1, other);
      cut.apply(1, std::span(sum).subspan(1, 499), 4, 0.1, other);
    }
    EXPECT_EQ(one, other) << describe(settings);
    const auto state = whole.save();
    EXPECT_EQ(state != nullptr, settings.moments() > 0);
    if (state) {
      EXPECT_EQ(*state, *cut.save());
    }
  }
}

// Three chunks, the last one incomplete.
TEST(Optimizer, ThreadsLeaveTheSameBits) {
  constexpr std::size_t kLarge = 2 * kChunkValues + 5;
  ThreadPool pool(3);
  FloatVector sum(kLarge);
  for (std::size_t i = 0; i < kLarge; ++i) sum[i] = static_cast<float>(i % 977) - 488;
  for (const OptimizerSettings& settings : all_settings()) {
    Optimizer alone(settings, kLarge);
    Optimizer together(settings, kLarge);
    FloatVector one(kLarge, 0.5f);
    FloatVector other = one;
    for (int round = 0; round < 2; ++round) {
      alone.begin();
      alone.apply(0, sum, 4, 0.1, one);
      together.begin();
      together.apply(0, sum, 4, 0.1, other, {.pool = &pool});
    }
    EXPECT_EQ(one, other) << describe(settings);
    if (alone.save()) {
      EXPECT_EQ(*alone.save(), *together.save());
    }
  }
}

// An optimizer that restores a state must continue with the same bits.
TEST(Optimizer, ContinuesFromASavedState) {
  for (const OptimizerSettings& settings : all_settings()) {
    Optimizer first(settings, kValues);
    FloatVector model = noise(1);
    const auto step = [](Optimizer& optimizer, std::uint64_t seed, FloatVector& values) {
      optimizer.begin();
      optimizer.apply(0, noise(seed), 2, 0.1, values);
    };
    step(first, 2, model);
    const auto saved = first.save();
    const Bytes copy = saved ? *saved : Bytes();
    FloatVector resumed = model;
    step(first, 3, model);
    if (saved) {
      EXPECT_EQ(*saved, copy) << "a later step changed what was saved";
    }

    Optimizer second(settings, kValues);
    ASSERT_TRUE(second.restore(copy).ok());
    step(second, 3, resumed);
    EXPECT_EQ(resumed, model) << describe(settings);
  }
}

// The state may be as large as two models, so a copy per round would be expensive.
TEST(Optimizer, SavingCopiesNothing) {
  Optimizer optimizer(parsed("adam"), kValues);
  FloatVector model = noise(1);
  optimizer.begin();
  optimizer.apply(0, noise(2), 1, 0.1, model);
  const Bytes* at = optimizer.save().get();
  EXPECT_EQ(optimizer.save().get(), at);
  optimizer.begin();
  optimizer.apply(0, noise(3), 1, 0.1, model);
  EXPECT_EQ(optimizer.save().get(), at) << "nobody held the state, and yet it was copied";
}

TEST(Optimizer, ADeltaIsTakenAsAGradientThatPointsBack) {
  Optimizer optimizer(parsed("sgd"), kValues);
  FloatVector model = noise(1);
  FloatVector expected = model;
  const FloatVector sum = noise(2);
  for (std::size_t i = 0; i < kValues; ++i) expected[i] += sum[i] / 3.0f;
  optimizer.begin();
  optimizer.apply(0, sum, -3, 1, model);
  EXPECT_EQ(model, expected);
}

TEST(Optimizer, RefusesAStateThatIsNotItsOwn) {
  const auto settings = parsed("adam");
  Optimizer source(settings, 100);
  FloatVector model(100, 1.0f);
  source.begin();
  source.apply(0, FloatVector(100, 1.0f), 1, 0.1, model);
  const Bytes good = *source.save();
  // Restores a state after a change, and returns the status.
  const auto refusal = [&](auto change) {
    Bytes state = good;
    change(state);
    Optimizer optimizer(settings, 100);
    return optimizer.restore(state).code();
  };
  const auto put = [](Bytes& state, std::size_t at, auto value) {
    std::memcpy(state.data() + at, &value, sizeof(value));
  };
  EXPECT_EQ(refusal([](Bytes&) {}), StatusCode::ok);
  EXPECT_EQ(refusal([](Bytes& state) { state.clear(); }), StatusCode::ok);
  EXPECT_EQ(refusal([](Bytes& state) { state.pop_back(); }), StatusCode::mismatch);
  EXPECT_EQ(refusal([](Bytes& state) { state.resize(state.size() + 4); }), StatusCode::mismatch);
  // Byte 64 is the first moment, byte 64 + 400 the second moment, byte 0 the number of steps.
  EXPECT_EQ(refusal([&](Bytes& state) { put(state, 64, std::nanf("")); }), StatusCode::mismatch);
  EXPECT_EQ(refusal([&](Bytes& state) { put(state, 64 + 400, -1.0f); }), StatusCode::mismatch);
  EXPECT_EQ(refusal([&](Bytes& state) { put(state, 0, std::uint64_t{0}); }), StatusCode::mismatch);
  EXPECT_EQ(refusal([&](Bytes& state) { put(state, 0, ~std::uint64_t{0}); }), StatusCode::mismatch);
  Optimizer plain(parsed("sgd"), 100);
  EXPECT_EQ(plain.restore(good).code(), StatusCode::mismatch);
}

TEST(Optimizer, ShowsItsMomentsToACodec) {
  Optimizer optimizer(parsed("adam:beta1=0.5"), kValues);
  FloatVector model = noise(1);
  EXPECT_TRUE(optimizer.view(0, model, 0.1)->first_moment.empty());
  optimizer.begin();
  const FloatVector gradient = noise(2);
  optimizer.apply(0, gradient, 1, 0.1, model);
  const OptimizerView view = *optimizer.view(10, std::span<const float>(model).subspan(10, 5), 0.1);
  EXPECT_EQ(view.step, 2u);
  ASSERT_EQ(view.first_moment.size(), 5u);
  ASSERT_EQ(view.second_moment.size(), 5u);
  EXPECT_EQ(view.first_moment[0], 0.5f * gradient[10]);
  EXPECT_GE(view.second_moment[0], 0);
  EXPECT_TRUE(view.bias_correction);
  EXPECT_FALSE(view.yogi);
}

TEST(Optimizer, ShowsNothingOfAStepThatAViewCannotDescribe) {
  const FloatVector model = noise(1);
  EXPECT_TRUE(Optimizer(parsed("rmsprop"), kValues).view(0, model, 0.1));
  EXPECT_FALSE(Optimizer(parsed("rmsprop:momentum=0.9"), kValues).view(0, model, 0.1));
}

}  // namespace
}  // namespace tributary
