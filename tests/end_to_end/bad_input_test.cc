// Unknown and misbehaving clients at a running federation: each one is refused, counted, and logged
// once.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/net/access/allow_list.h"
#include "tests/end_to_end/federation/federation.h"
#include "tests/end_to_end/federation/guest.h"

namespace tributary::end_to_end {
namespace {

TEST(BadInput, AKeyThatIsNotAllowedIsRefusedAndLoggedOnce) {
  Federation federation({.rounds = 30,
                         .coordinator_settings = {"metrics.listen=127.0.0.1:0"},
                         .agent_settings = {"trainer.train_ms=20"}});
  federation.start_coordinator();  // the job waits for agents
  federation.start_agent(0);
  federation.start_agent(1);
  ASSERT_TRUE(write_key_pair(federation.path("stranger.key"), *make_key_pair()).ok());
  std::vector<std::string> command = federation.agent_command(0);
  command.insert(command.end(), {"--set", "agent_id=stranger", "--set",
                                 "journal.file=" + federation.path("stranger.db"), "--set",
                                 "link.key_file=" + federation.path("stranger.key")});
  // An ordinary agent whose key is not on the allow-list.
  Process stranger(command, federation.path("stranger.log"));
  // The unknown client connects repeatedly.
  EXPECT_TRUE(eventually([&] {
    return federation.metric("tributary_link_refused_total{reason=\"unknown_key\"}") >= 3;
  }));
  federation.start_agent(2);
  federation.expect_all_end();
  stranger.kill();
  // It must not have received anything of the job.
  EXPECT_TRUE(stranger.lines_with({"model stored"}).empty());
  EXPECT_EQ(federation.coordinator().lines_with({"link_refused", "reason=unknown_key"}).size(), 1u);
  federation.expect_sound();
}

TEST(BadInput, AnAgentThatExpectsAnotherCoordinatorOpensNoSessionWithThisOne) {
  Federation federation({.rounds = 30, .agent_settings = {"trainer.train_ms=20"}});
  federation.start_all();
  ASSERT_TRUE(federation.committed(1));
  std::vector<std::string> command = federation.agent_command(0);
  command.insert(command.end(), {"--set", "journal.file=" + federation.path("other.db"), "--set",
                                 "link.coordinator_key=" + key_text(make_key_pair()->public_key)});
  Process other(command, federation.path("other.log"));
  EXPECT_TRUE(other.logs({"unreachable"}));
  other.kill();
  federation.expect_all_end();
  federation.expect_sound();
}

// --- hand-written frames -------------------------------------------------------------------------

// Two of three agents are connected, so the job waits for the third until the test starts it.
struct AtThePort : ::testing::Test {
  void SetUp() override {
    ASSERT_TRUE(
        allow_in_file(federation.path("agents.allow"), {.id = "guest", .key = keys.public_key})
            .ok());
    federation.start_coordinator();
    federation.start_agent(0);
    federation.start_agent(1);
    guest = std::make_unique<Guest>(federation, keys);
    ASSERT_TRUE(guest->connect());
  }

  // Every refusal is counted, but logged only once per source.
  void expect_refused(const std::string& name, const std::string& reason, double times,
                      const std::string& source = "guest") {
    const std::string series =
        "tributary_notes_total{name=\"" + name + "\",reason=\"" + reason + "\"}";
    EXPECT_TRUE(eventually([&] { return federation.metric(series) >= times; })) << series;
    EXPECT_EQ(federation.metric(series), times) << series;
    EXPECT_EQ(
        federation.coordinator().lines_with({name, "reason=" + reason, "source=" + source}).size(),
        1u)
        << name << " " << reason;
  }

  // The other agents are not affected: the guest disconnects, the third agent connects, the job
  // ends.
  void TearDown() override {
    guest.reset();
    if (HasFatalFailure()) return;
    federation.start_agent(2);
    federation.expect_all_end();
    federation.expect_sound();
  }

  static constexpr int kTimes = 5;
  const KeyPair keys = *make_key_pair();
  Federation federation{{.coordinator_settings = {"metrics.listen=127.0.0.1:0"}}};
  std::unique_ptr<Guest> guest;
};

TEST_F(AtThePort, AnotherVersionIsRefused) {
  for (int i = 0; i < kTimes; ++i) {
    wire::HelloT hello = hello_of("guest");
    hello.version_min = hello.version_max = wire::kProtocolVersionMax + 7;
    ASSERT_TRUE(guest->send(bytes_of_frame(frame_with(std::move(hello)), 0, 1)));
    const auto answer = guest->hear(wire::Message::Refusal);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->message.AsRefusal()->code, wire::RefusalCode::version);
    EXPECT_EQ(answer->message.AsRefusal()->version_max, wire::kProtocolVersionMax);
  }
  expect_refused("frame_refused", "version", kTimes);
}

TEST_F(AtThePort, AnIdThatItsKeyIsNotAllowedUnderIsRefused) {
  // Identifiers of other agents, an unknown one, and one that only resembles its own.
  for (const std::string id : {"agent-0", "agent-1", "agent-2", "nobody", "guest-2"}) {
    ASSERT_TRUE(guest->send(bytes_of_frame(frame_with(hello_of(id)), 0, 1)));
    const auto answer = guest->hear(wire::Message::Refusal);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->message.AsRefusal()->code, wire::RefusalCode::not_allowed);
  }
  expect_refused("frame_refused", "not_allowed", kTimes);
}

TEST_F(AtThePort, BytesThatAreNoFrameAreRefused) {
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(guest->send(Bytes(64, 0x55)));
  expect_refused("frame_refused", "corrupt_data", 100);
}

TEST_F(AtThePort, APayloadThatIsNotTheOneTheFrameNamesIsRefused) {
  const std::uint64_t session = guest->join("guest");
  ASSERT_NE(session, 0u);
  const Bytes named(16, 1);
  const Bytes sent(16, 2);
  for (int i = 0; i < kTimes; ++i) {
    ASSERT_TRUE(guest->send(update_of({.job = 1, .round = 1, .epoch = 1}, session, named), sent));
  }
  expect_refused("frame_refused", "bad_checksum", kTimes);
}

TEST_F(AtThePort, PartsAboveTheirCapAreRefusedOrEndTheConnection) {
  const Bytes hello = bytes_of_frame(frame_with(hello_of("guest")), 0, 1);
  const std::string source = key_text(keys.public_key);
  for (int i = 0; i < kTimes; ++i) {
    ASSERT_TRUE(guest->send(hello, Bytes(wire::kPayloadBytesMax + 1)));
  }
  EXPECT_TRUE(federation.coordinator().logs({"link_refused", "reason=payload_too_large"}));
  EXPECT_TRUE(eventually([&] {
    return federation.metric("tributary_link_refused_total{reason=\"payload_too_large\"}") ==
           kTimes;
  }));
  EXPECT_EQ(federation.coordinator().lines_with({"reason=payload_too_large"}).size(), 1u);
  // Larger than the limit at which libzmq closes the connection.
  ASSERT_TRUE(guest->send(Bytes(wire::kFrameBytesMax + 4096)));
  EXPECT_TRUE(guest->receives_the_end());
  EXPECT_TRUE(federation.coordinator().logs({"disconnected", "source=guest"}));
}

TEST_F(AtThePort, ARepeatedMessageIsNotExecutedAgain) {
  const std::uint64_t session = guest->join("guest");
  ASSERT_NE(session, 0u);
  wire::TransferRequestT request;
  request.job = 1;
  request.content = wire::Content::model;
  request.reason = wire::TransferReason::joining;
  const Bytes asked = bytes_of_frame(frame_with(request), session, 1);
  ASSERT_TRUE(guest->send(asked));
  const auto first = guest->hear(wire::Message::Ack);
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->message.AsAck()->duplicate);
  for (int i = 0; i < kTimes; ++i) {
    ASSERT_TRUE(guest->send(asked));
    const auto again = guest->hear(wire::Message::Ack);
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->message.AsAck()->duplicate);
  }
  for (std::uint64_t i = 0; i < kTimes; ++i) {  // of a session other than this one
    ASSERT_TRUE(guest->send(bytes_of_frame(frame_with(request), session, 1'000'000 + i)));
  }
  expect_refused("frame_refused", "replayed", kTimes);
  expect_refused("frame_refused", "unknown_transfer", 1);
}

TEST_F(AtThePort, AMessageOfAnotherSessionIsRefused) {
  const std::uint64_t session = guest->join("guest");
  ASSERT_NE(session, 0u);
  Guest another(federation, keys);
  ASSERT_TRUE(another.connect());
  wire::LeaveT leave;
  leave.reason = wire::LeaveReason::shutdown;
  const Bytes replayed = bytes_of_frame(frame_with(std::move(leave)), session, 2);
  for (int i = 0; i < kTimes; ++i) {
    ASSERT_TRUE(another.send(replayed));
    const auto answer = another.hear(wire::Message::Refusal);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->message.AsRefusal()->code, wire::RefusalCode::wrong_session);
  }
  expect_refused("frame_refused", "wrong_session", kTimes);
  EXPECT_TRUE(federation.coordinator().lines_with({"agent_gone", "source=guest"}).empty());
}

// Late updates are not an error: they occur whenever a straggler has missed its epoch. They are
// counted, and logged only at debug level.
TEST_F(AtThePort, AnUpdateOfAnotherEpochCountsForNothing) {
  const std::uint64_t session = guest->join("guest");
  ASSERT_NE(session, 0u);
  for (std::uint32_t i = 1; i <= kTimes; ++i) {
    const Bytes payload(16, 7);
    ASSERT_TRUE(
        guest->send(update_of({.job = 1, .round = 7, .epoch = i}, session, payload), payload));
  }
  const std::string series = "tributary_notes_total{name=\"payload_late\",reason=\"wrong_epoch\"}";
  EXPECT_TRUE(eventually([&] { return federation.metric(series) == kTimes; }));
}

TEST_F(AtThePort, MessagesOfACoordinatorAreRefused) {
  const std::uint64_t session = guest->join("guest");
  ASSERT_NE(session, 0u);
  for (std::uint32_t i = 1; i <= kTimes; ++i) {
    wire::JobChangeT change;
    change.job = 1;
    change.revision = 1;
    change.change = i;
    // Only a coordinator may change a job's state.
    change.state = wire::JobState::stopped;
    ASSERT_TRUE(guest->send(bytes_of_frame(frame_with(change), session, i)));
  }
  expect_refused("frame_refused", "not_allowed", kTimes);
}

}  // namespace
}  // namespace tributary::end_to_end
