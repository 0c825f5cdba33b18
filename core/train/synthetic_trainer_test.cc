// Tests of the trainer whose updates follow from the seed, the agent and the round.
#include "core/train/synthetic_trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

namespace tributary {
namespace {

FloatVector update_of(std::uint64_t seed, std::string_view agent, std::uint64_t round) {
  FloatVector update(1000);
  fill_synthetic_update(seed, agent, round, update);
  return update;
}

TEST(SyntheticTrainer, AnUpdateFollowsFromItsAddressAlone) {
  EXPECT_EQ(update_of(1, "a", 1), update_of(1, "a", 1));
  EXPECT_NE(update_of(1, "a", 1), update_of(2, "a", 1));
  EXPECT_NE(update_of(1, "a", 1), update_of(1, "b", 1));
  EXPECT_NE(update_of(1, "a", 1), update_of(1, "a", 2));
}

TEST(SyntheticTrainer, ValuesAreDyadicAndOfBothSigns) {
  const FloatVector update = update_of(1, "a", 1);
  for (const float value : update) {
    EXPECT_EQ(value * 64, std::trunc(value * 64));
    EXPECT_LE(std::abs(value), 1);
  }
  EXPECT_TRUE(std::ranges::any_of(update, [](float x) { return x > 0.5f; }));
  EXPECT_TRUE(std::ranges::any_of(update, [](float x) { return x < -0.5f; }));
}

TEST(SyntheticTrainer, GivesTheUpdateOfTheRoundAsLongAsTheModel) {
  SyntheticTrainer trainer({.agent_id = "a"});
  const FloatVector model(1000, 7.0f);
  const Result<TrainedUpdate> trained = trainer.train({.round = 3, .model = model, .seed = 9});
  ASSERT_TRUE(trained.ok());
  EXPECT_EQ(*trained->update, update_of(9, "a", 3));
}

TEST(SyntheticTrainer, CanBeCancelledWhileItTrains) {
  SyntheticTrainer trainer({.agent_id = "a", .train_ms = 3'600'000});
  const FloatVector model(10, 0.0f);
  Status status;
  std::thread thread([&] { status = trainer.train({.round = 1, .model = model}).status(); });
  trainer.cancel();
  thread.join();
  EXPECT_EQ(status.code(), StatusCode::cancelled);
}

TEST(MakeTrainer, RefusesAnUnknownNameAndNamesTheNearest) {
  EXPECT_TRUE(make_trainer("synthetic", {}).ok());
  const Status status = make_trainer("sinthetic", {}).status();
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_NE(status.text().find("did you mean 'synthetic'"), std::string::npos) << status.text();
}

}  // namespace
}  // namespace tributary
