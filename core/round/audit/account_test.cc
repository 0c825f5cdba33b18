// Tests of the account of an agent's updates. Each test plays the messages and records of an agent,
// some of them wrong, and expects the account to balance or to name the error.
#include "core/round/audit/account.h"

#include <gtest/gtest.h>

#include <memory>

namespace tributary {
namespace {

SharedFloats floats(std::initializer_list<float> values) {
  auto vector = std::make_shared<FloatVector>();
  vector->assign(values.begin(), values.end());
  return vector;
}
FloatVector plain(std::initializer_list<float> values) { return *floats(values); }

constexpr RoundKey kFirst = {.job = 1, .round = 1, .epoch = 1, .attempt = 0};

// The agent sends a part of bucket 0.
Status send_part(Account& account, const RoundKey& key, ByteSpan bytes, std::uint64_t offset,
                 std::uint64_t stage_bytes, std::uint64_t encoded_round = 0) {
  wire::PartT part;
  part.id = std::make_unique<wire::RoundId>(wire_id(key));
  part.offset = offset;
  part.stage_bytes = stage_bytes;
  part.payload_bytes = static_cast<std::uint32_t>(bytes.size());
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(wire::Part::Pack(builder, &part));
  return account.sent(key, *flatbuffers::GetRoot<wire::Part>(builder.GetBufferPointer()),
                      {nullptr, bytes}, encoded_round);
}

// The agent sends the whole payload in one part.
Status send(Account& account, const RoundKey& key, const Bytes& bytes) {
  return send_part(account, key, bytes, 0, bytes.size());
}

TEST(Account, APayloadMayContinueInALaterRound) {
  Account account(2);
  const RoundKey first = {.job = 1, .round = 1, .epoch = 1, .attempt = 0};
  const RoundKey second = {.job = 1, .round = 2, .epoch = 1, .attempt = 0};
  const Bytes payload = {1, 2, 3, 4};
  ASSERT_TRUE(send_part(account, first, ByteSpan(payload).first(3), 0, 4).ok());
  ASSERT_TRUE(send_part(account, second, ByteSpan(payload).subspan(2), 2, 4, 1).ok());
  EXPECT_TRUE(std::ranges::equal(account.payload(second, 0), payload));
  EXPECT_TRUE(account.payload(first, 0).empty());
  const Bytes other = {9, 9};
  EXPECT_EQ(send_part(account, second, other, 0, 4, 1).code(), StatusCode::mismatch);
}

TEST(Account, APayloadMayContinueAfterItsRoundIsForgotten) {
  Account account(2);
  const RoundKey second = {.job = 1, .round = 2, .epoch = 1, .attempt = 0};
  const Bytes payload = {1, 2, 3, 4};
  ASSERT_TRUE(send_part(account, kFirst, ByteSpan(payload).first(2), 0, 4).ok());
  account.forget(kFirst);
  EXPECT_EQ(account.open_contributions(), 0u);
  ASSERT_TRUE(send_part(account, kFirst, ByteSpan(payload).subspan(2, 1), 2, 4).ok())
      << "an upload does not stop when its round ends";
  ASSERT_TRUE(send_part(account, second, ByteSpan(payload).subspan(3), 3, 4, 1).ok());
  EXPECT_TRUE(std::ranges::equal(account.payload(second, 0), payload));
}

TEST(Account, AnUpdateIsInTheResidualUntilItIsCommitted) {
  Account account(2);
  account.offer(floats({0.5f, -0.25f}));
  ASSERT_TRUE(account.take(1, false).ok());
  EXPECT_TRUE(account.check(floats({0.5f, -0.25f})->data(), {}).ok());
  EXPECT_FALSE(account.check(floats({0.5f, 0.0f})->data(), {}).ok());
  EXPECT_FALSE(account.check(nullptr, {}).ok());

  ASSERT_TRUE(account.committed(kFirst, 0, plain({0.25f, -0.5f})).ok());
  const UndecidedRound undecided = {.id = kFirst, .agent_index = 0, .parts = {}};
  EXPECT_TRUE(account.check(floats({0.5f, -0.25f})->data(), {undecided}).ok());
  EXPECT_TRUE(account.check(floats({0.25f, 0.25f})->data(), {}).ok());
  EXPECT_FALSE(account.check(floats({0.5f, -0.25f})->data(), {}).ok()) << "it was given away";
}

TEST(Account, DroppedValuesAreATermOfTheAccount) {
  Account account(2);
  account.offer(floats({0.5f, -0.25f}));
  account.dropped(floats({-0.5f, 0}));
  ASSERT_TRUE(account.take(2, false).ok()) << "an update and a loss in one event";
  EXPECT_TRUE(account.check(floats({0, -0.25f})->data(), {}).ok());
  EXPECT_FALSE(account.check(floats({0.5f, -0.25f})->data(), {}).ok());
  // An offer that was not taken.
  account.offer(floats({1, 1}));
  account.dropped(floats({0, 0.25f}));
  ASSERT_TRUE(account.take(3, false).ok());
  EXPECT_TRUE(account.check(floats({0, 0})->data(), {}).ok());
}

TEST(Account, ACrashBeforeTheLossIsStoredUndoesIt) {
  Account account(1);
  account.offer(floats({4}));
  ASSERT_TRUE(account.take(1, false).ok());
  account.stored(1);
  account.dropped(floats({-4}));
  ASSERT_TRUE(account.take(2, false).ok());
  EXPECT_TRUE(account.check(floats({0})->data(), {}).ok());
  ASSERT_TRUE(account.take(1, true).ok());
  EXPECT_TRUE(account.check(floats({4})->data(), {}).ok());
}

TEST(Account, SettledAgainstAndCommittedLaterIsAnError) {
  Account account(1);
  const Bytes payload(4, std::uint8_t{7});
  ASSERT_TRUE(send(account, kFirst, payload).ok());
  ASSERT_TRUE(account.check(nullptr, {}).ok());
  EXPECT_FALSE(account.committed(kFirst, 0, plain({1.0f})).ok());
}

TEST(Account, ACrashMayMakeASettledRoundUndecidedAgain) {
  Account account(1);
  account.offer(floats({1.0f}));
  ASSERT_TRUE(account.take(1, false).ok());
  const Bytes payload(4, std::uint8_t{7});
  ASSERT_TRUE(send(account, kFirst, payload).ok());
  ASSERT_TRUE(account.committed(kFirst, 0, plain({0.75f})).ok());
  EXPECT_TRUE(account.check(floats({0.25f})->data(), {}).ok());
  const UndecidedRound undecided = {.id = kFirst, .agent_index = 0, .parts = {}};
  EXPECT_TRUE(account.check(floats({1.0f})->data(), {undecided}).ok());
  EXPECT_TRUE(account.check(floats({0.25f})->data(), {}).ok());
}

// The agent has forgotten its contribution, which counts all the same: it is in what was written
// off.
TEST(Account, AResidualThatIsDroppedAfterAPowerFailureIsWrittenOff) {
  Account account(2);
  account.offer(floats({0.5f, -0.25f}));
  ASSERT_TRUE(account.take(1, false).ok());
  const Bytes payload(4, std::uint8_t{7});
  ASSERT_TRUE(send(account, kFirst, payload).ok());
  account.write_off(0);
  EXPECT_EQ(account.written_off(), 0.75);
  ASSERT_TRUE(account.take(0, true).ok());
  EXPECT_FALSE(account.check(floats({0.5f, 0})->data(), {}).ok()) << "it was not dropped";
  EXPECT_TRUE(account.check(nullptr, {}).ok());
  EXPECT_EQ(account.payload(kFirst, 0).size(), 4u) << "the coordinator may have it";
  ASSERT_TRUE(account.committed(kFirst, 0, plain({0.5f, 0})).ok());
  EXPECT_TRUE(account.check(nullptr, {}).ok());
  account.round_is_decided(kFirst);
  EXPECT_EQ(account.open_contributions(), 0u);
  account.offer(floats({1, 1}));
  ASSERT_TRUE(account.take(1, false).ok());
  EXPECT_TRUE(account.check(floats({1, 1})->data(), {}).ok());
}

TEST(Account, ALostRoundKeepsWhatAnAgentHasSettled) {
  Account account(1);
  account.offer(floats({1.0f}));
  ASSERT_TRUE(account.take(1, false).ok());
  const Bytes payload(4, std::uint8_t{7});
  ASSERT_TRUE(send(account, kFirst, payload).ok());
  ASSERT_TRUE(account.committed(kFirst, 0, plain({0.75f})).ok());
  ASSERT_TRUE(account.check(floats({0.25f})->data(), {}).ok());
  account.revoked(kFirst);
  EXPECT_TRUE(account.check(floats({0.25f})->data(), {}).ok()) << "the rest is lost";
  // The process ends, and the settlement was not stored: the contribution is undecided again.
  const UndecidedRound undecided = {.id = kFirst, .agent_index = 0, .parts = {}};
  EXPECT_TRUE(account.check(floats({1.0f})->data(), {undecided}).ok());
  EXPECT_TRUE(account.check(floats({1.0f})->data(), {}).ok()) << "it does not count";
}

TEST(Account, ALostRoundDoesNotCountForAnAgentThatHasNotSettledIt) {
  Account account(1);
  account.offer(floats({1.0f}));
  ASSERT_TRUE(account.take(1, false).ok());
  ASSERT_TRUE(account.committed(kFirst, 0, plain({0.75f})).ok());
  account.revoked(kFirst);
  EXPECT_TRUE(account.check(floats({1.0f})->data(), {}).ok());
}

TEST(Account, TheSamePayloadMayBeSentAgainAndNoOther) {
  Account account(1);
  const Bytes payload(4, std::uint8_t{7});
  ASSERT_TRUE(send(account, kFirst, payload).ok());
  EXPECT_TRUE(send(account, kFirst, payload).ok());
  EXPECT_FALSE(send(account, kFirst, Bytes(4, std::uint8_t{8})).ok());
  EXPECT_EQ(account.payload(kFirst, 0).size(), 4u);
  EXPECT_TRUE(account.payload(kFirst, 1).empty());
}

TEST(Account, PartsMayBeOfAnySizeAndOverlap) {
  Account account(1);
  const Bytes payload = {1, 2, 3, 4, 5, 6, 7, 8};
  const ByteSpan all(payload);
  ASSERT_TRUE(send_part(account, kFirst, all.subspan(5), 5, 8).ok());
  EXPECT_TRUE(account.payload(kFirst, 0).empty());
  ASSERT_TRUE(send_part(account, kFirst, all.first(3), 0, 8).ok());
  EXPECT_TRUE(account.payload(kFirst, 0).empty()) << "two bytes are missing";
  ASSERT_TRUE(send_part(account, kFirst, all.subspan(2, 5), 2, 8).ok());
  const ByteSpan whole = account.payload(kFirst, 0);
  EXPECT_EQ(Bytes(whole.begin(), whole.end()), payload);
  EXPECT_TRUE(send(account, kFirst, payload).ok()) << "and once more, in one piece";
  EXPECT_EQ(account.payload(kFirst, 0).size(), 8u);
}

TEST(Account, APartThatContradictsOneBeforeIsAnError) {
  Account account(1);
  const Bytes payload = {1, 2, 3, 4};
  const Bytes other = {1, 9, 3, 4};
  ASSERT_TRUE(send(account, kFirst, payload).ok());
  EXPECT_TRUE(send_part(account, kFirst, ByteSpan(payload).subspan(1, 2), 1, 4).ok());
  EXPECT_FALSE(send_part(account, kFirst, ByteSpan(other).subspan(1, 2), 1, 4).ok());
  EXPECT_FALSE(send_part(account, kFirst, ByteSpan(payload).first(2), 0, 5).ok())
      << "of a payload of another size";
}

TEST(Account, APartBeyondItsPayloadIsAnError) {
  Account account(1);
  const Bytes payload(4, std::uint8_t{7});
  EXPECT_FALSE(send_part(account, kFirst, payload, 1, 4).ok());
  EXPECT_FALSE(send_part(account, kFirst, payload, UINT64_MAX, 4).ok());
  EXPECT_TRUE(send_part(account, kFirst, payload, 0, 4).ok());
}

TEST(Account, ACrashMayUndoUnstoredUpdates) {
  Account account(1);
  account.offer(floats({1.0f}));
  ASSERT_TRUE(account.take(1, false).ok());
  account.stored(1);
  account.offer(floats({2.0f}));
  ASSERT_TRUE(account.take(2, false).ok());
  EXPECT_FALSE(account.take(1, false).ok()) << "without a crash nothing is undone";
  ASSERT_TRUE(account.take(1, true).ok());
  EXPECT_TRUE(account.check(floats({1.0f})->data(), {}).ok());
  EXPECT_FALSE(account.take(0, true).ok()) << "it was stored";
}

// One bucket of the contribution counts and one does not. Its process has ended before it knew.
TEST(Account, ACountedContributionContainsUpdatesThatACrashHasUndone) {
  Account account(2);
  const std::vector<UndecidedRound> undecided = {{.id = kFirst, .agent_index = 0, .parts = {}}};
  account.offer(floats({1.0f, 2.0f}));
  ASSERT_TRUE(account.take(1, false).ok());
  account.stored_contribution(kFirst, 1);
  ASSERT_TRUE(account.take(0, true).ok());
  EXPECT_TRUE(account.check(nullptr, undecided).ok());
  EXPECT_FALSE(account.take(1, false).ok()) << "nothing is committed";
  ASSERT_TRUE(account.committed(kFirst, 0, plain({0.75f})).ok());
  ASSERT_TRUE(account.take(1, false).ok());
  EXPECT_TRUE(account.check(floats({0.25f, 0.0f})->data(), {}).ok());
  // Nothing of that was stored.
  ASSERT_TRUE(account.take(0, true).ok());
  EXPECT_TRUE(account.check(nullptr, undecided).ok());
  ASSERT_TRUE(account.take(1, false).ok());
  EXPECT_TRUE(account.check(floats({0.25f, 0.0f})->data(), {}).ok());
  EXPECT_FALSE(account.check(floats({0.25f, 2.0f})->data(), {}).ok()) << "the rest is lost";
}

TEST(Account, TheShareGivenToPeersIsTheResidualLessTheRest) {
  ContributionRecord record{.id = kFirst,
                            .agent_index = 0,
                            .residual = nullptr,
                            .residual_stamp = {},
                            .parts = {},
                            .encoded = floats({9.0f, 0.5f, -0.25f})};
  ContributionPart part{
      .bucket = 3, .first_value = 1, .values = 2, .if_committed = floats({0.125f, 0.25f})};
  const Account::Given given = given_away(record, part);
  EXPECT_EQ(given.values, plain({0.375f, -0.5f}));
  EXPECT_EQ(given.magnitude_max, 0.625);
  part.if_committed = nullptr;
  EXPECT_EQ(given_away(record, part).values, plain({0.5f, -0.25f}));
}

// The disk failed, so a second record of a contribution is stored after the round has been settled.
// The process ends before the settlement is stored.
TEST(Account, ARecordThatIsStoredAfterTheSettlementBelongsToTheSameContribution) {
  Account account(2);
  const std::vector<UndecidedRound> undecided = {{.id = kFirst, .agent_index = 0, .parts = {}}};
  account.offer(floats({0.0f, 2.0f}));
  ASSERT_TRUE(account.take(1, false).ok());
  ASSERT_TRUE(account.check(floats({0.0f, 2.0f})->data(), undecided).ok());
  ASSERT_TRUE(account.committed(kFirst, 1, plain({2.0f})).ok());
  ASSERT_TRUE(account.check(nullptr, {}).ok());
  account.gave(kFirst, 0, {.values = plain({0.0f})});
  EXPECT_TRUE(account.check(floats({0.0f, 2.0f})->data(), undecided).ok());
  EXPECT_TRUE(account.check(nullptr, {}).ok());
}

// The same with updates that the end of the process undoes.
TEST(Account, AContributionThatIsStoredAfterItsSettlementBringsItsUpdatesBack) {
  Account account(2);
  const std::vector<UndecidedRound> undecided = {{.id = kFirst, .agent_index = 0, .parts = {}}};
  account.offer(floats({1.0f, 2.0f}));
  ASSERT_TRUE(account.take(1, false).ok());
  ASSERT_TRUE(account.check(floats({1.0f, 2.0f})->data(), undecided).ok());
  ASSERT_TRUE(account.committed(kFirst, 0, plain({1.0f, 2.0f})).ok());
  ASSERT_TRUE(account.check(nullptr, {}).ok());
  account.stored_contribution(kFirst, 1);
  ASSERT_TRUE(account.take(0, true).ok());
  EXPECT_TRUE(account.check(nullptr, undecided).ok());
  ASSERT_TRUE(account.take(1, false).ok());
  EXPECT_TRUE(account.check(nullptr, {}).ok());
}

TEST(Account, TheLastRecordOfABucketAmongPeersCounts) {
  Account account(1);
  account.gave(kFirst, 0, {.values = plain({1.0f})});
  account.gave(kFirst, 0, {.values = plain({2.0f})});
  ASSERT_NE(account.given(kFirst, 0), nullptr);
  EXPECT_EQ(account.given(kFirst, 0)->values, plain({2.0f}));
  EXPECT_EQ(account.given(kFirst, 1), nullptr);
  RoundKey another = kFirst;
  another.attempt = 1;
  EXPECT_EQ(account.given(another, 0), nullptr);
}

TEST(Account, AnUpdateThatWasNotGivenCannotBeTaken) {
  Account account(1);
  EXPECT_FALSE(account.take(1, false).ok());
  account.offer(floats({1.0f}));
  EXPECT_FALSE(account.take(2, false).ok());
  EXPECT_TRUE(account.take(1, false).ok());
}

}  // namespace
}  // namespace tributary
