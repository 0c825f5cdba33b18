// Tests that agents and coordinator encode by the optimizer's state in a round: GComp leaves out
// the bits that the step would round away, in every exchange, and nothing of an update is lost by
// it.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/sim/federation/federation_testing.h"

namespace tributary {
namespace {

using sim_testing::Federation;
using sim_testing::Options;

// Rounding of sums and residuals.
constexpr double kTolerance = 1e-4;

// A job whose parameters are at least 2^12 times as large as a step along its updates.
Options options_for(const std::string& codec, wire::Collective collective,
                    wire::ExchangeMode mode = wire::ExchangeMode::gradient,
                    wire::OptimizerKind optimizer = wire::OptimizerKind::sgd) {
  Options options;
  options.agents = 4;
  options.rounds = 6;
  options.peers = collective != wire::Collective::star;
  options.vector_values = 4'000;
  options.policy.codec = codec;
  options.policy.collective = collective;
  options.policy.bucket_values_max = 1'024;
  options.policy.agents_min = 3;
  options.policy.deadline_ms = 2'000;
  options.policy.learning_rate = 0x1p-18;
  options.change_job = [mode, optimizer](wire::JobT& job) {
    job.mode = mode;
    job.optimizer->kind = optimizer;
    job.optimizer->momentum = optimizer == wire::OptimizerKind::rmsprop ? 0.0f : 0.9f;
    job.optimizer->beta1 = 0.9f;
    job.optimizer->beta2 = 0.99f;
    job.optimizer->epsilon = 1e-8f;
    job.optimizer->weight_decay = 0.01f;
  };
  return options;
}

// Makes deltas as small as a step along a gradient. Sums stay exact, as the ledger requires of a
// lossless codec.
void scale_updates(Federation& federation, wire::ExchangeMode mode) {
  if (mode == wire::ExchangeMode::gradient) return;
  federation.twist = [](std::uint32_t /*agent*/, FloatVector& update) {
    for (float& value : update) value *= 0x1p-13f;
  };
}

struct Sizes {
  std::uint64_t bytes_up = 0;  // as the agents reported them
  std::uint64_t results = 0;   // committed
};

Sizes play(Options options, wire::ExchangeMode mode) {
  Federation federation(std::move(options));
  scale_updates(federation, mode);
  EXPECT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved(kTolerance);
  Sizes sizes;
  for (const CommitRecord& commit : federation.journal().commits()) {
    for (const RedoPayload& redo : commit.redo) sizes.results += redo.payload->size();
    for (const AgentRoundRecord& report : commit.reports) sizes.bytes_up += report.bytes_up;
  }
  return sizes;
}

// Bytes by the optimizer's state over those of the codec that does not read it.
void expect_smaller(const std::function<Options(const std::string& codec)>& options,
                    wire::ExchangeMode mode = wire::ExchangeMode::gradient) {
  const auto compare = [&](const char* by_state, const char* without) {
    const Sizes smaller = play(options(by_state), mode);
    const Sizes larger = play(options(without), mode);
    EXPECT_LT(static_cast<double>(smaller.bytes_up), 0.85 * static_cast<double>(larger.bytes_up))
        << by_state;
    EXPECT_LT(static_cast<double>(smaller.results), 0.85 * static_cast<double>(larger.results))
        << by_state;
  };
  compare("gcomp:truncation=metric", "gcomp:truncation=none");
  compare("gcomp", "gcomp:truncation=12");
}

using Way = std::tuple<wire::Collective, wire::ExchangeMode>;

class EncodersByTheOptimizer : public testing::TestWithParam<Way> {};

TEST_P(EncodersByTheOptimizer, SendLess) {
  const wire::Collective collective = std::get<0>(GetParam());
  const wire::ExchangeMode mode = std::get<1>(GetParam());
  expect_smaller([&](const std::string& codec) { return options_for(codec, collective, mode); },
                 mode);
}

INSTANTIATE_TEST_SUITE_P(
    Ways, EncodersByTheOptimizer,
    testing::Combine(testing::Values(wire::Collective::star, wire::Collective::sharded_star,
                                     wire::Collective::ring, wire::Collective::tree,
                                     wire::Collective::halving_doubling,
                                     wire::Collective::all_gather),
                     testing::Values(wire::ExchangeMode::gradient, wire::ExchangeMode::delta)),
    [](const auto& one) {
      return std::string(wire::EnumNameCollective(std::get<0>(one.param))) + "_" +
             wire::EnumNameExchangeMode(std::get<1>(one.param));
    });

class EveryOptimizer : public testing::TestWithParam<wire::OptimizerKind> {};

TEST_P(EveryOptimizer, IsReadByItsEncoders) {
  expect_smaller([&](const std::string& codec) {
    return options_for(codec, wire::Collective::ring, wire::ExchangeMode::gradient, GetParam());
  });
}

INSTANTIATE_TEST_SUITE_P(All, EveryOptimizer,
                         testing::Values(wire::OptimizerKind::sgd, wire::OptimizerKind::momentum,
                                         wire::OptimizerKind::nesterov,
                                         wire::OptimizerKind::adagrad, wire::OptimizerKind::rmsprop,
                                         wire::OptimizerKind::adam, wire::OptimizerKind::adamw),
                         [](const auto& one) { return wire::EnumNameOptimizerKind(one.param); });

TEST(OptimizerView, FollowsTheExchangesOfARound) {
  expect_smaller([&](const std::string& codec) {
    Options options = options_for(codec, wire::Collective::ring, wire::ExchangeMode::gradient,
                                  wire::OptimizerKind::adamw);
    options.policy.exchanges_per_round = 3;
    return options;
  });
}

// A restarted agent has the optimizer's state in its journal, and one that joins late downloads it.
// Both encode by the same state as the others; a wrong state would leave a view that does not fit,
// or payloads of another size.
TEST(OptimizerView, SurvivesRestartsAndIsDownloaded) {
  for (const wire::Collective collective : {wire::Collective::star, wire::Collective::ring}) {
    Options options = options_for("gcomp:truncation=metric", collective,
                                  wire::ExchangeMode::gradient, wire::OptimizerKind::adamw);
    options.rounds = 24;
    Federation federation(options);
    federation.crash_agent(3);
    ASSERT_TRUE(federation.run_rounds(5));
    federation.start_agent(3);
    ASSERT_TRUE(
        federation.run([&] { return !federation.host(1).journal.state.undecided.empty(); }));
    federation.crash_agent(1);
    federation.start_agent(1);
    ASSERT_TRUE(federation.run_rounds(12));
    federation.crash_coordinator();
    federation.start_coordinator();
    ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
    federation.expect_identical();
    federation.expect_conserved(kTolerance);
    EXPECT_EQ(federation.noted("bucket_not_encoded"), 0);
    std::map<std::string, std::uint64_t> last;  // bytes of the last reported round
    for (const CommitRecord& commit : federation.journal().commits()) {
      for (const AgentRoundRecord& report : commit.reports) last[report.agent_id] = report.bytes_up;
    }
    ASSERT_EQ(last.size(), 4u);
    if (collective != wire::Collective::star) continue;
    for (const auto& [agent, bytes] : last) {
      EXPECT_NEAR(static_cast<double>(bytes), static_cast<double>(last.begin()->second),
                  0.03 * static_cast<double>(bytes))
          << agent;
    }
  }
}

}  // namespace
}  // namespace tributary
