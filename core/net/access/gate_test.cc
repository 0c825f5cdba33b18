// Tests of the gate's answers and rate limits with a manual clock and without sockets.
#include "core/net/access/gate.h"

#include <gmock/gmock.h>

namespace tributary {
namespace {

using std::chrono::seconds;

PublicKey agent_key(std::uint8_t number) {
  PublicKey key;
  key.bytes.fill(number);
  return key;
}

class GateTest : public testing::Test {
 protected:
  GateTest() { EXPECT_TRUE(gate_.guard("agents", allowed_).ok()); }

  GateAnswer knock(const PublicKey& key, std::string_view domain = "agents",
                   std::string_view mechanism = "CURVE") {
    const std::vector<ByteSpan> request = {bytes_of("1.0"),      bytes_of("1"), bytes_of(domain),
                                           bytes_of("10.0.0.7"), ByteSpan(),    bytes_of(mechanism),
                                           ByteSpan(key.bytes)};
    return gate_.answer(request);
  }

  ManualClock clock_;
  std::shared_ptr<AllowList> allowed_ = std::make_shared<AllowList>();
  Gate gate_{clock_};
};

TEST_F(GateTest, AcceptsKeysOnTheList) {
  allowed_->allow(agent_key(1), "a");
  const GateAnswer answer = knock(agent_key(1));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.user_id, key_text(agent_key(1)));
  EXPECT_TRUE(gate_.take_refusals("agents").empty());
}

TEST_F(GateTest, RefusesAndReportsTheSource) {
  const GateAnswer answer = knock(agent_key(2));
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.user_id, "");
  const std::vector<Refused> refusals = gate_.take_refusals("agents");
  ASSERT_EQ(refusals.size(), 1u);
  EXPECT_EQ(refusals[0].reason, RefusalReason::unknown_key);
  EXPECT_EQ(refusals[0].source, key_text(agent_key(2)) + " at 10.0.0.7");
  EXPECT_EQ(gate_.refused_for("agents", RefusalReason::unknown_key), 1u);
  EXPECT_TRUE(gate_.take_refusals("agents").empty());
}

TEST_F(GateTest, ARevokedKeyIsRefusedAtOnce) {
  allowed_->allow(agent_key(1), "a");
  EXPECT_EQ(knock(agent_key(1)).status, 200);
  allowed_->revoke(agent_key(1));
  EXPECT_EQ(knock(agent_key(1)).status, 400);
}

TEST_F(GateTest, AKeyThatConnectsTooOftenIsRefusedForAWhile) {
  allowed_->allow(agent_key(1), "a");
  allowed_->allow(agent_key(2), "b");
  for (std::uint32_t i = 0; i < Gate::kKnocksAtOnce; ++i)
    EXPECT_EQ(knock(agent_key(1)).status, 200);
  EXPECT_EQ(knock(agent_key(1)).status, 300);
  EXPECT_EQ(knock(agent_key(2)).status, 200) << "others are not held up";
  clock_.advance(Gate::kKnockEvery);
  EXPECT_EQ(knock(agent_key(1)).status, 200);
  EXPECT_EQ(knock(agent_key(1)).status, 300);
  EXPECT_EQ(gate_.refused_for("agents", RefusalReason::too_many_knocks), 2u);
  clock_.advance(seconds(3600));
  for (std::uint32_t i = 0; i < Gate::kKnocksAtOnce; ++i)
    EXPECT_EQ(knock(agent_key(1)).status, 200);
  EXPECT_EQ(knock(agent_key(1)).status, 300);
}

TEST_F(GateTest, OnlyCurveAndOnlyGuardedGates) {
  allowed_->allow(agent_key(1), "a");
  EXPECT_EQ(knock(agent_key(1), "agents", "PLAIN").status, 400);
  EXPECT_EQ(knock(agent_key(1), "agents", "NULL").status, 400);
  EXPECT_EQ(knock(agent_key(1), "backyard").status, 500);
  EXPECT_EQ(gate_.answer({}).status, 400);
  const std::vector<ByteSpan> short_key = {bytes_of("1.0"),  bytes_of("1"), bytes_of("agents"),
                                           bytes_of("host"), ByteSpan(),    bytes_of("CURVE"),
                                           bytes_of("short")};
  EXPECT_EQ(gate_.answer(short_key).status, 400);
  gate_.leave("agents");
  EXPECT_EQ(knock(agent_key(1)).status, 500);
}

TEST_F(GateTest, ADomainHasOneGuard) {
  EXPECT_EQ(gate_.guard("agents", allowed_).code(), StatusCode::already_exists);
  EXPECT_TRUE(gate_.guard("watchers", allowed_).ok());
  gate_.leave("agents");
  EXPECT_TRUE(gate_.guard("agents", nullptr).ok());
  EXPECT_EQ(knock(agent_key(1)).status, 400) << "no list is an empty list";
}

TEST_F(GateTest, AFloodIsCountedAndKeptShort) {
  for (int i = 0; i < 1000; ++i) knock(agent_key(9));
  EXPECT_EQ(gate_.take_refusals("agents").size(), Gate::kWaitingRefusalsMax);
  EXPECT_EQ(gate_.refused_for("agents", RefusalReason::unknown_key), 1000u);
}

}  // namespace
}  // namespace tributary
