// Tests of optimizers and strategies as text, with the defaults of torch.optim.
#include "core/optimizer/settings.h"

#include <gtest/gtest.h>

#include <string_view>

namespace tributary {
namespace {

TEST(ParseOptimizer, TakesTheNamesAndDefaultsOfTorchOptim) {
  for (const std::string_view known :
       {"sgd", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "adamw"}) {
    const Result<OptimizerSettings> settings = parse_optimizer(known);
    ASSERT_TRUE(settings.ok()) << settings.status().text();
    EXPECT_EQ(name(settings->kind), known);
    EXPECT_TRUE(check(*settings).ok());
  }
  const Result<OptimizerSettings> adam = parse_optimizer("adam:beta1=0.8,weight_decay=0.5");
  EXPECT_EQ(adam->beta1, 0.8);
  EXPECT_EQ(adam->beta2, 0.999);
  EXPECT_EQ(adam->epsilon, 1e-8);
  EXPECT_EQ(adam->weight_decay, 0.5);
  EXPECT_EQ(adam->moments(), 2u);
  EXPECT_EQ(parse_optimizer("adamw")->weight_decay, 0.01);
  EXPECT_EQ(parse_optimizer("rmsprop")->moments(), 1u);
  EXPECT_EQ(parse_optimizer("rmsprop:momentum=0.5")->moments(), 2u);
}

TEST(ParseOptimizer, SuggestsTheNearestName) {
  const Status name = parse_optimizer("admaw").status();
  EXPECT_EQ(name.code(), StatusCode::invalid_argument);
  EXPECT_NE(name.text().find("did you mean 'adamw'"), std::string::npos) << name.text();
  const Status key = parse_optimizer("momentum:momentun=0.9").status();
  EXPECT_NE(key.text().find("did you mean 'momentum'"), std::string::npos) << key.text();
  for (const char* wrong :
       {"", "adam:beta1=1", "adam:beta1=-0.1", "sgd:momentum=0.9", "adam:beta1=nan", "adam:"}) {
    EXPECT_FALSE(parse_optimizer(wrong).ok()) << wrong;
  }
}

// Settings of a received job are not parsed from a spec, so check() is their only protection.
TEST(CheckOptimizer, RefusesNumbersThatMakeNoStep) {
  const auto refused = [](auto change) {
    OptimizerSettings settings = *parse_optimizer("adam");
    change(settings);
    return !check(settings).ok();
  };
  EXPECT_FALSE(refused([](OptimizerSettings&) {}));
  EXPECT_TRUE(refused([](OptimizerSettings& o) { o.beta1 = 1; }));
  EXPECT_TRUE(refused([](OptimizerSettings& o) { o.beta2 = -0.5; }));
  EXPECT_TRUE(refused([](OptimizerSettings& o) { o.momentum = 2; }));
  EXPECT_TRUE(refused([](OptimizerSettings& o) { o.epsilon = -1e-8; }));
  EXPECT_TRUE(refused([](OptimizerSettings& o) { o.weight_decay = 1e300 * 1e300; }));
}

TEST(ParseStrategy, EachHasItsServer) {
  for (const std::string_view known : {"fedavg", "fedprox", "fedavgm", "fedadam", "fedyogi"}) {
    EXPECT_TRUE(parse_strategy(known).ok()) << known;
  }
  EXPECT_EQ(parse_strategy("fedavg")->server.moments(), 0u);
  EXPECT_EQ(parse_strategy("fedavg")->server_rate, 1);
  EXPECT_EQ(parse_strategy("fedprox:mu=0.5")->proximal, 0.5);
  EXPECT_EQ(parse_strategy("fedavgm:momentum=0.7,rate=0.5")->server.momentum, 0.7);
  const Result<Strategy> adam = parse_strategy("fedadam:tau=0.25");
  // The second moment starts at tau².
  EXPECT_EQ(adam->server.second_moment_start, 0.0625);
  EXPECT_FALSE(adam->server.bias_correction);
  EXPECT_FALSE(adam->server.yogi);
  EXPECT_TRUE(parse_strategy("fedyogi")->server.yogi);
  const Status status = parse_strategy("fedavgn").status();
  EXPECT_NE(status.text().find("did you mean"), std::string::npos) << status.text();
  EXPECT_FALSE(parse_strategy("fedavg:rate=1").ok());
}

}  // namespace
}  // namespace tributary
