// An agent's way to its peers over MPI: four ranks, each of them one agent, and epochs that come
// and go at a different moment at each, as a coordinator has them.
#include "core/service/peer_link.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/net/mesh/mpi_address.h"
#include "core/net/mpi/mpi_port.h"
#include "core/net/mpi/ranks_testing.h"
#include "core/service/peer_link_testing.h"

namespace tributary {
namespace {

using service_testing::filled;
using service_testing::Inbox;
using service_testing::PeerEvent;
using std::chrono::milliseconds;
using Ranks = std::vector<std::uint32_t>;

constexpr std::uint64_t kRun = 0xc0ffee;  // as rank 0 says
constexpr std::string_view kDone = "done";

// All ranks run each case and leave it together, because closing a port waits for the others. Only
// the link's thread calls MPI, so the ranks of a case wait for each other by messages of the link.
class PeerLinkOverMpi : public testing::Test {
 protected:
  void make(PeerLinkOptions options = {.endpoint = {}}) {
    Result<std::unique_ptr<PeerPort>> port =
        open_mpi_port(*ranks_testing::session, {.run = kRun + rank()}, clock_);
    ASSERT_TRUE(port.ok()) << port.status().text();
    ASSERT_EQ((*port)->endpoint(), text_of(MpiAddress{.run = kRun, .rank = rank()}));
    link_ = PeerLink::make_over(std::move(*port), std::move(options), clock_,
                                [this](Event event, std::shared_ptr<const void> owner) {
                                  inbox_.post(std::move(event), std::move(owner));
                                });
  }

  static std::uint32_t rank() { return ranks_testing::session->rank(); }
  static std::uint32_t size() { return ranks_testing::session->size(); }
  static Ranks all_ranks() {
    Ranks ranks;
    for (std::uint32_t i = 0; i < size(); ++i) ranks.push_back(i);
    return ranks;
  }
  static std::uint32_t place(const Ranks& members, std::uint32_t rank) {
    return static_cast<std::uint32_t>(std::ranges::find(members, rank) - members.begin());
  }
  static OpenPeers epoch(std::uint64_t session, const Ranks& members) {
    OpenPeers open{.session = session, .member = place(members, rank()), .members = {}};
    for (const std::uint32_t member : members) {
      open.members.push_back({.public_key = Bytes(32, 1),
                              .endpoint = text_of(MpiAddress{.run = kRun, .rank = member})});
    }
    return open;
  }
  void open(std::uint64_t session, const Ranks& members) { link_->open(epoch(session, members)); }
  void send(std::uint32_t member, std::string_view frame, Bytes payload = {}) {
    const ByteSpan bytes = bytes_of(frame);
    link_->send({.member = member,
                 .frame = {bytes.begin(), bytes.end()},
                 .payload = SharedSlice(std::move(payload))});
  }
  // Messages of earlier sessions and of ranks that have finished may arrive first.
  PeerEvent next_of(std::uint64_t session) {
    for (;;) {
      PeerEvent event = inbox_.next();
      if (event.session == 0 || (event.session == session && event.frame != kDone)) return event;
      done_ += event.session == session ? 1 : 0;
    }
  }
  Status loss_of(std::uint64_t session, std::uint32_t member) {
    for (;;) {
      const PeerEvent event = next_of(session);
      if (event.session == 0 || (event.from == member && !event.lost.ok())) return event.lost;
    }
  }
  // No member leaves the session before all have reached this point. The first member tells them to
  // leave, by a message or by leaving itself.
  void meet(std::uint64_t session, const Ranks& members) {
    if (rank() == members[0]) {
      while (done_ + 1 < members.size()) {
        const PeerEvent event = inbox_.next();
        ASSERT_NE(event.session, 0u);
        if (event.session == session && event.frame == kDone) ++done_;
      }
      for (std::uint32_t i = 1; i < members.size(); ++i) send(i, "go");
    } else {
      send(0, kDone);
      PeerEvent event = next_of(session);
      while (event.session != 0 && event.from != 0) event = next_of(session);
      EXPECT_TRUE(event.frame == "go" || !event.lost.ok());
    }
    done_ = 0;
  }

  SystemClock clock_;
  Inbox inbox_;
  std::uint32_t done_ = 0;
  std::unique_ptr<PeerLink> link_;
};

TEST_F(PeerLinkOverMpi, AllReceiveMessagesInOrder) {
  make();
  Ranks members = all_ranks();
  std::rotate(members.begin(), members.begin() + 1, members.end());
  const std::uint32_t own = place(members, rank());
  open(7, members);
  constexpr std::uint32_t kMessages = 40;
  const auto payload_of = [](std::uint32_t number) {
    return filled(number * number * 97, static_cast<std::uint8_t>(number));
  };
  for (std::uint32_t number = 0; number < kMessages; ++number) {
    for (std::uint32_t to = 0; to < size(); ++to) {
      if (to == own) continue;
      send(to, fmt::format("{} to {}, {}", own, to, number), payload_of(number));
    }
  }
  std::vector<std::uint32_t> counts(size());
  for (std::uint32_t i = 0; i < kMessages * (size() - 1); ++i) {
    const PeerEvent one = next_of(7);
    ASSERT_TRUE(one.lost.ok()) << one.lost.text();
    ASSERT_LT(one.from, size());
    const std::uint32_t number = counts[one.from]++;
    ASSERT_EQ(one.frame, fmt::format("{} to {}, {}", one.from, own, number));
    ASSERT_TRUE(std::ranges::equal(one.payload.view(), payload_of(number)));
  }
  meet(7, members);
  EXPECT_GT(link_->counters().bytes_in, 1000u);
}

// Each member in its own time: after one session it opens the next.
TEST_F(PeerLinkOverMpi, EpochsOfAllAndOfSomeFollowOneAnother) {
  make({.endpoint = {}, .connect_max = service_testing::kLong});
  for (std::uint64_t session = 100; session < 130; ++session) {
    Ranks members = all_ranks();
    std::rotate(members.begin(), members.begin() + static_cast<int>(session % size()),
                members.end());
    if (session % 3 == 0) members.pop_back();
    if (session % 3 == 1) members.resize(2);
    const std::uint32_t own = place(members, rank());
    if (own == members.size()) continue;
    open(session, members);
    const auto count = static_cast<std::uint32_t>(members.size());
    for (std::uint32_t to = 0; to < count; ++to) {
      if (to != own) send(to, std::to_string(session), filled(100'000, 1));
    }
    for (std::uint32_t i = 0; i + 1 < count; ++i) {
      const PeerEvent event = next_of(session);
      ASSERT_TRUE(event.lost.ok()) << event.lost.text();
      ASSERT_EQ(event.frame, std::to_string(session));
      ASSERT_EQ(event.payload.size(), 100'000u);
    }
    ASSERT_NO_FATAL_FAILURE(meet(session, members));
  }
}

TEST_F(PeerLinkOverMpi, AMemberThatDoesNotComeIsLost) {
  make({.endpoint = {}, .connect_max = milliseconds(300)});
  const std::uint32_t last = size() - 1;
  if (rank() == 0) {
    open(7, all_ranks());
    send(last, "are you there?");
    const Status lost = loss_of(7, last);
    EXPECT_EQ(lost.code(), StatusCode::deadline_exceeded) << lost.text();
    link_->close();
  }
  // It was in no epoch until now. The others are done and leave.
  const Ranks pair = {last, 0};
  if (rank() == 0) {
    open(8, pair);
    send(0, "now");
    EXPECT_EQ(next_of(8).frame, "yes");
    meet(8, pair);
  } else if (rank() == last) {
    open(8, pair);  // while the other one is still in the epoch before
    EXPECT_EQ(next_of(8).frame, "now");
    send(1, "yes");
    meet(8, pair);
  }
}

TEST_F(PeerLinkOverMpi, AMemberThatClosesIsLostAtTheOthers) {
  make();
  open(7, all_ranks());
  if (rank() == 1) {
    for (std::uint32_t to = 0; to < size(); ++to) {
      if (to != rank()) send(to, "I am here");
    }
    for (std::uint32_t i = 1; i < size(); ++i) EXPECT_EQ(next_of(7).frame, "I know");
    link_->close();
  } else {
    EXPECT_EQ(next_of(7).frame, "I am here");
    send(1, "I know");
    const Status lost = loss_of(7, 1);
    EXPECT_EQ(lost.code(), StatusCode::unavailable) << lost.text();
  }
  open(8, all_ranks());
  meet(8, all_ranks());
}

TEST_F(PeerLinkOverMpi, MembersOfAnotherRunOrOfNoneAreRefused) {
  make();
  std::uint64_t session = 7;
  for (const auto& [endpoint, code] :
       {std::pair{text_of(MpiAddress{.run = kRun + 1, .rank = 2}), StatusCode::mismatch},
        std::pair{std::string("tcp://192.0.2.7:4650"), StatusCode::invalid_argument},
        std::pair{text_of(MpiAddress{.run = kRun, .rank = size()}), StatusCode::mismatch},
        std::pair{text_of(MpiAddress{.run = kRun, .rank = 3}), StatusCode::mismatch}}) {
    OpenPeers peers = epoch(++session, all_ranks());
    peers.members[2].endpoint = endpoint;
    link_->open(std::move(peers));
    for (std::uint32_t i = 1; i < size(); ++i) {
      EXPECT_EQ(next_of(session).lost.code(), code) << endpoint;
    }
  }
  open(++session, all_ranks());
  meet(session, all_ranks());
}

TEST_F(PeerLinkOverMpi, KeysAreRefusedBecauseNothingWouldBeEncrypted) {
  make({.endpoint = {}, .keys = std::make_shared<const KeyPair>(*make_key_pair())});
  open(7, all_ranks());
  for (std::uint32_t i = 1; i < size(); ++i) {
    EXPECT_EQ(next_of(7).lost.code(), StatusCode::unsupported);
  }
}

TEST_F(PeerLinkOverMpi, ARunNeedsANumber) {
  EXPECT_EQ(open_mpi_port(*ranks_testing::session, {.run = 0}, clock_).status().code(),
            StatusCode::invalid_argument);
}

}  // namespace
}  // namespace tributary
