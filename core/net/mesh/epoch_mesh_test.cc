// Tests of consecutive epochs over one mesh, with members in different epochs at the same time. The
// mesh beneath is simulated.
#include "core/net/mesh/epoch_mesh.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>

namespace tributary {
namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t kRanks = 4;
constexpr std::uint64_t kFirst = 7;
constexpr std::uint64_t kSecond = 8;

// The messages in transit between ranks of this process. A message stays here until its receiver
// takes it or, while `held` is set, until let_go().
struct Wires {
  struct Sent {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    Bytes frame;
    SharedSlice payload;
  };
  std::vector<std::deque<LinkEvent>> inboxes = std::vector<std::deque<LinkEvent>>(kRanks);
  bool held = false;
  std::deque<Sent> waiting;

  void deliver(Sent sent) {
    inboxes[sent.to].emplace_back(Received{.connection = sent.from,
                                           .peer = {},
                                           .frame = std::move(sent.frame),
                                           .payload = std::move(sent.payload)});
  }
  void let_go() {
    held = false;
    for (; !waiting.empty(); waiting.pop_front()) deliver(std::move(waiting.front()));
  }
};

// A mesh whose messages wait in Wires until the test releases them, so that epochs can overlap in
// every order.
class WireMesh final : public PeerTransport {
 public:
  WireMesh(Wires& wires, std::uint32_t rank)
      : PeerTransport(kPeerLimits, {.count = kRanks, .own_rank = rank}, 0),
        wires_(wires),
        rank_(rank) {}

  Result<std::optional<LinkEvent>> receive(std::chrono::nanoseconds) override {
    std::deque<LinkEvent>& inbox = wires_.inboxes[rank_];
    if (inbox.empty()) return std::optional<LinkEvent>();
    LinkEvent first = std::move(inbox.front());
    inbox.pop_front();
    return std::optional<LinkEvent>(std::move(first));
  }
  void wake() override {}
  bool encrypted() const override { return false; }
  std::size_t waiting_bytes_for(ConnectionId to) const override {
    std::size_t bytes = 0;
    for (const Wires::Sent& sent : wires_.waiting) {
      if (sent.from == rank_ && sent.to == to) bytes += sent.frame.size() + sent.payload.size();
    }
    return bytes;
  }
  std::size_t forget(ConnectionId to) override {
    const std::size_t bytes = waiting_bytes_for(to);
    std::erase_if(wires_.waiting,
                  [&](const Wires::Sent& sent) { return sent.from == rank_ && sent.to == to; });
    return bytes;
  }

 private:
  Status accept(std::uint32_t to, SharedSlice frame, SharedSlice payload) override {
    const ByteSpan bytes = frame.view();
    wires_.waiting.push_back({.from = rank_,
                              .to = to,
                              .frame = Bytes(bytes.begin(), bytes.end()),
                              .payload = std::move(payload)});
    if (!wires_.held) wires_.let_go();
    return {};
  }

  Wires& wires_;
  const std::uint32_t rank_;
};

// Every rank has one EpochMeshes for its life and at most one open epoch. A member that does not
// answer is lost after 500 ms.
class EpochMesh : public testing::Test {
 protected:
  EpochMesh() {
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      all_.push_back(
          std::make_unique<EpochMeshes>(std::make_unique<WireMesh>(wires_, rank), clock_));
    }
  }

  static EpochMeshOptions options(std::uint64_t session, std::vector<std::uint32_t> members,
                                  std::uint32_t rank) {
    const auto own = std::ranges::find(members, rank) - members.begin();
    return {.session = session,
            .rank = static_cast<std::uint32_t>(own),
            .members = std::move(members),
            .limits = {.frame_bytes_max = 100, .payload_bytes_max = 1000, .send_queue_bytes = 2000},
            .connect_max = milliseconds(500)};
  }
  void open(std::uint32_t rank, std::uint64_t session, std::vector<std::uint32_t> members) {
    meshes_[rank].reset();
    Result<std::unique_ptr<Transport>> mesh =
        all_[rank]->open(options(session, std::move(members), rank));
    ASSERT_TRUE(mesh.ok()) << mesh.status().text();
    meshes_[rank] = std::move(*mesh);
  }
  void close(std::uint32_t rank) { meshes_[rank].reset(); }
  Status send(std::uint32_t rank, std::uint32_t member, std::string_view text,
              std::size_t payload_bytes = 3) {
    const ByteSpan bytes = bytes_of(text);
    return meshes_[rank]->send(member, Bytes(bytes.begin(), bytes.end()), Bytes(payload_bytes, 1));
  }
  std::optional<LinkEvent> next(std::uint32_t rank) {
    Result<std::optional<LinkEvent>> event = meshes_[rank]->receive(clock_.now());
    EXPECT_TRUE(event.ok()) << event.status().text();
    return event.ok() ? *std::move(event) : std::nullopt;
  }
  // Every rank processes all frames sent so far. None of them may produce an event.
  void settle() {
    for (int turn = 0; turn < 3; ++turn) {
      for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
        if (!meshes_[rank]) continue;
        EXPECT_FALSE(next(rank)) << "rank " << rank;
      }
    }
  }
  // The next event as a text: "2:text" from member 2, "2 lost unavailable", or "nothing".
  std::string next_text(std::uint32_t rank) {
    const std::optional<LinkEvent> event = next(rank);
    if (!event) return "nothing";
    if (const auto* const lost = std::get_if<Disconnected>(&*event)) {
      return std::to_string(lost->connection) + " lost " + std::string(name(lost->why.code()));
    }
    const auto& message = std::get<Received>(*event);
    return std::to_string(message.connection) + ":" +
           std::string(message.frame.begin(), message.frame.end());
  }

  ManualClock clock_;
  Wires wires_;
  std::vector<std::unique_ptr<EpochMeshes>> all_;
  std::vector<std::unique_ptr<Transport>> meshes_ = std::vector<std::unique_ptr<Transport>>(kRanks);
};

// Members are numbered by their position in the list: member 1 is rank 0 here. Rank 1 does not take
// part.
TEST_F(EpochMesh, MembersAreSomeOfTheRanksInTheirOwnOrder) {
  const std::vector<std::uint32_t> members = {3, 0, 2};
  for (const std::uint32_t rank : members) open(rank, kFirst, members);
  ASSERT_TRUE(send(3, 1, "to rank 0").ok());
  ASSERT_TRUE(send(0, 2, "to rank 2").ok());
  ASSERT_TRUE(send(2, 0, "to rank 3").ok());
  std::vector<std::string> texts_received(kRanks);
  for (int turn = 0; turn < 3; ++turn) {
    for (const std::uint32_t rank : members) {
      if (std::string text = next_text(rank); text != "nothing") texts_received[rank] += text;
    }
  }
  EXPECT_EQ(texts_received[0], "0:to rank 0");
  EXPECT_EQ(texts_received[2], "1:to rank 2");
  EXPECT_EQ(texts_received[3], "2:to rank 3");
  EXPECT_EQ(meshes_[0]->counters().messages_in, 1u);
  EXPECT_EQ(meshes_[0]->counters().messages_out, 1u);
  EXPECT_EQ(meshes_[0]->counters().bytes_out, 9u + 3) << "without what is behind the frame";
  EXPECT_EQ(meshes_[0]->counters().bytes_in, 9u + 3);
}

// Members begin an epoch at different times. Messages wait with their sender until the receiver
// greets in the same session.
TEST_F(EpochMesh, AMemberThatOpensLaterReceivesAllMessagesInOrder) {
  open(0, kFirst, {0, 1});
  ASSERT_TRUE(send(0, 1, "a").ok());
  ASSERT_TRUE(send(0, 1, "b").ok());
  EXPECT_GT(meshes_[0]->waiting_bytes(), 0u);
  open(1, kSecond, {0, 1});  // still in another session, where it receives the hello of the first
  settle();
  EXPECT_GT(meshes_[0]->waiting_bytes(), 0u);
  open(1, kFirst, {0, 1});
  EXPECT_EQ(next_text(0), "nothing");
  EXPECT_EQ(meshes_[0]->waiting_bytes(), 0u);
  EXPECT_EQ(next_text(1), "0:a");
  EXPECT_EQ(next_text(1), "0:b");
}

// Reported exactly once, at the deadline and not before.
TEST_F(EpochMesh, AMemberThatDoesNotOpenIsLostAtTheDeadline) {
  open(0, kFirst, {0, 1});
  ASSERT_TRUE(send(0, 1, "are you there?").ok());
  clock_.advance(milliseconds(499));
  EXPECT_EQ(next_text(0), "nothing");
  clock_.advance(milliseconds(1));
  EXPECT_EQ(next_text(0), "1 lost deadline_exceeded");
  EXPECT_EQ(next_text(0), "nothing");
  EXPECT_EQ(send(0, 1, "still not?").code(), StatusCode::unavailable);
  EXPECT_EQ(meshes_[0]->waiting_bytes(), 0u);
}

// The receiver has moved on, and numbers of members mean others in the new epoch.
TEST_F(EpochMesh, MessagesOfAnotherEpochAreDropped) {
  for (const std::uint32_t rank : {0u, 1u}) open(rank, kFirst, {0, 1});
  ASSERT_TRUE(send(0, 1, "hello").ok());
  EXPECT_EQ(next_text(1), "nothing");
  EXPECT_EQ(next_text(0), "nothing");
  ASSERT_TRUE(send(0, 1, "more").ok());
  open(1, kSecond, {0, 1});  // while two messages of the first session are in transit to it
  EXPECT_EQ(next_text(1), "nothing");
}

// Rank 2 has received nothing from rank 1, so for it rank 1 has simply not opened yet.
TEST_F(EpochMesh, AMemberThatLeavesIsLostToMembersThatReceivedItsMessages) {
  for (const std::uint32_t rank : {0u, 1u, 2u}) open(rank, kFirst, {0, 1, 2});
  ASSERT_TRUE(send(0, 1, "to you").ok());
  EXPECT_EQ(next_text(1), "nothing");
  EXPECT_EQ(next_text(0), "nothing");
  EXPECT_EQ(next_text(1), "0:to you");
  close(1);
  EXPECT_EQ(next_text(0), "1 lost unavailable");
  EXPECT_EQ(next_text(0), "nothing") << "once is enough";
  EXPECT_EQ(next_text(2), "nothing");
  EXPECT_EQ(send(0, 1, "come back").code(), StatusCode::unavailable);
}

// Without this rule, a lost goodbye would leave the receiver waiting for a member that will not
// answer.
TEST_F(EpochMesh, AMessageOfANewEpochMeansThatItsSenderHasLeft) {
  for (const std::uint32_t rank : {0u, 1u}) open(rank, kFirst, {0, 1});
  ASSERT_TRUE(send(0, 1, "to you").ok());
  EXPECT_EQ(next_text(1), "nothing");
  EXPECT_EQ(next_text(0), "nothing");
  EXPECT_EQ(next_text(1), "0:to you");
  wires_.held = true;
  close(1);
  wires_.waiting.clear();  // drops the goodbye, as if it had been overtaken
  open(1, kSecond, {0, 1});
  ASSERT_TRUE(send(1, 0, "second").ok());
  wires_.let_go();
  EXPECT_EQ(next_text(0), "1 lost unavailable");
  open(0, kSecond, {0, 1});
  EXPECT_EQ(next_text(1), "nothing");
  EXPECT_EQ(next_text(0), "1:second");
}

// The mesh beneath could still hold a large message of the old epoch and delay the new one.
TEST_F(EpochMesh, MessagesThatWaitAreDroppedWithTheirEpoch) {
  for (const std::uint32_t rank : {0u, 1u}) open(rank, kFirst, {0, 1});
  ASSERT_TRUE(send(0, 1, "to you").ok());
  EXPECT_EQ(next_text(1), "nothing");
  EXPECT_EQ(next_text(0), "nothing");
  EXPECT_EQ(next_text(1), "0:to you");
  wires_.held = true;
  ASSERT_TRUE(send(0, 1, "too late", 1000).ok());
  close(0);
  wires_.let_go();
  EXPECT_EQ(next_text(1), "0 lost unavailable");
}

// Two messages of 951 bytes fit into 2000 bytes and a third does not.
TEST_F(EpochMesh, TheQueueOfAMemberIsBoundedBeforeAndAfterItOpens) {
  open(0, kFirst, {0, 1});
  ASSERT_TRUE(send(0, 1, "a", 950).ok());
  ASSERT_TRUE(send(0, 1, "b", 950).ok());
  EXPECT_EQ(send(0, 1, "c", 950).code(), StatusCode::resource_exhausted);
  open(1, kFirst, {0, 1});
  EXPECT_EQ(next_text(1), "nothing");
  EXPECT_EQ(next_text(0), "nothing");
  wires_.held = true;
  EXPECT_TRUE(send(0, 1, "c", 950).ok());
  EXPECT_TRUE(send(0, 1, "d", 950).ok());
  EXPECT_EQ(send(0, 1, "e", 950).code(), StatusCode::resource_exhausted);
}

// Limits of the options are 100 bytes per frame and 1000 per payload.
TEST_F(EpochMesh, CapsAndNumbersAreChecked) {
  open(0, kFirst, {0, 1});
  EXPECT_EQ(send(0, 0, "to myself").code(), StatusCode::invalid_argument);
  EXPECT_EQ(send(0, 2, "to nobody").code(), StatusCode::invalid_argument);
  EXPECT_EQ(send(0, 1, std::string(101, 'x')).code(), StatusCode::invalid_argument);
  EXPECT_EQ(send(0, 1, "x", 1001).code(), StatusCode::invalid_argument);
}

// The trailer has a kind and a session. Too short, an unknown kind, a piece without a frame, and a
// hello with content.
TEST_F(EpochMesh, AFrameWithABadTrailerLosesItsSender) {
  for (const Bytes& bad : {Bytes{}, Bytes(kEpochTrailerBytes - 1, 3), Bytes(20, 0), Bytes(20, 5),
                           Bytes(kEpochTrailerBytes, 3), Bytes(20, 1)}) {
    open(0, kFirst, {0, 1});
    wires_.inboxes[0].emplace_back(
        Received{.connection = 1, .peer = {}, .frame = bad, .payload = {}});
    EXPECT_EQ(next_text(0), "1 lost corrupt_data") << bad.size();
  }
}

// A connection that is gone does not return with another epoch. Rank 1 is member 0 of the second
// one.
TEST_F(EpochMesh, ARankThatTheMeshBeneathHasLostStaysLost) {
  open(0, kFirst, {0, 1});
  wires_.inboxes[0].emplace_back(Disconnected{
      .connection = 1, .peer = {}, .why = Status(StatusCode::io_error, {.what = "a wire"})});
  EXPECT_EQ(next_text(0), "1 lost io_error");
  open(0, kSecond, {1, 0});
  EXPECT_EQ(next_text(0), "0 lost io_error");
}

// The list comes from the coordinator, over the network.
TEST_F(EpochMesh, InvalidMemberListsAreRefused) {
  const auto code = [&](std::uint64_t session, std::vector<std::uint32_t> members,
                        std::uint32_t own) {
    EpochMeshOptions changed = options(session, std::move(members), 0);
    changed.rank = own;
    return all_[0]->open(changed).status().code();
  };
  EXPECT_EQ(code(kFirst, {0, 1}, 0), StatusCode::ok);
  EXPECT_EQ(code(0, {0, 1}, 0), StatusCode::mismatch) << "no session";
  EXPECT_EQ(code(kFirst, {0, 1}, 1), StatusCode::mismatch) << "another's place";
  EXPECT_EQ(code(kFirst, {0, 1}, 2), StatusCode::mismatch) << "nobody's place";
  EXPECT_EQ(code(kFirst, {0, kRanks}, 0), StatusCode::mismatch) << "no such rank";
  EXPECT_EQ(code(kFirst, {0, 1, 1}, 0), StatusCode::mismatch) << "one twice";
  EXPECT_EQ(code(kFirst, {}, 0), StatusCode::mismatch) << "nobody";
}

}  // namespace
}  // namespace tributary
