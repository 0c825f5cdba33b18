// Tests of the messages between observers and a coordinator: round trips, limits and damaged bytes.
#include "core/watch/watch_message.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>

#include "core/base/bytes/damaged_testing.h"
#include "core/watch/watch_testing.h"
#include "schemas/limits.h"

namespace tributary {
namespace {

using testing::HasSubstr;
using watch_testing::dump;
using watch_testing::random_changes;
using watch_testing::random_round;

Bytes packed(const WatchAnswer& answer) {
  Result<Bytes> bytes = pack_answer(answer);
  EXPECT_TRUE(bytes.ok()) << bytes.status().text();
  return bytes.ok() ? *std::move(bytes) : Bytes();
}

// 300 random portions, with and without an error, including NaN and the largest numbers.
TEST(WatchMessage, UnpackingRestoresEveryBit) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    WatchPortion portion = {.first = seed % 2 == 0, .more = seed % 3 == 0};
    portion.changes = random_changes(seed);
    if (seed % 5 == 0) portion.trouble = Status(StatusCode::io_error, {.what = "disk"});
    const auto before = dump(portion.changes);
    const bool first = portion.first;
    const bool more = portion.more;
    const std::string trouble = portion.trouble.text();
    const Bytes bytes = packed({.number = seed, .body = std::move(portion)});
    const Result<WatchAnswer> answer = unpack_answer(bytes);
    ASSERT_TRUE(answer.ok()) << seed << ": " << answer.status().text();
    EXPECT_EQ(answer->number, seed);
    const auto& received = std::get<WatchPortion>(answer->body);
    EXPECT_EQ(dump(received.changes), before) << seed;
    EXPECT_EQ(received.first, first);
    EXPECT_EQ(received.more, more);
    EXPECT_EQ(received.trouble.text(), trouble);
  }
}

// 300 random details of a round.
TEST(WatchMessage, UnpackingRestoresEveryBitOfARound) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const RoundDetail detail = random_round(seed);
    const Result<WatchAnswer> answer = unpack_answer(packed({.number = 7, .body = detail}));
    ASSERT_TRUE(answer.ok()) << seed << ": " << answer.status().text();
    EXPECT_EQ(dump(std::get<RoundDetail>(answer->body)), dump(detail)) << seed;
  }
}

// Each kind of question and answer once, with extreme numbers.
TEST(WatchMessage, QuestionsAndOtherAnswersComeOut) {
  const auto asked = [](const WatchQuestion& question) {
    const Result<Bytes> bytes = pack_question(question);
    EXPECT_TRUE(bytes.ok()) << bytes.status().text();
    Result<WatchQuestion> back = unpack_question(*bytes);
    EXPECT_TRUE(back.ok()) << back.status().text();
    EXPECT_EQ(back->number, question.number);
    return std::move(*back).body;
  };
  EXPECT_TRUE(std::get<PullQuestion>(asked({1, PullQuestion{true}})).afresh);
  EXPECT_FALSE(std::get<PullQuestion>(asked({2, PullQuestion{false}})).afresh);
  EXPECT_EQ(std::get<RoundQuestion>(asked({3, RoundQuestion{~0ull, 5}})).job, ~0ull);
  EXPECT_EQ(std::get<OperatorQuestion>(asked({4, OperatorQuestion{"{\"verb\":1}"}})).json,
            "{\"verb\":1}");

  const auto received = unpack_answer(packed({.number = 5, .body = OperatorAnswer{"[]"}}));
  EXPECT_EQ(std::get<OperatorAnswer>(received->body).json, "[]");
  const Status trouble(StatusCode::unavailable,
                       {.what = "a", .expected = "b", .got = "c", .remedy = "d"});
  const auto why = unpack_answer(packed({.number = 6, .body = trouble}));
  EXPECT_EQ(std::get<Status>(why->body).text(), trouble.text());
}

// The 64 bytes of a name end inside a character of two bytes, which is dropped as a whole.
TEST(WatchMessage, ATextIsCutBetweenCharacters) {
  RunChanges changes;
  changes.metrics.push_back({.name = std::string(63, 'a') + "\u00e9"});
  changes.events.push_back({.text = std::string(5000, 'b')});
  const auto answer =
      unpack_answer(packed({.number = 1, .body = WatchPortion{.changes = changes}}));
  ASSERT_TRUE(answer.ok()) << answer.status().text();
  const RunChanges& received = std::get<WatchPortion>(answer->body).changes;
  EXPECT_EQ(received.metrics[0].name, std::string(63, 'a'));
  EXPECT_EQ(received.events[0].text, std::string(1024, 'b'));
}

// Sixteen Ki agents, as many previous agents, all with the longest names, and as many rows as one
// portion can have.
TEST(WatchMessage, TheLargestPortionFits) {
  const auto text = [](std::size_t bytes, std::size_t i) {
    std::string out(bytes, 'x');
    return out.replace(0, 6, std::to_string(100'000 + i));  // so that none is another's
  };
  RunChanges changes;
  changes.jobs.emplace();
  for (std::size_t i = 0; i < 64; ++i) {
    changes.jobs->push_back(
        {.name = text(1024, i), .reason = text(1024, i), .model = text(1024, i)});
  }
  changes.agents.emplace();
  for (std::size_t i = 0; i < wire::kMembersMax; ++i) {
    changes.agents->push_back({.number = static_cast<std::int64_t>(i) + 1,
                               .agent_id = text(64, i),
                               .build = text(256, i),
                               .device = text(256, i),
                               .connected = true,
                               .job = ~0ull,
                               .model_version = i + 1,
                               .seen_wall_ns = 1});
    changes.ratios.push_back({.job = 1, .agent_id = text(64, i + 20'000), .ratio = 0.5});
  }
  for (std::size_t i = 0; i < std::size_t{2} * kWatchRowsMax; ++i) {
    changes.events.push_back({.number = 1,
                              .at_wall_ns = 1,
                              .time_s = 1,
                              .name = text(64, i),
                              .reason = text(256, i),
                              .source = text(256, i + 1),
                              .text = text(1024, i),
                              .job = 1,
                              .round = 1});
  }
  const Bytes bytes = packed({.number = 1, .body = WatchPortion{.changes = changes}});
  EXPECT_GT(bytes.size(), kWatchAnswerBytesMax / 2) << "a bound that is not near says nothing";
  EXPECT_TRUE(unpack_answer(bytes).ok());
}

// The number of tables and of bytes is bounded on both sides, because a verifier's time grows with
// them.
TEST(WatchMessage, MoreThanAMessageHoldsIsAnError) {
  RunChanges changes;
  changes.rounds.resize(kWatchTablesMax);
  EXPECT_EQ(pack_answer({.number = 1, .body = WatchPortion{.changes = changes}}).status().code(),
            StatusCode::resource_exhausted);
  EXPECT_EQ(pack_question({1, OperatorQuestion{std::string(2u << 20, ' ')}}).status().code(),
            StatusCode::resource_exhausted);
  EXPECT_EQ(unpack_question(Bytes(kWatchQuestionBytesMax + 1)).status().code(),
            StatusCode::resource_exhausted);
}

// The file identifier has the version as its last character, so it is readable before anything
// else.
TEST(WatchMessage, AnotherVersionIsNamedInTheError) {
  Bytes bytes = *pack_question({1, PullQuestion{}});
  EXPECT_EQ(bytes[7], kWatchVersion) << "as the identifier of watch.fbs";
  bytes[7] = kWatchVersion + 1;
  EXPECT_EQ(unpack_question(bytes).status().code(), StatusCode::unsupported);
  EXPECT_THAT(unpack_question(bytes).status().text(), HasSubstr("newer"));
  EXPECT_EQ(unpack_answer(bytes).status().code(), StatusCode::unsupported);
  bytes[7] = '0';
  EXPECT_THAT(unpack_question(bytes).status().text(), HasSubstr("older"));
  bytes[4] = 'X';
  EXPECT_EQ(unpack_question(bytes).status().code(), StatusCode::corrupt_data);
}

// Questions and answers share one root table.
TEST(WatchMessage, NeitherIsTakenForTheOther) {
  EXPECT_EQ(unpack_answer(*pack_question({1, PullQuestion{}})).status().code(),
            StatusCode::corrupt_data);
  EXPECT_EQ(unpack_question(packed({.number = 1, .body = OperatorAnswer{}})).status().code(),
            StatusCode::corrupt_data);
}

// A message that is cut at any byte is refused. With any bit flipped it is refused or is another
// message. Sanitizers would report any other effect.
TEST(WatchMessage, DamageIsRefused) {
  const Bytes bytes = packed({.number = 1, .body = WatchPortion{.changes = random_changes(4)}});
  for_each_cut(bytes, [&](const Bytes& cut) {
    EXPECT_FALSE(unpack_answer(cut).ok() && cut.size() + 8 <= bytes.size())
        << "but for its padding " << cut.size();
  });
  for_each_flipped_bit(bytes, [](const Bytes& flipped) {
    const Result<WatchAnswer> answer = unpack_answer(flipped);
    EXPECT_TRUE(answer.ok() || !answer.status().fault().expected.empty());
  });
}

// The transport promises alignment for payloads, but not for frames.
TEST(WatchMessage, MayStartAtAnyOffset) {
  const Bytes bytes = packed({.number = 9, .body = random_round(3)});
  Bytes shifted = {0};
  shifted.insert(shifted.end(), bytes.begin(), bytes.end());
  const Result<WatchAnswer> answer = unpack_answer(ByteSpan(shifted).subspan(1));
  ASSERT_TRUE(answer.ok()) << answer.status().text();
  EXPECT_EQ(dump(std::get<RoundDetail>(answer->body)), dump(random_round(3)));
}

// A newer coordinator may send values that this build has no name for.
TEST(WatchMessage, AnUnknownStateOfAJobIsRefused) {
  watch::PortionT portion;
  portion.has_jobs = true;
  portion.jobs.push_back({.state = static_cast<wire::JobState>(200)});
  watch::MessageT message;
  message.number = 1;
  message.body.Set(std::move(portion));
  flatbuffers::FlatBufferBuilder builder;
  watch::FinishMessageBuffer(builder, watch::Message::Pack(builder, &message));
  const Status status = unpack_answer({builder.GetBufferPointer(), builder.GetSize()}).status();
  EXPECT_EQ(status.code(), StatusCode::corrupt_data);
  EXPECT_THAT(status.text(), HasSubstr("200"));
}

// Lists of rows are appended, tables that are sent whole are replaced, and begins_anew drops
// everything before it.
TEST(WatchMessage, PortionsAddUpAndABeginningClears) {
  RunChanges changes;
  RunChanges first;
  first.base_wall_ns = 5;
  first.jobs.emplace(2);
  first.rounds.resize(3);
  add_changes(first, changes);
  RunChanges second;
  second.jobs.emplace(1);
  second.rounds.resize(2);
  second.overview_read = true;
  add_changes(second, changes);
  EXPECT_EQ(changes.rounds.size(), 5u);
  EXPECT_EQ(changes.jobs->size(), 1u);
  EXPECT_EQ(changes.base_wall_ns, 5);
  EXPECT_TRUE(changes.overview_read);
  RunChanges anew;
  anew.begins_anew = true;
  anew.events.resize(1);
  add_changes(anew, changes);
  EXPECT_TRUE(changes.begins_anew);
  EXPECT_TRUE(changes.rounds.empty());
  EXPECT_FALSE(changes.overview_read);
  EXPECT_EQ(changes.events.size(), 1u);
}

}  // namespace
}  // namespace tributary
